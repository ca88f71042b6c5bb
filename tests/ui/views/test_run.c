/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/outcome.h"
#include "tests/suites.h"
#include "tests/ui/runs_fixture.h"
#include "ui/control/engine.h"
#include "ui/state/setting.h"

/* The details of one run, by keys and messages. */

START_TEST(details_show_checkpoints_and_shares)
{
    replay_keys(&replay, "/run=13<Enter><Enter>");
    json_t *shown = json_deep_copy(json_object_get(replay.shows, "13"));
    json_object_set_new(shown, "checkpoint",
                        json_pack("{s:i, s:f}", "steps", 470, "time", 1763650031.5));
    json_object_set_new(shown, "shares",
                        json_pack("[{s:i, s:i, s:[i, i], s:s}]", "epoch", 1, "step", 20, "shares",
                                  192, 64, "reason",
                                  "by the measured speeds a step computes 50% less time"));
    ui_answer(&replay.ui, REQUEST_SHOW, shown, NULL);
    expect_on_screen("checkpoint after step 470, 2025-11-20 14:47:11", true);
    expect_on_screen("step 20, epoch 1: rows 192 + 64, by the measured speeds a step computes 50%",
                     true);
    json_object_set_new(shown, "checkpoint", json_null());
    ui_answer(&replay.ui, REQUEST_SHOW, shown, NULL);
    expect_on_screen("checkpoint after", false);
    json_decref(shown);
}
END_TEST

START_TEST(details_follow_the_run)
{
    replay_keys(&replay, "<Home><Enter>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUN);
    ck_assert_int_eq(replay.ui.details.epoch_count, 5);
    expect_on_screen("lr from 0.2 to 0.05", true);
    expect_on_screen("J/epoch", false);
    expect_on_screen("weight-decay     0.0005", true);
    replay_line(&replay,
                "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":18,\"epoch\":6,"
                "\"test_acc\":0.9912,\"energy_j\":512.5,\"samples_per_j\":117,\"seconds\":10,"
                "\"eval_s\":1,\"devices\":[{\"device\":"
                "\"cpu:0\",\"compute_s\":6,\"sync_s\":1,\"wait_s\":3},{\"device\":\"cpu:1\","
                "\"compute_s\":8,\"sync_s\":1,\"wait_s\":1}]}}");
    ck_assert_int_eq(replay.ui.details.epoch_count, 6);
    ck_assert_double_eq(replay.ui.details.measure.epochs[5].sync_s, 2);
    ck_assert_double_eq(replay.ui.details.measure.epochs[5].wait_s, 4);
    ck_assert_int_eq(details_slowest(&replay.ui.details), 1);
    ck_assert_int_eq(details_best(&replay.ui.details), 5);
    expect_on_screen("0.9912", true);
    expect_on_screen("energy     512 J/epoch, 117 samples/J", true);
    expect_on_screen("Devices in epoch 6", true);
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"end\",\"run\":18,"
                         "\"status\":\"done\"}}");
    ck_assert_int_eq(replay.wanted_count, 1);
    /* Of other runs nothing is taken. */
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":17,"
                         "\"epoch\":7}}");
    ck_assert_int_eq(replay.ui.details.epoch_count, 6);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    expect_selected(18);
}
END_TEST

START_TEST(epochs_before_a_resume_elsewhere_do_not_count)
{
    replay_keys(&replay, "/run=13<Enter><Enter>");
    json_t *shown = json_deep_copy(json_object_get(replay.shows, "13"));
    const json_int_t epochs = (json_int_t)json_array_size(json_object_get(shown, "epochs"));
    ck_assert_int_gt(epochs, 1);
    json_object_set_new(shown, "measured_from", json_integer(2));
    ui_answer(&replay.ui, REQUEST_SHOW, shown, NULL);
    expect_on_screen("Where the time went after epoch 2", true);
    expect_on_screen("Epochs before 2 do not count as speed: the run was resumed", true);
    json_object_set_new(shown, "measured_from", json_integer(epochs + 1));
    ui_answer(&replay.ui, REQUEST_SHOW, shown, NULL);
    expect_on_screen("- no epoch has ended since", true);
    json_decref(shown);
}
END_TEST

/* The first epoch is warm-up here as on the compare page, which has its shares from the outcome. */
START_TEST(time_is_that_of_a_comparison)
{
    struct error err = ERROR_INIT;
    struct outcome outcome;
    char text[64];
    replay_keys(&replay, "/run=4<Enter><Enter>");
    const struct run_details *details = &replay.ui.details;
    const struct measure *measure = &details->measure;
    struct measured_time time = measure_time(measure);
    double seconds = 0, eval_s = 0;
    ck_assert_int_eq(measure->count, 4);
    ck_assert_int_eq(details->epoch_count, 4);
    for (int i = 1; i < measure->count; i++) {
        seconds += measure->epochs[i].seconds;
        eval_s += measure->epochs[i].eval_s;
    }
    ck_assert_double_eq_tol(time.seconds, seconds, 1e-6);
    ck_assert_double_eq_tol(time.eval_s, eval_s, 1e-6);
    ck_assert(time.wait_s > time.sync_s && time.sync_s > 0);
    ck_assert(outcome_make(&outcome, &measure, 1, NAN, &err));
    snprintf(text, sizeof text, "%.0f%% computing, %.0f%% all-reduce, %.0f%% waiting",
             100 * (1 - outcome.sync_share - outcome.wait_share), 100 * outcome.sync_share,
             100 * outcome.wait_share);
    expect_on_screen(text, true);
    expect_on_screen("Where the time went after the first epoch", true);
}
END_TEST

static void tell_epoch(int number, const char *noise)
{
    char line[200];
    snprintf(line, sizeof line,
             "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":18,\"epoch\":%d%s}}",
             number, noise);
    replay_line(&replay, line);
}

START_TEST(rates_of_epochs_are_never_cut)
{
    replay_keys(&replay, "<Home><Enter>");
    replay_line(&replay,
                "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":18,\"epoch\":6,"
                "\"lr\":8.6341e-05}}");
    replay_line(&replay,
                "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":18,\"epoch\":7,"
                "\"lr\":0.086341}}");
    char *screen = replay_screen(&replay, 100, 80, false);
    ck_assert_ptr_nonnull(strstr(screen, "     6  8.63e-05 "));
    ck_assert_ptr_nonnull(strstr(screen, "     7   0.08634 "));
    free(screen);
}
END_TEST

/* The newest that is known; a run that has none says nothing of it. */
START_TEST(details_have_the_noise_scale)
{
    replay_keys(&replay, "<Home><Enter>");
    expect_on_screen("noise      scale", false);
    tell_epoch(6, ",\"noise_scale\":812");
    tell_epoch(7, ",\"noise_scale\":1904.2");
    expect_on_screen("noise      scale 1.90k rows: batches of ", true);
    tell_epoch(8, ",\"noise_scale\":null");
    expect_on_screen("noise      scale 1.90k rows: batches of ", true);
}
END_TEST

START_TEST(details_scroll_to_their_end)
{
    char *screen;
    replay_keys(&replay, "<Home><Enter>");
    free(replay_screen(&replay, 24, 80, false));
    replay_keys(&replay, "<End>");
    int last = replay.ui.line;
    ck_assert_int_gt(last, 10);
    replay_keys(&replay, "<Down>");
    ck_assert_int_eq(replay.ui.line, last);
    screen = replay_screen(&replay, 24, 80, false);
    ck_assert_ptr_nonnull(strstr(screen, "\n    *5 "));
    free(screen);
    /* On a screen that holds all of it one key leads back from the end that was. */
    free(replay_screen(&replay, 60, 200, false));
    replay_keys(&replay, "<Up>");
    ck_assert_int_eq(replay.ui.line, 0);
}
END_TEST

START_TEST(details_of_a_deleted_run_close)
{
    replay_keys(&replay, "/run=4<Enter><Enter>Xy");
    ck_assert_str_eq(replay_last(&replay), "delete {\"run\":4}");
    without_run(4);
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    expect_message("run 4 is deleted");
}
END_TEST

/* Of a run with a schedule the first line has the rate of the next step. */
START_TEST(a_schedule_shows_its_rate)
{
    static const char *const schedules[] = {"null", "\"cosine\""};
    for (int i = 0; i < 2; i++) {
        char line[300];
        snprintf(line, sizeof line,
                 "{\"method\":\"state\",\"params\":{\"pid\":1,\"devices\":[],\"run\":{\"run\":18,"
                 "\"status\":\"running\",\"phase\":\"train\",\"lr\":0.08712,\"lr_schedule\":%s}}}",
                 schedules[i]);
        replay_line(&replay, line);
        expect_on_screen("lr 0.0871", i == 1);
    }
}
END_TEST

/* The digest of what runs have in common: a schedule counts, and one of an older run, which has
 * none, is that of a run without. */
START_TEST(older_runs_have_the_defaults)
{
    static const char *const specs[] = {
        "{\"momentum\":0.9,\"cpu_threads\":2}",
        "{\"momentum\":0.9,\"cpu_threads\":1,\"lr_schedule\":\"constant\",\"warmup\":0}",
        "{\"momentum\":0.9,\"cpu_threads\":2,\"lr_schedule\":\"cosine\"}",
        "{\"momentum\":0.9,\"cpu_threads\":\"2,1\"}",
        "{\"momentum\":0.9,\"of_a_newer_version\":1}",
    };
    static const char pipeline[] =
        "{\"momentum\":0.9,\"strategy\":\"pipeline\",\"micro_batches\":8}";
    unsigned long digest[5];
    struct run_setting staged;
    json_t *stages = json_loads(pipeline, 0, NULL);
    read_setting_of_spec(stages, &staged);
    json_decref(stages);
    ck_assert_str_eq(staged.strategy, "pipeline");
    for (int i = 0; i < 5; i++) {
        struct run_setting setting;
        json_t *spec = json_loads(specs[i], 0, NULL);
        read_setting_of_spec(spec, &setting);
        digest[i] = setting.digest;
        /* An engine of a newer version tells the digest. */
        ck_assert_int_eq(digest[i] != 0, i < 4);
        ck_assert_str_eq(setting.strategy, i < 4 ? "data" : "");
        json_decref(spec);
    }
    ck_assert(digest[0] == digest[1] && digest[0] == staged.digest);
    for (int i = 2; i < 5; i++)
        ck_assert_msg(digest[i] != digest[0], "%s", specs[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run");
    TCase *tests = runs_case("ui run");
    tcase_add_test(tests, details_show_checkpoints_and_shares);
    tcase_add_test(tests, details_follow_the_run);
    tcase_add_test(tests, epochs_before_a_resume_elsewhere_do_not_count);
    tcase_add_test(tests, time_is_that_of_a_comparison);
    tcase_add_test(tests, rates_of_epochs_are_never_cut);
    tcase_add_test(tests, details_have_the_noise_scale);
    tcase_add_test(tests, details_scroll_to_their_end);
    tcase_add_test(tests, details_of_a_deleted_run_close);
    tcase_add_test(tests, a_schedule_shows_its_rate);
    tcase_add_test(tests, older_runs_have_the_defaults);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
