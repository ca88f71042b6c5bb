/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/train/run/hosts_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Runs over hosts that resume from their checkpoints, which the first host alone has: on as many
 * hosts, on others, or on one.
 */

static const char *const rules[] = {
    "momentum=0.9",
    "momentum=0.9 sync=central",
    "optimizer=adam lr=0.001 clip-norm=0.5 ema=0.9 sync=reduce-broadcast",
    "optimizer=adam lr=0.001 ema=0.9 sync=central sync-bn=yes",
    "momentum=0.9 split=weighted:0,1 lr-schedule=cosine",
};
enum { RULES = sizeof rules / sizeof *rules };

static long stop_at; /* step; 0: never */

static void stop_there(struct recorder *rec, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == stop_at)
        run_control_stop(&rec->control, RUN_STOP_STEP);
}

/* 3 epochs of 4 steps, the last one short. */
static void begin(struct recorder *rec, const char *devices, const char *settings)
{
    char *all = format("devices=%s batch=29 train-rows=92 epochs=3 %s", devices, settings);
    parallel_begin(rec, "normalised", all);
    free(all);
}

static struct outcome run_whole(const char *devices, const char *settings)
{
    struct recorder rec;
    begin(&rec, devices, settings);
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    struct outcome outcome = parallel_outcome(&rec);
    recorder_free(&rec);
    return outcome;
}

/* What the devices come to together that resume what others have begun. */
static struct outcome run_in_parts(const char *devices, const char *then, const char *settings,
                                   long stop)
{
    struct recorder rec;
    char *checkpoints = format("%s/checkpoints-%ld", folder, stop);
    begin(&rec, devices, settings);
    rec.keep.checkpoints = checkpoints;
    rec.on_event = stop_there;
    stop_at = stop;
    ck_assert(!recorder_run(&rec));
    recorder_free(&rec);
    begin(&rec, then, settings);
    rec.keep.checkpoints = checkpoints;
    rec.keep.resumes = true;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert(recorder_number(recorder_event(&rec, "run", 0), "resumed_at") >= (double)stop);
    ck_assert(recorder_number(recorder_event(&rec, "end", 0), "steps") == 12);
    struct outcome outcome = parallel_outcome(&rec);
    recorder_free(&rec);
    remove_tree(checkpoints);
    return outcome;
}

/* Two devices, wherever they are: every bit is that of a run without an end in between. */
START_TEST(two_devices_resume_on_any_hosts)
{
    static const char *const devices[][2] = {{"h1/cpu:0,h2/cpu:0", "h1/cpu:0,h2/cpu:0"},
                                             {"h1/cpu:0,h2/cpu:0", "cpu:0-1"},
                                             {"h1/cpu:0,h2/cpu:0", "h3/cpu:0-1"},
                                             {"cpu:0-1", "h2/cpu:0,h1/cpu:0"}};
    static const long stops[] = {1, 5, 10};
    struct outcome whole = run_whole("cpu:0-1", rules[_i]);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        for (size_t j = 0; j < sizeof stops / sizeof *stops; j++) {
            struct outcome parts = run_in_parts(devices[i][0], devices[i][1], rules[_i], stops[j]);
            check_same(&whole, &parts, devices[i][1]);
            outcome_free(&parts);
        }
    outcome_free(&whole);
}
END_TEST

START_TEST(resumes_on_other_numbers_of_hosts)
{
    static const char *const then[] = {"h1/cpu:0", "cpu:0", "h1/cpu:0,h2/cpu:0,h3/cpu:0",
                                       "h5/cpu:0,h2/cpu:0-2"};
    struct outcome whole = run_whole("cpu:0", "momentum=0.9 sync-bn=yes");
    struct outcome parts =
        run_in_parts("h1/cpu:0,h2/cpu:0", then[_i], "momentum=0.9 sync-bn=yes", 5);
    check_close(&whole, &parts, 2 * NORMALISED_TOLERANCE, then[_i]);
    outcome_free(&whole);
    outcome_free(&parts);
}
END_TEST

/* The first host's clock says when. */
START_TEST(checkpoints_come_by_the_minute)
{
    struct recorder rec;
    char *checkpoints = format("%s/checkpoints", folder);
    begin(&rec, "h1/cpu:0,h2/cpu:0", "");
    rec.spec.checkpoint_epochs = 0;
    rec.spec.checkpoint_minutes = 1e-9; /* after every step */
    rec.keep.checkpoints = checkpoints;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_int_eq(access(checkpoints, F_OK), 0);
    struct outcome often = parallel_outcome(&rec);
    struct outcome never = run_whole("h1/cpu:0,h2/cpu:0", "");
    check_same(&never, &often, "checkpoints");
    outcome_free(&often);
    outcome_free(&never);
    recorder_free(&rec);
    remove_tree(checkpoints);
}
END_TEST

/* All hosts say why. */
START_TEST(nothing_to_resume_from_is_the_same_for_all)
{
    struct recorder rec;
    char *checkpoints = format("%s/none", folder);
    begin(&rec, "h1/cpu:0,h2/cpu:0", "");
    rec.keep.checkpoints = checkpoints;
    rec.keep.resumes = true;
    ck_assert(!recorder_run(&rec));
    for (int i = 0; i < hosts_seen.count; i++)
        ck_assert_msg(strstr(hosts_seen.err[i].text, checkpoints), "%s", hosts_seen.err[i].text);
    recorder_free(&rec);
    free(checkpoints);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hosts_resume");
    TCase *tcase = add_parallel_case(suite, "hosts_resume");
    parallel_train = train_over_hosts;
    tcase_add_loop_test(tcase, two_devices_resume_on_any_hosts, 0, RULES);
    tcase_add_loop_test(tcase, resumes_on_other_numbers_of_hosts, 0, 4);
    tcase_add_test(tcase, checkpoints_come_by_the_minute);
    tcase_add_test(tcase, nothing_to_resume_from_is_the_same_for_all);
    return run_suites(suite, NULL);
}
