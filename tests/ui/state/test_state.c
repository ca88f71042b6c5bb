/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/support.h"
#include "tests/ui/replay.h"
#include "ui/control/engine.h"
#include "ui/control/refresh.h"

static struct replay replay;

static void begin(void)
{
    replay_begin(&replay);
}

static void end(void)
{
    replay_end(&replay);
}

START_TEST(a_running_run_is_known)
{
    replay_recording(&replay, "train-2", 0);
    const struct state *state = &replay.ui.state;
    ck_assert_int_eq(state->live.run, 2);
    ck_assert_int_eq(state->live.status, RUN_RUNNING);
    ck_assert_double_eq(state->live.epoch, 4);
    ck_assert_int_eq(state->device_count, 2);
    ck_assert_double_eq(state->devices[1].rows, 256);
    ck_assert_str_eq(state->devices[1].state, "train");
    ck_assert_int_eq(state->run_count, 2);
    ck_assert_int_eq(state->runs[0].point_count, 10);
    /* Three epochs by `show`, the fourth by its event. */
    ck_assert_int_eq(state->runs[1].point_count, 4);
    ck_assert_double_eq(state->runs[1].epochs_done, 4);
    ck_assert_str_eq(state->runs[1].devices, "cpu:0-1");
}
END_TEST

static int requests_after(const char *state)
{
    int before = replay.asked_count;
    replay_line(&replay, state);
    return replay.asked_count - before;
}

START_TEST(edits_elsewhere_are_asked_for)
{
    static const char three[] = "{\"method\":\"state\",\"params\":{\"edits\":3}}";
    replay_recording(&replay, "idle", 0);
    /* The list of a fresh connection has what was before its first state; older engines have no
     * such number. */
    ck_assert_int_eq(requests_after("{\"method\":\"state\",\"params\":{}}"), 0);
    ck_assert_int_eq(requests_after(three), 0);
    ck_assert_int_eq(requests_after(three), 0);
    ck_assert_int_eq(requests_after("{\"method\":\"state\",\"params\":{\"edits\":9}}"), 1);
    ck_assert_str_eq(replay_last(&replay), "runs ");
    ui_disconnected(&replay.ui, LINK_LOST, "gone");
    ui_connected(&replay.ui);
    ck_assert_int_eq(requests_after("{\"method\":\"state\",\"params\":{\"edits\":12}}"), 1);
    ck_assert_str_eq(strtok(replay.asked[replay.asked_count - 1], " "), "check");
}
END_TEST

START_TEST(connecting_asks_for_what_is_shown)
{
    ui_connected(&replay.ui);
    ck_assert_int_eq(replay.asked_count, 3);
    ck_assert_str_eq(replay.asked[1], "watch {\"interval\":1.0,\"interrupted\":true}");
    replay_line(&replay, "{\"id\":1,\"method\":\"runs\"}");
    replay_line(&replay, "{\"id\":1,\"result\":[{\"run\":1,\"status\":\"done\",\"data\":\"glyphs\","
                         "\"epochs_done\":3},{\"run\":2,\"status\":\"queued\",\"data\":\"glyphs\","
                         "\"epochs_done\":0}]}");
    /* The newest ended run, and what the form would start. */
    ck_assert_int_eq(replay.asked_count, 5);
    ck_assert_str_eq(replay.asked[3], "show {\"run\":1}");
    ck_assert(strncmp(replay.asked[4], "check {", 7) == 0);
    /* Once is enough, even when the answer is an error. */
    replay_line(&replay, "{\"id\":2,\"method\":\"show\"}");
    replay_line(&replay, "{\"id\":2,\"error\":{\"code\":-32001,\"message\":\"no such run\"}}");
    replay_line(&replay,
                "{\"method\":\"state\",\"params\":{\"pid\":7,\"devices\":[],\"run\":null}}");
    ck_assert_int_eq(replay.asked_count, 5);
    /* The end of a run makes the list stale. */
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"end\",\"run\":1,"
                         "\"status\":\"failed\",\"error\":\"disk full\"}}");
    ck_assert_str_eq(replay_last(&replay), "runs ");
    ck_assert_str_eq(replay.ui.message.text, "run 1 failed: disk full");
}
END_TEST

static int known_curves(void)
{
    int known = 0;
    for (int i = 0; i < replay.ui.state.run_count; i++)
        known += replay.ui.state.runs[i].point_count > 0;
    return known;
}

START_TEST(curves_not_looked_at_are_dropped)
{
    enum { RUNS = STATE_MAX_CURVES + 40 };
    json_t *runs = json_array();
    ui_connected(&replay.ui);
    for (int i = 1; i <= RUNS; i++)
        json_array_append_new(runs, json_pack("{s:i, s:s, s:s, s:i}", "run", i, "status", "done",
                                              "data", "glyphs", "epochs_done", 1));
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    for (int i = 1; i <= RUNS; i++) {
        char *show = format("{\"run\":%d,\"status\":\"done\",\"epochs\":[{\"epoch\":1}]}", i);
        json_t *answer = json_loads(show, 0, NULL);
        replay.ui.selected_run = i;
        ui_refresh(&replay.ui);
        ui_answer(&replay.ui, REQUEST_SHOW, answer, NULL);
        json_decref(answer);
        free(show);
    }
    ck_assert_int_eq(known_curves(), STATE_MAX_CURVES);
    ck_assert_int_eq(state_run(&replay.ui.state, 1)->point_count, 0);
    /* A new list of the same runs keeps what is known, and what was dropped is asked for. */
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    ck_assert_int_eq(known_curves(), STATE_MAX_CURVES);
    replay.ui.selected_run = 1;
    ui_refresh(&replay.ui);
    ck_assert_str_eq(replay_last(&replay), "show {\"run\":1}");
    json_decref(runs);
}
END_TEST

START_TEST(epochs_find_their_place)
{
    static const char *const events[] = {"3", "1", "2", "2", "1e300", "-4", "\"two\"", "null"};
    ui_connected(&replay.ui);
    replay_line(&replay, "{\"id\":1,\"method\":\"runs\"}");
    replay_line(&replay, "{\"id\":1,\"result\":[{\"run\":5,\"status\":\"running\"}]}");
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        char *line = format("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":5,"
                            "\"epoch\":%s,\"test_acc\":0.%zu,\"seconds\":2}}",
                            events[i], i + 1);
        replay_line(&replay, line);
        free(line);
    }
    const struct state_run *run = state_run(&replay.ui.state, 5);
    ck_assert_int_eq(run->point_count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(run->points[i].epoch, i + 1);
    ck_assert_double_eq(run->points[1].value[METRIC_TEST_ACC], 0.4);
    ck_assert(isnan(run->points[1].value[METRIC_TRAIN_LOSS]));
    ck_assert_double_eq(run->best_acc, 0.4);
    ck_assert_double_eq(run->s_per_epoch, 2);
    /* What the run has come to by the rule of comparisons is not what its last epoch was. */
    replay_line(&replay,
                "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":5,\"epoch\":4,"
                "\"seconds\":2,\"samples_per_s\":50,"
                "\"so_far\":{\"s_per_epoch\":4,\"samples_per_s\":25}}}");
    ck_assert_double_eq(run->s_per_epoch, 4);
    ck_assert_double_eq(run->samples_per_s, 25);
}
END_TEST

START_TEST(wrong_members_are_unknown)
{
    ui_connected(&replay.ui);
    replay_line(&replay,
                "{\"method\":\"state\",\"params\":{\"pid\":\"x\",\"queue\":7,\"run\":{\"run\":3,"
                "\"status\":5,\"epoch\":-1,\"eta_s\":true},\"devices\":[5,{\"device\":\"tpu:0\"},"
                "{\"device\":\"cpu:0-3\"},{\"device\":\"cpu:0\",\"load\":\"high\","
                "\"memory_used\":-5,\"available\":null}]}}");
    const struct state *state = &replay.ui.state;
    ck_assert_int_eq(state->pid, 0);
    ck_assert_int_eq(state->live.run, 3);
    ck_assert_int_eq(state->live.status, RUN_UNKNOWN);
    ck_assert(isnan(state->live.epoch) && isnan(state->live.eta_s));
    ck_assert_int_eq(state->device_count, 1);
    ck_assert(isnan(state->devices[0].load) && isnan(state->devices[0].memory_used));
    ck_assert(state->devices[0].available);
    replay_line(&replay, "{\"method\":\"state\",\"params\":[]}");
    replay_line(&replay, "{\"method\":\"state\"}");
    replay_line(&replay, "{\"method\":5}");
    replay_line(&replay, "{\"method\":\"event\",\"params\":{}}");
    ck_assert_int_eq(state->live.run, 3);
}
END_TEST

START_TEST(a_trembling_load_does_not_move)
{
    static const char form[] = "{\"method\":\"state\",\"params\":{\"devices\":[{\"device\":"
                               "\"cpu:0\",\"load\":%g,\"memory_used\":%g,\"memory_total\":100}]}}";
    static const double fresh[] = {0.02, 0.06, 0.03, 0.2, 0.15},
                        shown[] = {0.02, 0.02, 0.02, 0.2, 0.2};
    for (size_t i = 0; i < sizeof fresh / sizeof fresh[0]; i++) {
        char *line = format(form, fresh[i], 50 + fresh[i]);
        replay_line(&replay, line);
        free(line);
        ck_assert_double_eq(replay.ui.state.devices[0].load, shown[i]);
        ck_assert_double_eq(replay.ui.state.devices[0].memory_used, 50.02);
    }
}
END_TEST

START_TEST(losing_the_engine_keeps_the_runs)
{
    replay_recording(&replay, "train-2", 0);
    replay_keys(&replay, "x");
    ck_assert_ptr_nonnull(replay.ui.question);
    ui_disconnected(&replay.ui, LINK_LOST, "gone");
    ck_assert(!replay.ui.prompt && !replay.ui.question);
    ck_assert_int_eq(replay.ui.state.run_count, 2);
    ck_assert_int_eq(replay.ui.state.runs[1].point_count, 4);
    ck_assert_int_eq(replay.ui.state.live.run, 0);
    int asked = replay.asked_count;
    replay_keys(&replay, "sxr");
    ck_assert_int_eq(replay.asked_count, asked);
    ck_assert(replay.ui.message.text[0] != '\0');
    replay_keys(&replay, "e");
    ck_assert(replay.ui.want_engine);
}
END_TEST

START_TEST(start_stop_and_retune)
{
    replay_recording(&replay, "train-2", 0);
    replay_keys(&replay, "s");
    ck_assert_ptr_nonnull(strstr(replay_last(&replay), "submit {"));
    replay_keys(&replay, "xn");
    ck_assert_ptr_nonnull(strstr(replay_last(&replay), "submit {"));
    replay_keys(&replay, "xy");
    ck_assert_str_eq(replay_last(&replay), "stop {\"run\":2,\"when\":\"step\"}");
    replay_keys(&replay, "r0.05<Enter>");
    ck_assert_str_eq(replay_last(&replay), "set_lr {\"run\":2,\"lr\":0.05}");
    /* The list has the new rate once the run has told it, which may be after one more state. */
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"retune\",\"run\":2,"
                         "\"what\":\"lr\",\"from\":0.1,\"to\":0.05,\"step\":9}}");
    for (int i = 0; i < 3; i++) {
        const int before = replay.asked_count;
        replay_line(&replay, "{\"method\":\"state\",\"params\":{\"run\":null,\"queue\":[]}}");
        replay_line(&replay, "{\"method\":\"state\",\"params\":{\"run\":null,\"queue\":[]}}");
        ck_assert_int_eq(replay.asked_count > before, i == 0);
    }
    replay_recording(&replay, "train-2", 0);
    int asked = replay.asked_count;
    replay_keys(&replay, "rfast<Enter>");
    ck_assert_ptr_nonnull(replay.ui.prompt);
    ck_assert(replay.ui.message.bad);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.asked_count, asked);
    ck_assert(!replay.ui.prompt && !replay.ui.question);
    /* A run that ended takes its question along. */
    replay_keys(&replay, "x");
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"end\",\"run\":2,"
                         "\"status\":\"done\"}}");
    ck_assert(!replay.ui.prompt && !replay.ui.question);
}
END_TEST

START_TEST(a_queued_run_can_be_taken_out)
{
    replay_recording(&replay, "train-8", 0);
    replay_keys(&replay, "<Tab><Tab><Down><Down>xy");
    ck_assert_str_eq(replay_last(&replay), "stop {\"run\":4,\"when\":\"step\"}");
    replay_keys(&replay, "<Up>xy");
    ck_assert_str_eq(replay_last(&replay), "stop {\"run\":3,\"when\":\"step\"}");
}
END_TEST

START_TEST(start_at_once_when_idle)
{
    replay.ui.start_when_idle = true;
    replay_recording(&replay, "idle", 0);
    int submitted = 0;
    for (int i = 0; i < replay.asked_count; i++)
        submitted += strncmp(replay.asked[i], "submit", 6) == 0;
    ck_assert_int_eq(submitted, 1);
}
END_TEST

START_TEST(not_while_another_run_trains)
{
    replay.ui.start_when_idle = true;
    replay_recording(&replay, "train-1", 0);
    for (int i = 0; i < replay.asked_count; i++)
        ck_assert(strncmp(replay.asked[i], "submit", 6) != 0);
    ck_assert_ptr_nonnull(strstr(replay.ui.message.text, "run 1 is running"));
}
END_TEST

START_TEST(every_action_has_a_key_of_its_own)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_ne(table[i].key[0], 0);
        for (unsigned context = 1; context <= CONTEXT_QUESTION; context *= 2)
            for (int k = 0; k < ACTION_KEYS && table[i].key[k] != 0; k++)
                if (table[i].contexts & context)
                    ck_assert_msg(keymap_action(&replay.ui.keymap, context, table[i].key[k]) ==
                                      table[i].action,
                                  "%s: key %d means something else, too", table[i].name,
                                  table[i].key[k]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("state");
    TCase *tests = tcase_create("ui state");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_running_run_is_known);
    tcase_add_test(tests, edits_elsewhere_are_asked_for);
    tcase_add_test(tests, connecting_asks_for_what_is_shown);
    tcase_add_test(tests, curves_not_looked_at_are_dropped);
    tcase_add_test(tests, epochs_find_their_place);
    tcase_add_test(tests, wrong_members_are_unknown);
    tcase_add_test(tests, a_trembling_load_does_not_move);
    tcase_add_test(tests, losing_the_engine_keeps_the_runs);
    tcase_add_test(tests, start_stop_and_retune);
    tcase_add_test(tests, a_queued_run_can_be_taken_out);
    tcase_add_test(tests, start_at_once_when_idle);
    tcase_add_test(tests, not_while_another_run_trains);
    tcase_add_test(tests, every_action_has_a_key_of_its_own);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
