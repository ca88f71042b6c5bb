/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/server/record/json.h"
#include "engine/server/record/record.h"
#include "engine/server/record/restore.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "store/kept_epochs.h"
#include "tests/src/store/store_case.h"
#include "tests/suites.h"

/* Runs that come back from the store: their epochs, thinned, and what they had reached. */

#define EPOCHS    30000L
#define MORE      5000L  /* epochs after a resume */
#define STEPS     10L    /* of an epoch */
#define REACHED   29990L /* the epoch of the checkpoint */
#define BEST      29989L /* before it, and thinned away */
#define LATE_BEST 29995L /* after it */

static double accuracy(long epoch)
{
    return epoch == LATE_BEST ? 0.95 : epoch == BEST ? 0.9 : 0.5 + 1e-6 * (double)epoch;
}

/* A run of EPOCHS epochs with `warnings` warnings before them. */
static void put_long_run(struct store *store, long number, int warnings)
{
    struct error err = ERROR_INIT;
    char text[200];
    put_run(store, number, "done", "linear", 1000);
    must(store_begin(store, &err));
    add_event(store, number, "run", "{\"event\":\"run\",\"model\":\"linear\"}");
    for (int i = 0; i < warnings; i++)
        add_event(store, number, "warning", "{\"event\":\"warning\",\"text\":\"small\"}");
    for (long epoch = 1; epoch <= EPOCHS; epoch++) {
        snprintf(text, sizeof text,
                 "{\"event\":\"epoch\",\"epoch\":%ld,\"step\":%ld,\"seconds\":%d,"
                 "\"train_acc\":0.25,\"samples_per_s\":5.0,\"test_acc\":%.6f}",
                 epoch, epoch * STEPS, epoch % 4 == 0 ? 3 : 1, accuracy(epoch));
        add_event(store, number, "epoch", text);
    }
    must(store_commit(store, &err));
}

static struct record_past read_past(struct store *store, long number)
{
    struct error err = ERROR_INIT;
    struct record_past past;
    json_t *events, *points = json_array();
    must(store_events_thinned(store, number, RECORD_MARKS, &events, &err));
    ck_assert(record_past_read(&past, events, points));
    json_decref(events);
    json_decref(points);
    return past;
}

static long widest_gap(const struct event_buffer *buffer)
{
    long before = 0, widest = 0;
    const struct kept_event *kept;
    for (size_t i = 0; (kept = event_buffer_mark(buffer, i)); i++) {
        long epoch = kept->mark.epoch;
        if (!epoch)
            continue;
        ck_assert_int_gt(epoch, before);
        widest = epoch - before > widest ? epoch - before : widest;
        before = epoch;
    }
    ck_assert_int_eq(before, EPOCHS + MORE);
    return widest;
}

/* Enough to be thinned in memory, too. */
static void train_more(struct event_buffer *buffer)
{
    for (long epoch = EPOCHS + 1; epoch <= EPOCHS + MORE; epoch++)
        ck_assert(event_buffer_add(
            buffer, "{}",
            &(struct event_mark){.name = "epoch", .epoch = epoch, .score = accuracy(epoch)}));
}

/* Thinned by the store and then in memory, an even curve stays. */
START_TEST(warnings_do_not_shift_what_stays)
{
    struct store *store = open_store();
    for (int warnings = 0; warnings <= 3; warnings++) {
        put_long_run(store, warnings + 1, warnings);
        struct record_past past = read_past(store, warnings + 1);
        train_more(&past.events);
        ck_assert_uint_gt(past.events.marks.count, RECORD_MARKS / 4);
        ck_assert_int_le(widest_gap(&past.events), 8);
        record_past_free(&past);
    }
    store_close(store);
}
END_TEST

static struct record *new_record(void)
{
    struct spec spec;
    spec_init(&spec);
    struct record *record = record_new(1, &spec);
    spec_free(&spec);
    ck_assert_ptr_nonnull(record);
    return record;
}

START_TEST(a_thinned_run_resumes_where_its_checkpoint_is)
{
    struct store *store = open_store();
    put_long_run(store, 1, 1);
    struct record_past past = read_past(store, 1);
    store_close(store);
    struct record *record = new_record();
    record_load(record, &past);
    const struct checkpoint_place place = {
        .epochs = REACHED,
        .steps = REACHED * STEPS + 4,
        .train_s = 45000,
        .val_acc = NAN,
        .test_acc = accuracy(REACHED),
        .best_acc = accuracy(BEST),
    };
    ck_assert(record_rewind(record, &place, 0));
    ck_assert_int_eq(record->epochs_done, REACHED);
    ck_assert_double_eq(record->test_acc, accuracy(REACHED));
    ck_assert_double_eq(record->best_test_acc, accuracy(BEST));
    /* That of another epoch would be wrong. */
    ck_assert(isnan(record->train_acc));
    json_t *epoch = json_pack("{s:s, s:I, s:f, s:f, s:{s:f, s:f}}", "event", "epoch", "epoch",
                              (json_int_t)REACHED + 1, "seconds", 2.0, "train_acc", 0.75, "so_far",
                              "s_per_epoch", 3.0, "samples_per_s", 500.0);
    record_take_event(record, epoch);
    json_decref(epoch);
    ck_assert_int_eq(record->epochs_done, REACHED + 1);
    ck_assert_double_eq(record->s_per_epoch, 3);
    ck_assert_double_eq(record->samples_per_s, 500);
    ck_assert_double_eq(record->train_acc, 0.75);
    ck_assert(record_rewind(record, NULL, 0));
    ck_assert_int_eq(record->epochs_done, 0);
    ck_assert(isnan(record->best_test_acc));
    ck_assert_ptr_null(event_buffer_find(&record->events, 0, true));
    record_free(record);
}
END_TEST

static void warn(struct record *record, const char *text, const char *about)
{
    json_t *event = json_pack("{s:s, s:s, s:s*}", "event", "warning", "text", text, "about", about);
    record_take_event(record, event);
    json_decref(event);
}

/* As a later engine has it from the store. */
static struct record *restored(struct record *record)
{
    json_t *object = record_json_full(record);
    struct record *copy = record_restore(object);
    ck_assert_ptr_nonnull(copy);
    json_decref(object);
    record_free(record);
    return copy;
}

START_TEST(a_live_change_of_the_rate_stays)
{
    struct spec spec;
    spec_init(&spec);
    spec.lr = 0.1;
    struct record *record = record_new(7, &spec);
    spec_free(&spec);
    const struct run_device device = {.state = "train"};
    record_set_progress(
        record, &(struct run_progress){.run_lr = 0.05, .devices = &device, .device_count = 1});
    record = restored(record);
    json_t *object = record_json_full(record);
    ck_assert_double_eq(json_number_value(json_object_get(object, "lr")), 0.05);
    ck_assert_double_eq(json_number_value(json_object_get(json_object_get(object, "spec"), "lr")),
                        0.1);
    json_decref(object);
    /* From its beginning it is trained with that of the spec. */
    ck_assert(record_rewind(record, NULL, 0));
    ck_assert_double_eq(record->lr, 0.1);
    record_free(record);
}
END_TEST

/* Of an epoch of 1,000 rows; 0 joules: they were not measured. */
static void take_energy(struct record *record, int number, double joules, bool partial)
{
    json_t *event =
        json_pack("{s:s, s:i, s:i, s:b, s:o*}", "event", "epoch", "epoch", number, "rows", 1000,
                  "partial", partial, "energy_j", joules > 0 ? json_real(joules) : NULL);
    ck_assert_ptr_nonnull(event);
    record_take_event(record, event);
    json_decref(event);
}

/* As of a speed: the first epoch counts only as long as it is the only whole one. */
START_TEST(epochs_on_other_devices_are_no_mean)
{
    struct spec spec;
    spec_init(&spec);
    struct record *record = record_new(7, &spec);
    spec_free(&spec);
    record->measured_from = 3;
    take_energy(record, 1, 90, false);
    take_energy(record, 2, 20, false);
    ck_assert(isnan(record->energy_j));
    take_energy(record, 3, 60, false);
    ck_assert_double_eq(record->energy_j, 60);
    take_energy(record, 4, 40, false);
    take_energy(record, 5, 30, false);
    ck_assert_double_eq(record->energy_j, 35);
    record_free(record);
}
END_TEST

START_TEST(the_first_epoch_is_no_mean)
{
    struct spec spec;
    spec_init(&spec);
    struct record *record = record_new(7, &spec);
    spec_free(&spec);
    take_energy(record, 1, 90, false);
    ck_assert_double_eq(record->energy_j, 90);
    take_energy(record, 2, 20, true);
    ck_assert_double_eq(record->energy_j, 90);
    take_energy(record, 2, 0, false);
    ck_assert(isnan(record->energy_j) && isnan(record->samples_per_j));
    take_energy(record, 3, 50, false);
    take_energy(record, 4, 0, false);
    take_energy(record, 5, 30, false);
    ck_assert_double_eq(record->energy_j, 40);
    ck_assert_double_eq(record->samples_per_j, 25);
    record_free(record);
}
END_TEST

static void check_warning(const struct record *record, size_t index, size_t count,
                          const char *wanted)
{
    json_t *list = warnings_json(&record->warnings);
    const char *text = json_string_value(json_array_get(list, index));
    ck_assert_uint_eq(json_array_size(list), count);
    ck_assert_msg(text && strncmp(text, wanted, strlen(wanted)) == 0, "%s, not %s", text, wanted);
    json_decref(list);
}

/* However often the engine is restarted, a repeated warning is one with the right count. */
START_TEST(warnings_are_counted_over_restarts)
{
    char text[40];
    struct record *record = new_record();
    warn(record, "small", NULL);
    record->warnings.list[0].first = record->warnings.list[0].last = 1.7e9 + 0.25;
    warn(record, "disk (2 times)", "checkpoint");
    record = restored(record);
    check_warning(record, 0, 2, "small");
    for (int i = 2; i <= 4; i++) {
        warn(record, "small", NULL);
        warn(record, i == 3 ? "disk" : "disk (9 times)", "checkpoint");
        record = restored(record);
        ck_assert_int_eq(record->warnings.list[0].count, i);
        ck_assert_double_eq_tol(record->warnings.list[0].first, 1.7e9 + 0.25, 1e-6);
        ck_assert_double_gt(record->warnings.list[0].last, 1.7e9 + 1);
        snprintf(text, sizeof text, "small (%d times from 2023-11-1", i);
        check_warning(record, 0, 2, text);
        check_warning(record, 1, 2, i == 3 ? "disk" : "disk (9 times)");
    }
    for (int i = 0; i < WARNINGS_MOST; i++) {
        snprintf(text, sizeof text, "other %d", i);
        warn(record, text, NULL);
    }
    for (int i = 2; i <= 4; i++) {
        record = restored(record);
        snprintf(text, sizeof text, "%d more warnings are in the engine's log", i);
        check_warning(record, WARNINGS_MOST, WARNINGS_MOST + 1, text);
        warn(record, "one more", NULL);
    }
    record_free(record);
}
END_TEST

/* Of an engine that stored the texts alone, and of a store that somebody changed. */
START_TEST(strange_warnings_are_taken_as_texts)
{
    struct record *record = new_record();
    warn(record, "small", NULL);
    json_t *object = record_json_full(record);
    static const char *const counts[] = {"null",
                                         "[]",
                                         "[7]",
                                         "[{}]",
                                         "[{\"bytes\":99,\"count\":2}]",
                                         "[{\"bytes\":-1,\"count\":-5,\"first\":\"x\"}]",
                                         "[{\"bytes\":0,\"count\":1}]",
                                         "[{\"bytes\":5,\"count\":0,\"about\":3}]"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        json_object_set_new(object, "warning_counts", json_loads(counts[i], JSON_DECODE_ANY, NULL));
        struct record *copy = record_restore(object);
        check_warning(copy, 0, 1, "small");
        record_free(copy);
    }
    json_decref(object);
    record_free(record);
}
END_TEST

static void keep_event(struct record *record, const char *text)
{
    json_t *event = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(event);
    const struct event_mark mark = event_mark_of(event);
    ck_assert(event_buffer_add(&record->events, text, &mark));
    record_take_event(record, event);
    json_decref(event);
}

#define EPOCH "{\"event\":\"epoch\",\"epoch\":1,\"step\":10,\"test_acc\":0.5}"

/* Events never have the number of another one, and those of a second beginning are kept, too. */
START_TEST(a_run_that_began_again_keeps_its_events)
{
    const struct checkpoint_place place = {.epochs = 1, .steps = 10, .val_acc = NAN, .lr = 0.1};
    struct record *record = new_record();
    keep_event(record, "{\"event\":\"run\",\"model\":\"linear\"}");
    keep_event(record, EPOCH);
    ck_assert(record_rewind(record, NULL, 0));
    ck_assert_ptr_null(event_buffer_find(&record->events, 0, true));
    ck_assert_uint_eq(record->events.next, 2);
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            keep_event(record, "{\"event\":\"run\",\"model\":\"linear\"}");
        keep_event(record, i == 0 ? EPOCH : "{\"event\":\"epoch\",\"epoch\":2,\"step\":20}");
        const uint64_t next = record->events.next;
        ck_assert(record_rewind(record, &place, 0));
        ck_assert_uint_eq(record->events.next, next);
        ck_assert_ptr_nonnull(event_buffer_newest(&record->events, "run"));
        ck_assert_ptr_nonnull(event_buffer_newest(&record->events, "epoch"));
        ck_assert_int_eq(record->epochs_done, 1);
    }
    record_free(record);
}
END_TEST

START_TEST(a_run_that_was_to_begin_again_keeps_its_warnings)
{
    struct record *record = new_record();
    warn(record, "small", NULL);
    ck_assert(record_keep(record));
    ck_assert(record_rewind(record, NULL, 0));
    record_return(record);
    check_warning(record, 0, 1, "small");
    record_free(record);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("records");
    TCase *tests = tcase_create("records");
    tcase_add_checked_fixture(tests, store_setup, store_teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, warnings_do_not_shift_what_stays);
    tcase_add_test(tests, a_thinned_run_resumes_where_its_checkpoint_is);
    tcase_add_test(tests, a_live_change_of_the_rate_stays);
    tcase_add_test(tests, the_first_epoch_is_no_mean);
    tcase_add_test(tests, epochs_on_other_devices_are_no_mean);
    tcase_add_test(tests, warnings_are_counted_over_restarts);
    tcase_add_test(tests, strange_warnings_are_taken_as_texts);
    tcase_add_test(tests, a_run_that_began_again_keeps_its_events);
    tcase_add_test(tests, a_run_that_was_to_begin_again_keeps_its_warnings);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
