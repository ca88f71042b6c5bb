/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/train/resolve/resolve.h"
#include "tests/engine/train/run/hosts_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/fakes/posing_backend.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Runs over hosts that are changed, stopped or fail: whatever is asked of the first host, and
 * whatever goes wrong on one of them, is the same for all.
 */

static const char here[] = "devices=cpu:0-1", over_hosts[] = "devices=h1/cpu:0,h2/cpu:0";

/* When a run is asked for something, and how often it has reported a live change. */
static long ask_at;
static int changes;

typedef void recorder_event_hook(struct recorder *rec, const char *kind, json_t *event);

/* 3 epochs of 4 steps, the last one short. */
static struct outcome ask(const char *devices, const char *settings, recorder_event_hook *hook,
                          long step, bool ends)
{
    struct recorder rec;
    char *all = format("%s batch=29 train-rows=92 epochs=3 %s", devices, settings);
    parallel_begin(&rec, "normalised", all);
    rec.on_event = hook;
    ask_at = step;
    changes = 0;
    ck_assert_msg(recorder_run(&rec) == ends, "%s: %s", all, rec.err.text);
    struct outcome outcome = parallel_outcome(&rec);
    changes = recorder_count(&rec, "retune");
    recorder_free(&rec);
    free(all);
    return outcome;
}

/* The other hosts hear of it with the next step, so it is asked for one step earlier, in the same
 * epoch. */
static void compare(const char *settings, recorder_event_hook *hook, long step, bool ends)
{
    struct outcome near = ask(here, settings, hook, step, ends);
    const int reported = changes;
    struct outcome far = ask(over_hosts, settings, hook, step - 1, ends);
    ck_assert_int_ge(reported, 1);
    ck_assert_int_eq(changes, reported);
    check_same(&near, &far, settings);
    outcome_free(&near);
    outcome_free(&far);
}

static void change_lr(struct recorder *rec, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == ask_at)
        atomic_store(&rec->control.lr, 0.2);
}

static void more_epochs(struct recorder *rec, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == ask_at)
        ck_assert(run_control_set_epochs(&rec->control, 5));
}

static void end_after_epoch(struct recorder *rec, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == ask_at)
        run_control_stop(&rec->control, RUN_STOP_EPOCH);
}

static void change_mind(struct recorder *rec, const char *kind, json_t *event)
{
    end_after_epoch(rec, kind, event);
    if (recorder_step(kind, event) == ask_at + 1)
        ck_assert(run_control_cancel_stop(&rec->control));
}

START_TEST(changes_take_effect_alike)
{
    static const char *const settings[] = {"lr-schedule=cosine", "lr-schedule=cosine sync=central"};
    compare(settings[_i], change_lr, 7, true);
    compare(settings[_i], more_epochs, 6, true);
    compare(settings[_i], end_after_epoch, 6, false);
    compare(settings[_i], change_mind, 6, true);
}
END_TEST

static void pause_a_while(struct recorder *rec, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == ask_at)
        atomic_store(&rec->control.paused, true);
    if (strcmp(kind, "retune") == 0 && strcmp(recorder_string(event, "what"), "pause") == 0)
        atomic_store(&rec->control.paused, false);
}

START_TEST(all_hosts_pause)
{
    struct outcome whole = ask(over_hosts, "momentum=0.9", NULL, 0, true);
    struct outcome paused = ask(over_hosts, "momentum=0.9", pause_a_while, 5, true);
    ck_assert_int_eq(changes, 2);
    check_same(&whole, &paused, "paused");
    outcome_free(&whole);
    outcome_free(&paused);
}
END_TEST

/* When nothing but the decision about the end is left. */
static void more_at_the_end(struct recorder *rec, const char *kind, json_t *event)
{
    if (strcmp(kind, "epoch") == 0 && recorder_number(event, "epoch") == 3)
        ck_assert(run_control_set_epochs(&rec->control, 4));
    if (strcmp(kind, "end") == 0)
        ck_assert(!run_control_set_epochs(&rec->control, 5));
}

static void change_mind_at_the_end(struct recorder *rec, const char *kind, json_t *event)
{
    end_after_epoch(rec, kind, event);
    if (strcmp(kind, "epoch") == 0 && recorder_number(event, "epoch") == 2)
        ck_assert(run_control_cancel_stop(&rec->control));
}

START_TEST(what_is_asked_last_still_counts)
{
    struct outcome four = ask(over_hosts, "epochs=4", NULL, 0, true);
    struct outcome more = ask(over_hosts, "", more_at_the_end, 0, true);
    check_same(&four, &more, "more epochs");
    struct outcome three = ask(over_hosts, "", NULL, 0, true);
    struct outcome same = ask(over_hosts, "", change_mind_at_the_end, 6, true);
    check_same(&three, &same, "a stop that was cancelled");
    outcome_free(&four);
    outcome_free(&more);
    outcome_free(&three);
    outcome_free(&same);
}
END_TEST

static void stop_now(struct recorder *rec, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == ask_at)
        run_control_stop(&rec->control, RUN_STOP_NOW);
}

START_TEST(all_hosts_stop_now)
{
    struct recorder rec;
    char *settings = format("%s epochs=100000", over_hosts);
    parallel_begin(&rec, "plain", settings);
    rec.on_event = stop_now;
    ask_at = 3;
    ck_assert(!recorder_run(&rec));
    for (int i = 0; i < hosts_seen.count; i++)
        ck_assert_int_eq(hosts_seen.err[i].kind, ERROR_CANCELLED);
    recorder_free(&rec);
    free(settings);
}
END_TEST

static void stop_in_evaluation(struct recorder *rec, const struct run_progress *progress)
{
    if (progress->phase == PHASE_EVAL)
        run_control_stop(&rec->control, RUN_STOP_STEP);
}

/* Also where the first host has nothing to evaluate, and waits for the other. 20 passes in all. */
START_TEST(all_hosts_leave_the_evaluation)
{
    struct recorder rec;
    char *settings = format("devices=h1/cuda:0,h2/cuda:1 model=linear data=glyphs train-rows=4 "
                            "test-rows=2500 batch=2 epochs=1 split=weighted:%s",
                            _i ? "1,1" : "0,1");
    parallel_begin(&rec, "plain", settings);
    rec.on_progress = stop_in_evaluation;
    posing.evaluation_us = 250000;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_CANCELLED);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 0);
    ck_assert_int_eq(recorder_count(&rec, "step"), 2);
    ck_assert_int_lt(atomic_load(&posing.evaluations), 20);
    recorder_free(&rec);
    free(settings);
}
END_TEST

/* Also those that other hosts evaluate are counted. */
START_TEST(progress_ends_with_all_rows)
{
    struct recorder rec;
    char *settings = format("%s epochs=1", over_hosts);
    parallel_begin(&rec, "plain", settings);
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_int_eq(rec.last.evaluated, 50);
    ck_assert_int_eq(rec.last.test_rows, 50);
    recorder_free(&rec);
    free(settings);
}
END_TEST

static long predicted[2], right[2];

static void count_predictions(void *context, const struct confusion *confusion,
                              const char *const *class_names)
{
    const int i = spec_has_hosts(&((struct recorder *)context)->spec);
    const int classes = confusion->classes;
    (void)class_names;
    predicted[i] = right[i] = 0;
    for (int c = 0; c < classes * classes; c++) {
        predicted[i] += confusion->counts[c];
        right[i] += c % classes == c / classes ? confusion->counts[c] : 0;
    }
}

START_TEST(all_predictions_are_counted)
{
    for (int i = 0; i < 2; i++) {
        struct recorder rec;
        char *settings = format("epochs=3 batch=29 %s", i ? over_hosts : here);
        parallel_begin(&rec, "plain", settings);
        rec.on_predictions = count_predictions;
        ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
        ck_assert_int_eq(predicted[i], 50);
        recorder_free(&rec);
        free(settings);
    }
    ck_assert_int_eq(right[0], right[1]);
}
END_TEST

static const enum posing_phase phases[] = {POSING_OPEN,      POSING_FACTS, POSING_PLAN,
                                           POSING_JOIN,      POSING_PASS,  POSING_BUCKET,
                                           POSING_REDUCTION, POSING_WRITE, POSING_UPDATE};
enum { PHASES = sizeof phases / sizeof *phases };

static void run_with_fault(struct recorder *rec)
{
    parallel_begin(rec, "plain",
                   "devices=h1/cuda:0,h2/cuda:1-2,h3/cuda:3 batch=29 train-rows=92 epochs=3");
    rec->limits.grace_s = 1;
    ck_assert(!recorder_run(rec));
    for (int i = 0; i < hosts_seen.count; i++)
        ck_assert_int_eq(hosts_seen.err[i].kind, ERROR_FAILED);
}

/* All hosts name the device, and no other. */
static void check_blame(const char *name, const char *what)
{
    for (int i = 0; i < hosts_seen.count; i++)
        ck_assert_msg(strncmp(hosts_seen.err[i].text, name, strlen(name)) == 0 &&
                          strstr(hosts_seen.err[i].text, what),
                      "host %d: %s", i + 1, hosts_seen.err[i].text);
}

START_TEST(device_that_fails_ends_the_run_on_all_hosts)
{
    static const char *const names[] = {"h1/cuda:0: ", "h2/cuda:1: ", "h2/cuda:2: ", "h3/cuda:3: "};
    struct recorder rec;
    posing.phase = phases[_i % PHASES];
    posing.device = _i / PHASES;
    run_with_fault(&rec);
    check_blame(names[posing.device], "went wrong");
    ck_assert_int_eq(atomic_load(&posing.opened), atomic_load(&posing.closed));
    recorder_free(&rec);
}
END_TEST

START_TEST(device_that_hangs_ends_the_run_on_all_hosts)
{
    static const char *const names[] = {"h1/cuda:0: ", "h2/cuda:1: ", "h2/cuda:2: ", "h3/cuda:3: "};
    struct recorder rec;
    posing.phase = POSING_PASS;
    posing.device = _i;
    posing.hangs = true;
    parallel_begin(&rec, "plain",
                   "devices=h1/cuda:0,h2/cuda:1-2,h3/cuda:3 batch=29 train-rows=92 epochs=3");
    rec.limits.stall_s = 2; /* the other devices answer in time on a busy machine, too */
    rec.limits.grace_s = 0.2;
    ck_assert(!recorder_run(&rec));
    check_blame(names[_i], "no sign of progress");
    recorder_free(&rec);
    /* Once it comes back it gives back what it holds. */
    atomic_store(&posing.go_on, true);
    for (int i = 0; i < 1000 && atomic_load(&posing.closed) < 4; i++)
        usleep(10000);
    ck_assert_int_eq(atomic_load(&posing.closed), 4);
}
END_TEST

/* One pixel of one row. */
static void copy_with_a_fault(const char *name, bool fault)
{
    struct error err = ERROR_INIT;
    char *from = format("%s/data/%s", folder, name), *to = format("other/%s", name), *bytes;
    size_t length;
    ck_assert_msg(file_read(from, 1 << 20, &bytes, &length, &err), "%s", err.text);
    bytes[length - 1] ^= fault;
    put_file(folder, to, bytes, length);
    free(bytes);
    free(from);
    free(to);
}

static void read_other_data(int host, struct spec *spec)
{
    if (host != 1)
        return;
    free(spec->data);
    spec->data = format("%s/other", folder);
}

START_TEST(other_data_on_one_host_are_refused)
{
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    enum { FILES = sizeof names / sizeof *names };
    struct recorder rec;
    for (int i = 0; i < FILES; i++)
        copy_with_a_fault(names[i], i == _i);
    parallel_begin(&rec, "plain", "devices=h1/cpu:0,h2/cpu:0,h3/cpu:0 epochs=1");
    hosts_change = read_other_data;
    ck_assert_int_eq(recorder_run(&rec), _i == FILES);
    for (int i = 0; _i < FILES && i < hosts_seen.count; i++)
        ck_assert_msg(strstr(hosts_seen.err[i].text, "h2 has other rows of"), "%s",
                      hosts_seen.err[i].text);
    recorder_free(&rec);
}
END_TEST

START_TEST(only_rows_are_divided_over_hosts)
{
    static const char *const strategies[] = {"pipeline", "tensor", "mixed"};
    struct recorder rec;
    struct error err = ERROR_INIT;
    char *settings = format("%s strategy=%s", over_hosts, strategies[_i]);
    parallel_begin(&rec, "plain", settings);
    ck_assert(!resolve_spec(&rec.spec, NULL, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, "over several hosts only rows are divided"), "%s", err.text);
    recorder_free(&rec);
    free(settings);
}
END_TEST

static void reset(void)
{
    posing_reset();
    hosts_change = NULL;
}

int main(void)
{
    Suite *suite = suite_create("hosts_control");
    TCase *tcase = add_parallel_case(suite, "hosts_control");
    parallel_train = train_over_hosts;
    tcase_add_checked_fixture(tcase, reset, NULL);
    tcase_add_loop_test(tcase, changes_take_effect_alike, 0, 2);
    tcase_add_test(tcase, all_hosts_pause);
    tcase_add_test(tcase, what_is_asked_last_still_counts);
    tcase_add_test(tcase, all_hosts_stop_now);
    tcase_add_loop_test(tcase, all_hosts_leave_the_evaluation, 0, 2);
    tcase_add_test(tcase, progress_ends_with_all_rows);
    tcase_add_test(tcase, all_predictions_are_counted);
    tcase_add_loop_test(tcase, device_that_fails_ends_the_run_on_all_hosts, 0, 4 * PHASES);
    tcase_add_loop_test(tcase, device_that_hangs_ends_the_run_on_all_hosts, 0, 4);
    tcase_add_loop_test(tcase, other_data_on_one_host_are_refused, 0, 5);
    tcase_add_loop_test(tcase, only_rows_are_divided_over_hosts, 0, 3);
    return run_suites(suite, NULL);
}
