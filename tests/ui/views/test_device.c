/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/support.h"
#include "tests/ui/replay.h"
#include "ui/control/control.h"
#include "ui/control/engine.h"
#include "ui/draw/key.h"
#include "ui/form/devices.h"
#include "ui/panels/device_parts.h"

static struct replay replay;

static void begin(void)
{
    replay_begin(&replay);
}

static void end(void)
{
    replay_end(&replay);
}

static bool on_screen(const char *text)
{
    char *screen = replay_screen(&replay, 24, 80, false);
    bool there = strstr(screen, text) != NULL;
    free(screen);
    return there;
}

/* A state with a device of this load, running a run or not. */
static void tell_load(double load, bool training)
{
    char *line = format("{\"method\":\"state\",\"params\":{\"pid\":1,\"run\":%s,\"devices\":["
                        "{\"device\":\"cpu:0\",\"name\":\"a CPU\",\"load\":%.2f,\"rows\":%s}]}}",
                        training ? "{\"run\":1,\"status\":\"running\"}" : "null", load,
                        training ? "64" : "null");
    replay_line(&replay, line);
    free(line);
}

START_TEST(the_cursor_walks_through_all_devices_in_order)
{
    replay_recording(&replay, "train-64", 0);
    for (int i = 0; i < 66; i++) {
        ck_assert_int_eq(replay.ui.device_line, i);
        replay_keys(&replay, "<Down>");
    }
    ck_assert_int_eq(replay.ui.device_line, 65);
    ck_assert(on_screen("cpu:1 "));
    ck_assert(on_screen("35-66/66"));
    ui_key(&replay.ui, KEYCODE_PAGE_UP);
    ck_assert_int_eq(replay.ui.device_line, 55);
    replay_keys(&replay, "<Home>");
    ck_assert(on_screen("1-32/66"));
}
END_TEST

/* In a single column which part it is stands after the name, where both have room. */
START_TEST(the_name_stays_beside_the_position)
{
    replay_recording(&replay, "train-16", 0);
    char *screen = replay_screen(&replay, 15, 38, false);
    ck_assert_msg(strstr(screen, "\nDevices 1-6/16 "), "%s", screen);
    free(screen);
}
END_TEST

START_TEST(a_choice_is_seen_among_many)
{
    replay_recording(&replay, "train-16", 0);
    ck_assert(on_screen("[ ]>cpu:9"));
    for (int i = 0; i < 9; i++)
        replay_keys(&replay, "<Down>");
    replay_keys(&replay, " ");
    ck_assert(on_screen("[x]>cpu:9"));
    ck_assert_int_eq(form_device_count(&replay.ui.form, &replay.ui.state), 2);
}
END_TEST

/* Training now and being used next are two things. */
START_TEST(what_trains_is_not_what_is_ticked)
{
    tell_load(0.5, false);
    ck_assert(on_screen("[x] cpu:0"));
    tell_load(0.5, true);
    ck_assert(on_screen("[x]>cpu:0"));
    ck_assert(on_screen("cpu:0 trains now (>), and is ticked for the next run"));
    replay_keys(&replay, "+<Home> ");
    ck_assert(on_screen("[ ]>cpu:0"));
    ck_assert(on_screen("cpu:0 trains now (>), but is not ticked for the next run"));
    ck_assert(on_screen("[x] cpu:1"));
}
END_TEST

/* Two devices of a run with 64 rows each. */
static void tell_strategy(const char *strategy, int replicas)
{
    struct error err = ERROR_INIT;
    json_t *runs = json_pack("[{s:i, s:s, s:s, s:[s, s], s:o*}]", "run", 1, "status", "running",
                             "strategy", strategy, "devices", "cpu:0", "cpu:1", "replicas",
                             replicas > 1 ? json_integer(replicas) : NULL);
    ck_assert(state_runs(&replay.ui.state, runs, &err));
    json_decref(runs);
    replay_line(&replay,
                "{\"method\":\"state\",\"params\":{\"pid\":1,\"run\":{\"run\":1,\"status\":"
                "\"running\"},\"devices\":["
                "{\"device\":\"cpu:0\",\"name\":\"a CPU\",\"load\":1,\"rows\":64},"
                "{\"device\":\"cpu:1\",\"name\":\"a CPU\",\"load\":1,\"rows\":64}]}}");
}

/* Devices that do not divide the rows of a mini-batch have all of them. */
START_TEST(rows_are_added_up_where_they_are_divided)
{
    static const struct {
        const char *strategy;
        int replicas;
        const char *rows, *part;
        int together;
    } cases[] = {
        {"data", 1, "64, 50% of the mini-batch", NULL, 128},
        {"pipeline", 1, "64, 100% of the mini-batch", "stage 2 of 2 of the network", 64},
        {"pipeline", 2, "64, 50% of the mini-batch",
         "stage 1 of 1 of the network, in pipeline 2 of 2", 128},
        {"tensor", 1, "64, 100% of the mini-batch", "part 2 of 2 of every layer", 64},
        {"mixed", 1, "64, 50% of the mini-batch",
         "its rows, then part 2 of 2 of every linear layer", 128},
    };
    ui_connected(&replay.ui);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int together = 0;
        tell_strategy(cases[i].strategy, cases[i].replicas);
        char *screen = replay_screen(&replay, 24, 80, false);
        ck_assert_int_eq(sscanf(strstr(screen, "2 together"), "2 together %d", &together), 1);
        free(screen);
        ck_assert_int_eq(together, cases[i].together);
        replay_keys(&replay, "<Down><Enter>");
        ck_assert_msg(on_screen(cases[i].rows), "%s", cases[i].strategy);
        ck_assert(!cases[i].part ? !on_screen("computes ") : on_screen(cases[i].part));
        replay_keys(&replay, "<Esc><Up>");
    }
}
END_TEST

START_TEST(load_has_three_styles)
{
    ui_connected(&replay.ui);
    tell_load(1, true);
    ck_assert(on_screen("####"));
    replay_keys(&replay, "t");
    ck_assert(!on_screen("####"));
    ck_assert(on_screen("#"));
    replay_keys(&replay, "t");
    ck_assert(!on_screen("#"));
    ck_assert(on_screen("100%"));
    replay_keys(&replay, "t");
    ck_assert_int_eq(replay.ui.preferences.load, LOAD_BAR);
}
END_TEST

/* One row of a device's past loads. */
static void draw_past(const struct state_device *device, char *row, int width)
{
    struct surface surface = {.utf8 = false};
    struct error err = ERROR_INIT;
    ck_assert(surface_resize(&surface, 1, width, &err));
    draw_history(&surface, (struct rect){0, 0, 1, width}, device);
    for (int x = 0; x < width; x++)
        row[x] = (char)surface_at(&surface, 0, x)->character;
    row[width] = '\0';
    surface_free(&surface);
}

START_TEST(past_loads_never_move)
{
    char row[9], before[9];
    ui_connected(&replay.ui);
    const struct state *state = &replay.ui.state;
    tell_load(0.1, true);
    draw_past(&state->devices[0], row, 8);
    ck_assert_str_eq(row, "_       ");
    tell_load(1, true);
    draw_past(&state->devices[0], row, 8);
    ck_assert_str_eq(row, "_#      ");
    for (int i = 0; i < 600; i++) {
        int changed = 0;
        memcpy(before, row, sizeof before);
        tell_load(i % 3 ? 0.5 : 1, true);
        draw_past(&state->devices[0], row, 8);
        for (int x = 0; x < 8; x++)
            changed += row[x] != before[x];
        /* The newest, and the blank before it. */
        ck_assert_int_le(changed, 2);
    }
}
END_TEST

START_TEST(an_idle_machine_draws_nothing)
{
    ui_connected(&replay.ui);
    tell_load(0.02, false);
    long count = replay.ui.state.devices[0].history_count;
    for (int i = 0; i < 10; i++)
        tell_load(0.02 + 0.01 * (i % 2), false);
    ck_assert_int_eq(replay.ui.state.devices[0].history_count, count);
    tell_load(0.7, false);
    ck_assert_int_eq(replay.ui.state.devices[0].history_count, count + 1);
}
END_TEST

START_TEST(a_device_that_comes_later_is_in_step)
{
    ui_connected(&replay.ui);
    for (int i = 0; i < 5; i++)
        tell_load(0.5, true);
    replay_line(&replay, "{\"method\":\"state\",\"params\":{\"pid\":1,\"run\":{\"run\":1},"
                         "\"devices\":[{\"device\":\"cpu:0\",\"load\":0.5},"
                         "{\"device\":\"cpu:1\",\"load\":0.5}]}}");
    const struct state_device *devices = replay.ui.state.devices;
    ck_assert_int_eq(devices[1].history_count, devices[0].history_count);
    ck_assert(isnan(devices[1].history[0]));
    ck_assert_float_eq(devices[1].history[5], 0.5f);
}
END_TEST

START_TEST(a_lost_device_is_told_once)
{
    replay_recording(&replay, "device-lost", 0);
    ck_assert_int_eq(replay.ui.state.log_count, 1);
    ck_assert(replay.ui.message.bad);
    ck_assert(on_screen("cuda:2 is lost: the GPU has fallen off the bus"));
    ck_assert(on_screen("lost: the GPU"));
    /* A key takes the message away, another state does not bring it back. */
    replay_keys(&replay, "<Down>");
    replay_line(&replay,
                "{\"method\":\"state\",\"params\":{\"pid\":1,\"devices\":[{\"device\":\"cuda:2\","
                "\"available\":false,\"reason\":\"fallen off\"},"
                "{\"device\":\"cuda:1\",\"state\":\"train\"}]}}");
    ck_assert_str_eq(replay.ui.message.text, "");
    ck_assert(on_screen("cuda:2 lost"));
    replay_line(&replay,
                "{\"method\":\"state\",\"params\":{\"pid\":1,\"devices\":[{\"device\":\"cuda:2\","
                "\"available\":true},{\"device\":\"cuda:1\",\"state\":\"failed\"}]}}");
    ck_assert_str_eq(replay.ui.message.text, "cuda:1 failed: no reason is known");
    ck_assert_int_eq(replay.ui.state.log_count, 2);
}
END_TEST

START_TEST(what_never_was_there_is_not_lost)
{
    ui_connected(&replay.ui);
    replay_line(&replay, "{\"method\":\"state\",\"params\":{\"pid\":1,\"devices\":[{\"device\":"
                         "\"cuda:0\",\"available\":false,\"reason\":\"no driver\"}]}}");
    ck_assert(!replay.ui.state.devices[0].lost);
    ck_assert_int_eq(replay.ui.state.log_count, 0);
    ck_assert(on_screen("no driver"));
    replay_keys(&replay, "<Enter>");
    ck_assert(on_screen("not usable   no driver"));
    ck_assert(on_screen("what to do   choose other devices"));
}
END_TEST

START_TEST(one_device_at_length)
{
    replay_recording(&replay, "sensors", 0);
    replay_keys(&replay, "<Down><Enter>");
    ck_assert_int_eq(replay.ui.view, VIEW_DEVICE);
    ck_assert(on_screen("device 2 of 3"));
    ck_assert(on_screen("rows         128, 50% of the mini-batch"));
    ck_assert(on_screen("all-reduce   1.20 s, 12% of it"));
    ck_assert(on_screen("power        400/700 W"));
    replay_keys(&replay, "<Down>");
    ck_assert(on_screen("device 3 of 3"));
    ck_assert(on_screen("PCIe         -  a CPU device has no PCIe link"));
    ck_assert(on_screen("next run     does not use it"));
    replay_keys(&replay, "<Down><Home>");
    ck_assert(on_screen("device 1 of 3"));
    replay_keys(&replay, "<End><Esc>");
    /* The list has followed. */
    ck_assert_int_eq(replay.ui.view, VIEW_DASHBOARD);
    ck_assert_int_eq(replay.ui.device_line, 2);
}
END_TEST

START_TEST(a_small_screen_has_pages)
{
    replay_recording(&replay, "sensors", 0);
    replay_keys(&replay, "i");
    char *screen = replay_screen(&replay, 12, 60, false);
    ck_assert_ptr_ne(strstr(screen, "PageDown: more"), NULL);
    ck_assert_ptr_eq(strstr(screen, "throttle"), NULL);
    free(screen);
    ui_key(&replay.ui, KEYCODE_PAGE_DOWN);
    screen = replay_screen(&replay, 12, 60, false);
    ck_assert_ptr_eq(strstr(screen, "PageDown: more"), NULL);
    ck_assert_ptr_ne(strstr(screen, "throttle"), NULL);
    free(screen);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device views");
    TCase *tests = tcase_create("device views");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, the_cursor_walks_through_all_devices_in_order);
    tcase_add_test(tests, the_name_stays_beside_the_position);
    tcase_add_test(tests, a_choice_is_seen_among_many);
    tcase_add_test(tests, what_trains_is_not_what_is_ticked);
    tcase_add_test(tests, rows_are_added_up_where_they_are_divided);
    tcase_add_test(tests, load_has_three_styles);
    tcase_add_test(tests, past_loads_never_move);
    tcase_add_test(tests, an_idle_machine_draws_nothing);
    tcase_add_test(tests, a_device_that_comes_later_is_in_step);
    tcase_add_test(tests, a_lost_device_is_told_once);
    tcase_add_test(tests, what_never_was_there_is_not_lost);
    tcase_add_test(tests, one_device_at_length);
    tcase_add_test(tests, a_small_screen_has_pages);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
