/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "tests/recorder.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Runs that resume from their checkpoints, on real CPU devices. */

/* A small network with BatchNorm and dropout: everything that has state or is random. */
static const char model[] = "default_input = [ 1, 20, 20 ]; default_classes = 10; layers = ( { "
                            "type = \"conv\"; channels = 4; kernel = 3; stride = 2; },"
                            " \"batchnorm\", \"relu\", { type = \"dropout\"; p = 0.25; },"
                            " \"flatten\", { type = \"linear\"; outputs = \"classes\"; } );\n";

static char *folder, *model_file, *checkpoints;

static void setup(void)
{
    folder = temporary_folder();
    put_file(folder, "small.conf", model, sizeof model - 1);
    model_file = format("%s/small.conf", folder);
    checkpoints = format("%s/checkpoints", folder);
}

static void teardown(void)
{
    free(checkpoints);
    free(model_file);
    remove_tree(folder);
}

/* 3 epochs of 5 steps, the last one short. */
static void begin(struct recorder *recorder, const char *devices, const char *more,
                  const char *save)
{
    char *settings =
        format("model=%s data=glyphs train-rows=90 test-rows=40 batch=20 epochs=3 lr=0.1 "
               "momentum=0.9 devices=%s cpu-threads=1 save=%s/%s %s",
               model_file, devices, folder, save, more);
    recorder_init(recorder, settings);
    recorder->keep.checkpoints = checkpoints;
    free(settings);
}

static long stop_at; /* step; 0: never */

static void stop_there(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == stop_at)
        run_control_stop(&recorder->control, RUN_STOP_STEP);
}

static void run_whole(const char *devices, const char *more, const char *save)
{
    struct recorder recorder;
    begin(&recorder, devices, more, save);
    recorder.keep.checkpoints = NULL;
    ck_assert_msg(recorder_run(&recorder), "%s", recorder.err.text);
    recorder_free(&recorder);
}

/* Stop after step `stop`, then resume in a second run, whose recorder is *second. */
static void run_in_parts(const char *devices, const char *then, const char *more, long stop,
                         const char *save, struct recorder *second)
{
    struct recorder first;
    begin(&first, devices, more, "unused");
    first.on_event = stop_there;
    stop_at = stop;
    recorder_run(&first);
    recorder_free(&first);
    begin(second, then, more, save);
    second->keep.resumes = true;
    ck_assert_msg(recorder_run(second), "%s", second->err.text);
}

/* A run to its end; then the one that resumes it. */
static void run_first(const char *more, const char *save)
{
    struct recorder first;
    begin(&first, "cpu:0", more, save);
    ck_assert(recorder_run(&first));
    recorder_free(&first);
}

static void begin_second(struct recorder *second, const char *more)
{
    begin(second, "cpu:0", more, "parts");
    second->keep.resumes = true;
}

static float *read_values(const char *name, size_t *count)
{
    struct error err = ERROR_INIT;
    char *path = path_join(folder, name), *data;
    size_t length;
    ck_assert_msg(file_read(path, 1 << 24, &data, &length, &err), "%s", err.text);
    free(path);
    uint64_t header;
    memcpy(&header, data, sizeof header);
    *count = (length - 8 - header) / sizeof(float);
    float *values = malloc(*count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    memcpy(values, data + 8 + header, *count * sizeof *values);
    free(data);
    return values;
}

static void same_bits(const char *a, const char *b)
{
    size_t count, others;
    float *x = read_values(a, &count), *y = read_values(b, &others);
    ck_assert_uint_eq(count, others);
    ck_assert_msg(memcmp(x, y, count * sizeof *x) == 0, "%s and %s differ", a, b);
    free(x);
    free(y);
}

static void stop_and_resume(const char *more, long stop)
{
    char *parts = format("parts-%ld", stop);
    struct recorder second;
    run_in_parts("cpu:0-1", "cpu:0-1", more, stop, parts, &second);
    same_bits("whole", parts);
    free(parts);
    json_t *run = recorder_event(&second, "run", 0);
    ck_assert(recorder_number(run, "resumed_at") == (double)stop);
    json_t *end = recorder_event(&second, "end", 0);
    ck_assert(recorder_number(end, "steps") == 15 && recorder_number(end, "epochs") == 3);
    ck_assert_int_eq(recorder_count(&second, "step"), 15 - (int)stop);
    recorder_free(&second);
    remove_tree(format("%s", checkpoints));
}

START_TEST(resumes_to_the_same_bits)
{
    const char *const rules[] = {"", "sync-bn=yes sync=central",
                                 "augment=flip-crop order=shuffle label-smoothing=0.1"};
    run_whole("cpu:0-1", rules[_i], "whole");
    for (long stop = 1; stop <= 15; stop++)
        stop_and_resume(rules[_i], stop);
}
END_TEST

/* Before, in and after the warm-up, at milestones, and in the last steps. */
START_TEST(resumes_in_the_middle_of_schedules)
{
    static const char *const rules[] = {
        "lr-schedule=constant warmup=1.5 split=even",
        "lr-schedule=step:1:0.3 sync=central",
        "lr-schedule=multistep:0.5,2:0.2 warmup=0.4 split=weighted:1,3",
        "lr-schedule=cosine warmup=1 sync=reduce-broadcast",
        "lr-schedule=linear:0.1 split=balanced",
        "lr-schedule=one-cycle sync-bn=yes",
        "lr-schedule=triangle:0.5 warmup=1 sync=central",
    };
    static const long stops[] = {1, 4, 7, 10, 14};
    run_whole("cpu:0-1", rules[_i], "whole");
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        stop_and_resume(rules[_i], stops[i]);
}
END_TEST

/* With all that they remember, whoever has it, and the number of the step. */
START_TEST(resumes_with_every_optimizer)
{
    static const char *const rules[] = {
        "optimizer=nesterov split=balanced",
        "optimizer=adam lr=0.01 weight-decay=0.01 sync=central",
        "optimizer=adamw lr=0.01 split=weighted:1,3 sync=reduce-broadcast",
        "optimizer=rmsprop lr=0.01 momentum=0 sync=central sync-bn=yes",
        "optimizer=rmsprop lr=0.01 split=even",
        "optimizer=adam lr=0.01 clip-norm=0.5 split=balanced",
        "clip-norm=0.5 sync=central",
        "weight-decay=0.1 no-decay=norm-bias sync-bn=yes",
        "ema=0.9 momentum=0 split=balanced",
        "ema=0.75 optimizer=adam lr=0.01 sync=central sync-bn=yes",
    };
    static const long stops[] = {1, 5, 8, 14};
    run_whole("cpu:0-1", rules[_i], "whole");
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        stop_and_resume(rules[_i], stops[i]);
}
END_TEST

/* The figures of an epoch that was cut in two are those of the whole. */
START_TEST(epochs_add_up)
{
    struct recorder whole, second;
    begin(&whole, "cpu:0", "", "whole");
    ck_assert(recorder_run(&whole));
    run_in_parts("cpu:0", "cpu:0", "", 8, "parts", &second);
    ck_assert_int_eq(recorder_count(&second, "epoch"), 2);
    for (int i = 0; i < 2; i++) {
        static const char *const keys[] = {"epoch",     "step",      "train_loss",
                                           "train_acc", "test_loss", "test_acc"};
        json_t *a = recorder_event(&whole, "epoch", i + 1);
        json_t *b = recorder_event(&second, "epoch", i);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            ck_assert_msg(recorder_number(a, keys[k]) == recorder_number(b, keys[k]), "%s",
                          keys[k]);
    }
    recorder_free(&second);
    recorder_free(&whole);
}
END_TEST

START_TEST(resumes_with_other_devices)
{
    struct recorder second;
    size_t count, others;
    run_whole("cpu:0", "sync-bn=yes", "whole");
    run_in_parts("cpu:0-1", "cpu:0-2", "sync-bn=yes", 7, "parts", &second);
    recorder_free(&second);
    float *x = read_values("whole", &count), *y = read_values("parts", &others);
    ck_assert_uint_eq(count, others);
    double difference = 0, size = 0;
    for (size_t i = 8; i < count; i++) { /* after the counters */
        difference += pow((double)x[i] - (double)y[i], 2);
        size += pow((double)x[i], 2);
    }
    ck_assert_double_le(sqrt(difference / size), 1e-4);
    free(x);
    free(y);
}
END_TEST

START_TEST(more_epochs_than_before)
{
    struct recorder second;
    run_whole("cpu:0", "epochs=5", "whole");
    run_first("", "unused");
    begin_second(&second, "epochs=5");
    ck_assert_msg(recorder_run(&second), "%s", second.err.text);
    ck_assert_int_eq(recorder_count(&second, "epoch"), 2);
    same_bits("whole", "parts");
    recorder_free(&second);
}
END_TEST

/* A run that was done, as it was: nothing is left to train. */
START_TEST(a_run_that_is_done_stays_so)
{
    struct recorder second;
    run_first("", "whole");
    begin_second(&second, "");
    ck_assert_msg(recorder_run(&second), "%s", second.err.text);
    ck_assert_int_eq(recorder_count(&second, "step"), 0);
    same_bits("whole", "parts");
    recorder_free(&second);
}
END_TEST

/* Its momentum begins at zero, as that of any run. */
START_TEST(momentum_may_come_later)
{
    struct recorder second;
    run_first("momentum=0 epochs=1", "unused");
    begin_second(&second, "");
    ck_assert_msg(recorder_run(&second), "%s", second.err.text);
    ck_assert_int_eq(recorder_count(&second, "epoch"), 2);
    recorder_free(&second);
}
END_TEST

static double best_accuracy(const struct recorder *recorder, double best)
{
    for (int i = 0; i < recorder_count(recorder, "epoch"); i++)
        best = fmax(best, recorder_number(recorder_event(recorder, "epoch", i), "test_acc"));
    return best;
}

/* Wherever the run was stopped in between: it resumes with a rate that spoils what was learned. */
START_TEST(the_best_one_survives)
{
    struct recorder first, second;
    struct error err = ERROR_INIT;
    json_t *note = NULL;
    long steps;
    begin(&first, "cpu:0", "epochs=8", "unused");
    first.on_event = stop_there;
    stop_at = _i;
    recorder_run(&first);
    begin(&second, "cpu:0", "lr=1.5 epochs=8", "unused");
    second.keep.resumes = true;
    ck_assert_msg(recorder_run(&second), "%s", second.err.text);
    ck_assert_msg(checkpoint_find_best(checkpoints, LONG_MAX, &steps, &err), "%s", err.text);
    char *path = checkpoint_path(checkpoints, steps);
    ck_assert_msg(checkpoint_note(path, &note, &err), "%s", err.text);
    ck_assert(json_number_value(json_object_get(note, "test_acc")) ==
              best_accuracy(&second, best_accuracy(&first, 0)));
    json_decref(note);
    free(path);
    recorder_free(&second);
    recorder_free(&first);
}
END_TEST

START_TEST(another_batch_is_refused)
{
    struct recorder second;
    run_first("", "unused");
    begin_second(&second, "batch=50");
    ck_assert(!recorder_run(&second));
    ck_assert_msg(strstr(second.err.text, "batch") != NULL, "%s", second.err.text);
    recorder_free(&second);
}
END_TEST

/* It would have ended before the point where it resumes. */
START_TEST(fewer_epochs_than_done_are_refused)
{
    struct recorder second;
    run_first("", "unused");
    begin_second(&second, "epochs=1");
    ck_assert(!recorder_run(&second));
    ck_assert_int_eq(second.err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(second.err.text, "more epochs") != NULL, "%s", second.err.text);
    recorder_free(&second);
}
END_TEST

START_TEST(checkpoints_come_as_often_as_asked)
{
    static const struct {
        const char *every;
        long steps; /* of the newest one; -1: none */
    } cases[] = {{"1", 15}, {"2", 15}, {"off", -1}, {"0.01m", 15}, {"10m max-steps=7", 7}};
    struct recorder recorder;
    struct error err = ERROR_INIT;
    long steps = -1;
    char *more = format("checkpoint-every=%s", cases[_i].every);
    begin(&recorder, "cpu:0", more, "unused");
    ck_assert_msg(recorder_run(&recorder), "%s", recorder.err.text);
    checkpoint_find(checkpoints, &steps, &err);
    ck_assert_int_eq(steps, cases[_i].steps);
    recorder_free(&recorder);
    free(more);
}
END_TEST

START_TEST(a_folder_that_takes_no_checkpoints_is_only_a_warning)
{
    struct recorder recorder;
    put_file(folder, "checkpoints", "a file", 6);
    begin(&recorder, "cpu:0", _i ? "epochs=1" : "epochs=40 checkpoint-every=1", "saved");
    ck_assert_msg(recorder_run(&recorder), "%s", recorder.err.text);
    /* At once, and in the end how often; not every time. */
    ck_assert_int_eq(recorder_count(&recorder, "warning"), _i ? 1 : 2);
    const char *text = recorder_string(recorder_event(&recorder, "warning", 0), "text");
    ck_assert_msg(strstr(text, "no checkpoint could be written") != NULL, "%s", text);
    ck_assert_ptr_null(strstr(text, "times from"));
    if (_i == 0) {
        text = recorder_string(recorder_event(&recorder, "warning", 1), "text");
        const json_t *told = recorder_event(&recorder, "warning", 1);
        char first[CLOCK_DATE_TEXT], last[CLOCK_DATE_TEXT];
        double count = recorder_number(told, "count");
        ck_assert_double_ge(recorder_number(told, "last"), recorder_number(told, "first"));
        char *times = format("(%.0f times from %s to %s)", count,
                             clock_date_text(first, recorder_number(told, "first")),
                             clock_date_text(last, recorder_number(told, "last")));
        ck_assert_double_gt(count, 1);
        ck_assert_msg(strstr(text, times) != NULL, "%s", text);
        free(times);
    }
    recorder_free(&recorder);
}
END_TEST

START_TEST(divergence_leaves_the_last_good_one)
{
    struct recorder recorder;
    struct error err = ERROR_INIT;
    long steps = -1;
    begin(&recorder, "cpu:0", "lr=1e6 epochs=30", "unused");
    ck_assert(!recorder_run(&recorder));
    ck_assert_msg(strstr(recorder.err.text, "diverged") != NULL, "%s", recorder.err.text);
    ck_assert_msg(strstr(recorder.err.text, "1e+06") != NULL, "%s", recorder.err.text);
    recorder_free(&recorder);
    ck_assert(!checkpoint_find(checkpoints, &steps, &err) || steps > 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resume");
    TCase *tests = tcase_create("resume");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, resumes_to_the_same_bits, 0, 3);
    tcase_add_loop_test(tests, resumes_with_every_optimizer, 0, 10);
    tcase_add_loop_test(tests, resumes_in_the_middle_of_schedules, 0, 7);
    tcase_add_test(tests, epochs_add_up);
    tcase_add_test(tests, resumes_with_other_devices);
    tcase_add_test(tests, more_epochs_than_before);
    tcase_add_test(tests, a_run_that_is_done_stays_so);
    tcase_add_test(tests, momentum_may_come_later);
    tcase_add_loop_test(tests, the_best_one_survives, 6, 20);
    tcase_add_test(tests, another_batch_is_refused);
    tcase_add_test(tests, fewer_epochs_than_done_are_refused);
    tcase_add_loop_test(tests, checkpoints_come_as_often_as_asked, 0, 5);
    tcase_add_loop_test(tests, a_folder_that_takes_no_checkpoints_is_only_a_warning, 0, 2);
    tcase_add_test(tests, divergence_leaves_the_last_good_one);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
