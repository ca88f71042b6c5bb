/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/ui/replay.h"
#include "ui/control/engine.h"
#include "ui/control/refresh.h"
#include "ui/panels/outlook.h"

/* What other devices and batches would bring: from runs that the test makes up. */

static struct replay replay;

static void begin(void)
{
    replay_begin(&replay);
    ui_connected(&replay.ui);
    replay_line(&replay,
                "{\"method\":\"event\",\"params\":{\"event\":\"state\",\"pid\":1,\"queue\":[],"
                "\"devices\":[{\"device\":\"cpu:0\",\"available\":true,\"cores\":8},"
                "{\"device\":\"cpu:1\",\"available\":true,\"cores\":8}]}}");
}

static void end(void)
{
    replay_end(&replay);
}

struct told {
    const char *devices;
    long batch;
    double samples_per_s;
    double sync_s, wait_s; /* of an epoch of 6,400 rows, on each device */
};

/* They have ended; where `epochs` each is told with two of them, and the noise scale in rows. */
static void tell(const struct told *runs, int count, bool epochs, double noise)
{
    struct error none = ERROR_INIT;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        const bool two = strchr(runs[i].devices, ',') != NULL;
        json_array_append_new(
            list, json_pack("{s:i,s:s,s:s,s:s,s:o,s:I,s:f,s:i,s:i,s:s,s:s,s:s,s:i,s:i,s:f}", "run",
                            i + 1, "status", "done", "model", "lenet", "data", "glyphs", "devices",
                            json_loads(runs[i].devices, 0, NULL), "batch",
                            (json_int_t)runs[i].batch, "lr", 0.1, "epochs", 3, "epochs_done", 3,
                            "split", "chunk", "sync", "allreduce", "strategy", "data", "threads", 1,
                            "likeness", 5, "samples_per_s", runs[i].samples_per_s));
        ck_assert_int_eq(two, strstr(runs[i].devices, "cpu:1") != NULL);
    }
    ui_answer(&replay.ui, REQUEST_RUNS, list, &none);
    json_decref(list);
    for (int i = 0; i < count && epochs; i++)
        for (int epoch = 1; epoch <= 3; epoch++) {
            const struct told *run = &runs[i];
            const double seconds = 6400 / run->samples_per_s;
            const int devices = strchr(run->devices, ',') ? 2 : 1;
            json_t *list_of = json_array();
            for (int d = 0; d < devices; d++)
                json_array_append_new(list_of,
                                      json_pack("{s:s,s:i,s:f,s:f,s:f,s:f}", "device",
                                                d ? "cpu:1" : "cpu:0", "rows", 6400 / devices,
                                                "samples_per_s", run->samples_per_s / devices,
                                                "compute_s", seconds - run->sync_s - run->wait_s,
                                                "sync_s", run->sync_s, "wait_s", run->wait_s));
            json_t *event = json_pack(
                "{s:s,s:{s:s,s:i,s:i,s:i,s:i,s:i,s:b,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:o}}",
                "method", "event", "params", "event", "epoch", "run", i + 1, "epoch", epoch, "step",
                epoch * (int)(6400 / run->batch), "steps", (int)(6400 / run->batch), "rows", 6400,
                "partial", 0, "seconds", seconds, "samples_per_s", run->samples_per_s, "test_acc",
                0.8, "lr", 0.1, "compute_s", seconds - run->sync_s - run->wait_s, "sync_s",
                run->sync_s, "wait_s", run->wait_s, "noise_scale", noise, "devices", list_of);
            char *line = json_dumps(event, JSON_COMPACT);
            ck_assert_ptr_nonnull(line);
            replay_line(&replay, line);
            json_decref(event);
            free(line);
        }
}

static void choose(const char *devices, const char *batch)
{
    struct error err = ERROR_INIT;
    struct form *form = &replay.ui.form;
    ck_assert_msg(
        form_set(form, FORM_MODEL, "lenet", &err) && form_set(form, FORM_DATA, "glyphs", &err) &&
            form_set(form, FORM_DEVICES, devices, &err) && form_set(form, FORM_BATCH, batch, &err),
        "%s", err.text);
}

static void expect(const char *text)
{
    struct outlook outlook;
    char buffer[160] = "";
    if (outlook_of_form(&replay.ui, &outlook))
        outlook_text(&outlook, buffer, sizeof buffer);
    ck_assert_str_eq(buffer, text);
}

#define ONE "[\"cpu:0\"]"
#define TWO "[\"cpu:0\",\"cpu:1\"]"

START_TEST(measured_speeds_come_first)
{
    static const struct told runs[] = {
        {TWO, 64, 150, 2, 1}, {TWO, 128, 190, 1, 1}, {ONE, 64, 100, 0, 0}};
    choose("cpu:0-1", "128");
    expect("");
    tell(runs, 3, false, NAN);
    expect("");
    tell(runs, 3, true, 128);
    /* (128 + 128) / (64 + 128) of the epochs, 1.9 times as fast. */
    expect("2 devices, batch 128: 1.43x as fast to the same accuracy as #3 (1.90x per epoch, 1.33x "
           "the epochs)");
    choose("cpu:0", "64");
    expect("");
    choose("cpu:0-1", "64");
    expect("2 devices, batch 64: 1.50x as fast to the same accuracy as #3 (1.50x per epoch, 1.00x "
           "the epochs)");
}
END_TEST

START_TEST(else_they_are_predicted)
{
    /* A row takes 10 ms, a step 2 ms of its own. */
    static const struct told runs[] = {{ONE, 64, 64 / 0.642, 0, 0.2},
                                       {ONE, 32, 32 / 0.322, 0, 0.4}};
    struct outlook outlook;
    choose("cpu:0", "128");
    tell(runs, 2, true, 96);
    expect("1 device, batch 128: 0.57x (0.5-0.6) as fast to the same accuracy as #2 (1.00x per "
           "epoch, 1.75x the epochs; predicted)");
    /* Nothing says what an all-reduce would take. */
    choose("cpu:0-1", "64");
    expect("batch 64: 1.25x the epochs of #2 to the same accuracy");
    choose("cpu:0-1", "32");
    expect("");
    static const struct told more[] = {{TWO, 64, 64 / 0.34, 0.9, 0.5},
                                       {ONE, 64, 64 / 0.642, 0, 0.2}};
    tell(more, 2, true, 96);
    choose("cpu:0-1", "128");
    ck_assert(outlook_of_form(&replay.ui, &outlook));
    ck_assert(outlook.predicted);
    ck_assert_double_eq_tol(outlook.reach.epochs, 224.0 / 160, 1e-9);
    ck_assert(outlook.reach.faster > 1.8 && outlook.reach.faster < 2);
    ck_assert(outlook.reach.low <= outlook.reach.sooner &&
              outlook.reach.sooner <= outlook.reach.high);
}
END_TEST

START_TEST(other_devices_and_strategies_are_not_foreseen)
{
    static const struct told runs[] = {{TWO, 128, 190, 1, 1}, {ONE, 64, 100, 0, 0}};
    struct error err = ERROR_INIT;
    choose("cuda:0-1", "128");
    tell(runs, 2, true, 128);
    expect("batch 128: 1.33x the epochs of #2 to the same accuracy");
    choose("cuda:0-1", "64");
    expect("");
    choose("cpu:0-1", "128");
    ck_assert(form_set(&replay.ui.form, FORM_STRATEGY, "pipeline", &err));
    expect("");
    ck_assert(form_set(&replay.ui.form, FORM_STRATEGY, "data", &err));
    ck_assert(form_set(&replay.ui.form, FORM_MODEL, "smallnet", &err));
    expect("");
}
END_TEST

/* Where devices, batch or rate are chosen, below them; elsewhere the field's own hint. */
START_TEST(the_hint_line_has_it)
{
    static const struct told runs[] = {{TWO, 128, 190, 1, 1}, {ONE, 64, 100, 0, 0}};
    choose("cpu:0-1", "128");
    tell(runs, 2, true, 128);
    replay.ui.focus = PANEL_FORM;
    static const enum form_field fields[] = {FORM_BATCH, FORM_DEVICES, FORM_EPOCHS};
    for (int i = 0; i < 3; i++) {
        replay.ui.form.field = fields[i];
        char *screen = replay_screen(&replay, 40, 200, true);
        ck_assert_int_eq(strstr(screen, "to the same accuracy as #2") != NULL, i < 2);
        free(screen);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("outlook");
    TCase *tcase = tcase_create("form");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, measured_speeds_come_first);
    tcase_add_test(tcase, else_they_are_predicted);
    tcase_add_test(tcase, other_devices_and_strategies_are_not_foreseen);
    tcase_add_test(tcase, the_hint_line_has_it);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
