/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/train/step/chance.h"
#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

/* What runs learn, and that it is the same each time. The devices are those of fake_backend.c. */

START_TEST(learns)
{
    run_ok("model=linear data=random:1000x5 batch=20 epochs=5 lr=0.5 devices=cpu:0-1");
    ck_assert(recorder_number(recorder_event(&rec, "end", 0), "test_acc") > 0.8);
    ck_assert(recorder_number(recorder_event(&rec, "epoch", 4), "train_loss") <
              0.8 * recorder_number(recorder_event(&rec, "epoch", 0), "train_loss"));
}
END_TEST

static int warnings(void)
{
    int count = 0;
    for (size_t i = 0; i < json_array_size(rec.events); i++)
        count += strcmp(recorder_string(json_array_get(rec.events, i), "event"), "warning") == 0;
    return count;
}

/* A network that answers the same for all rows says so once, as soon as it can be told. */
START_TEST(nothing_learned_is_told)
{
#define STUCK "model=linear data=random:1000x5 init=normal:0 lr=1e-12 epochs=9 "
    static const struct {
        const char *settings;
        int warnings;
    } cases[] = {
        {STUCK "batch=20", 1},
        {STUCK "batch=20 warmup=2", 1},
        {STUCK "batch=100", 1},                                               /* after 5 epochs */
        {STUCK "batch=500", 0},                                               /* 18 steps */
        {"model=linear data=random:800x5 init=normal:0 lr=1e-12 batch=8", 0}, /* few rows */
        {STUCK "batch=20 lr=0", 0},
        {STUCK "batch=20 lr=0.1", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_ok(cases[i].settings);
        ck_assert_msg(warnings() == cases[i].warnings, "%s", cases[i].settings);
        recorder_free(&rec);
    }
    run_ok(STUCK "batch=100");
    const json_t *warning = recorder_event(&rec, "warning", 0);
    const char *text = recorder_string(warning, "text");
    ck_assert_ptr_nonnull(strstr(text, "after epoch 5 the network is no better than guessing"));
    ck_assert_ptr_nonnull(
        strstr(text, "a lower lr than 1e-12; another init than normal:0; BatchN"));
}
END_TEST

START_TEST(chance_by_hand)
{
    uint8_t labels[1007];
    uint32_t order[1000];
    for (int i = 0; i < 1000; i++) {
        labels[i + 7] = (uint8_t)(i % 10 < 4 ? 0 : 1 + i % 3);
        order[i] = (uint32_t)(i + 7);
    }
    memset(labels, 9, 7); /* not evaluated */
    struct chance_result result = {
        .labels = labels, .order = order, .rows = 1000, .accuracy = 0.4, .loss = 1.4};
    /* 0.4, and three of 0.2: -0.4 ln 0.4 - 0.6 ln 0.2 */
    ck_assert_double_eq_tol(chance_loss(&result), 1.332, 1e-3);
    ck_assert(chance_is_reached(&result));
    result.accuracy = 0.445; /* three times 0.0155 */
    ck_assert(chance_is_reached(&result));
    result.accuracy = 0.448;
    ck_assert(!chance_is_reached(&result));
    result.accuracy = 0.4;
    result.loss = 1.32;
    ck_assert(!chance_is_reached(&result));
    result.loss = 1.4;
    result.rows = 800;
    ck_assert(!chance_is_reached(&result));
    result.rows = 0;
    ck_assert(!chance_is_reached(&result));
    ck_assert_int_eq(chance_epoch(235, 0), 1);
    ck_assert_int_eq(chance_epoch(50, 0.5), 1);
    ck_assert_int_eq(chance_epoch(49, 0), 2);
    ck_assert_int_eq(chance_epoch(1, 0), 50);
    ck_assert_int_eq(chance_epoch(235, 2.5), 3);
}
END_TEST

/* The bytes of a file of weights. */
static char *contents(const char *path, size_t *length)
{
    struct error err = ERROR_INIT;
    char *data;
    ck_assert_msg(file_read(path, 1 << 20, &data, length, &err), "%s", err.text);
    return data;
}

static void save_to(const char *settings, const char *path)
{
    char all[1024];
    snprintf(all, sizeof all, "%s save=%s", settings, path);
    run_ok(all);
    recorder_free(&rec);
}

static void check_same_file(const char *one, const char *other)
{
    size_t length, other_length;
    char *data = contents(one, &length), *other_data = contents(other, &other_length);
    ck_assert_uint_eq(length, other_length);
    ck_assert_mem_eq(data, other_data, length);
    free(data);
    free(other_data);
}

START_TEST(same_seed_same_bits)
{
    const char *one = temporary_path("one"), *two = temporary_path("two");
    save_to(LINEAR "devices=cpu:0-2 momentum=0.9", one);
    save_to(LINEAR "devices=cpu:0-2 momentum=0.9", two);
    check_same_file(one, two);
    unlink(two);
    save_to(LINEAR "devices=cpu:0-2 momentum=0.9 seed=4", two);
    size_t length;
    char *data = contents(one, &length), *other = contents(two, &length);
    ck_assert(memcmp(data, other, length) != 0);
    free(data);
    free(other);
    unlink(one);
    unlink(two);
}
END_TEST

/* Of the newest evaluation. */
static long counts[2][2];
static int evaluations;

static void keep_predictions(void *recorder, const struct confusion *confusion,
                             const char *const *class_names)
{
    (void)recorder;
    ck_assert_int_eq(confusion->classes, 2);
    ck_assert_ptr_null(class_names);
    memcpy(counts, confusion->counts, sizeof counts);
    evaluations++;
}

/* Every test row is counted once, whatever the shares, also in an evaluation after others. */
START_TEST(predictions_are_counted)
{
    static const char *const devices[] = {"cpu:0", "cpu:0-2", "cpu:0-2 split=weighted:0,3,1"};
    long first[2][2];
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        char settings[300];
        snprintf(settings, sizeof settings,
                 "model=linear data=random:1000x5 batch=30 epochs=2 test-rows=331 lr=0.1 "
                 "init=default devices=%s",
                 devices[i]);
        recorder_init(&rec, settings);
        rec.on_predictions = keep_predictions;
        evaluations = 0;
        ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
        ck_assert_int_eq(evaluations, 2);
        ck_assert_int_eq(rec.last.evaluated, 331);
        ck_assert_int_eq(counts[0][0] + counts[0][1] + counts[1][0] + counts[1][1], 331);
        double right = 331 * recorder_number(recorder_event(&rec, "end", 0), "test_acc");
        ck_assert_double_eq_tol((double)(counts[0][0] + counts[1][1]), right, 1e-9);
        ck_assert(counts[0][0] > 0 && counts[0][1] > 0 && counts[1][0] > 0 && counts[1][1] > 0);
        if (i == 0)
            memcpy(first, counts, sizeof first);
        ck_assert_mem_eq(counts, first, sizeof first);
        recorder_free(&rec);
    }
}
END_TEST

START_TEST(sync_methods_agree_to_the_bit)
{
    static const char *const methods[] = {"reduce-broadcast", "central"};
    const char *one = temporary_path("one"), *two = temporary_path("two");
    char settings[300];
    const char *common = LINEAR "momentum=0.9 weight-decay=0.01 split=weighted:0,3,1,2,0 "
                                "devices=cpu:0-4";
    save_to(common, one);
    snprintf(settings, sizeof settings, "%s sync=%s", common, methods[_i]);
    save_to(settings, two);
    check_same_file(one, two);
    unlink(one);
    unlink(two);
}
END_TEST

START_TEST(saved_weights_come_back)
{
    const char *path = temporary_path("weights.safetensors");
    char settings[700], file[600];
    snprintf(file, sizeof file, "%s.safetensors", path);
    snprintf(settings, sizeof settings, LINEAR "lr=0.5 devices=cpu:0-1 sync=central save=%s", file);
    run_ok(settings);
    double acc = recorder_number(recorder_event(&rec, "end", 0), "test_acc");
    double loss = recorder_number(recorder_event(&rec, "end", 0), "test_loss");
    ck_assert_int_eq(rec.phases[PHASE_SAVE], 1);
    recorder_free(&rec);
    /* No epoch at all: the figures are those of the initial weights. */
    snprintf(settings, sizeof settings, LINEAR "epochs=0 init=%s", file);
    run_ok(settings);
    const json_t *end = recorder_event(&rec, "end", 0);
    ck_assert(recorder_number(end, "test_acc") == acc);
    ck_assert_double_eq_tol(recorder_number(end, "test_loss"), loss, 1e-9);
    ck_assert(recorder_number(end, "steps") == 0);
    ck_assert_int_eq(recorder_count(&rec, "step") + recorder_count(&rec, "epoch"), 0);
    ck_assert(json_is_null(json_object_get(end, "s_per_epoch")));
    unlink(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run results");
    TCase *tcase = add_case(suite, "results");
    tcase_add_test(tcase, learns);
    tcase_add_test(tcase, nothing_learned_is_told);
    tcase_add_test(tcase, chance_by_hand);
    tcase_add_test(tcase, same_seed_same_bits);
    tcase_add_test(tcase, predictions_are_counted);
    tcase_add_loop_test(tcase, sync_methods_agree_to_the_bit, 0, 2);
    tcase_add_test(tcase, saved_weights_come_back);
    return run_suites(suite, NULL);
}
