/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
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
    tcase_add_test(tcase, same_seed_same_bits);
    tcase_add_loop_test(tcase, sync_methods_agree_to_the_bit, 0, 2);
    tcase_add_test(tcase, saved_weights_come_back);
    return run_suites(suite, NULL);
}
