/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/support.h"
#include "tests/ui/replay.h"
#include "ui/control/control.h"
#include "ui/control/engine.h"
#include "ui/session/grid.h"
#include "ui/session/sweep.h"

/* The compare view by its keys: what is compared, and what a sweep asks of the engine. */

static struct replay replay;

static void begin(void)
{
    replay_begin(&replay);
}

static void end(void)
{
    replay_end(&replay);
}

/* The newest submit; answers make other requests after it. */
static const char *last_submit(void)
{
    for (int i = replay.asked_count - 1; i >= 0; i--)
        if (strncmp(replay.asked[i], "submit ", 7) == 0)
            return replay.asked[i];
    return "none";
}

/* It has these settings. */
static void check_submit(const char *devices, long batch, double lr, const char *note)
{
    const char *last = last_submit();
    ck_assert_msg(strncmp(last, "submit ", 7) == 0, "%s", last);
    json_t *params = json_loads(last + 7, 0, NULL);
    ck_assert_msg(params != NULL, "%s", last);
    ck_assert_str_eq(json_string_value(json_object_get(params, "devices")), devices);
    ck_assert_int_eq(json_integer_value(json_object_get(params, "batch")), batch);
    ck_assert_double_eq_tol(json_number_value(json_object_get(params, "lr")), lr, 1e-9);
    ck_assert_int_eq(json_integer_value(json_object_get(params, "cpu_threads")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(params, "seed")), 1);
    ck_assert_str_eq(json_string_value(json_object_get(params, "note")), note);
    json_decref(params);
}

static void answer_submit(long run)
{
    struct error none = ERROR_INIT;
    json_t *result = json_pack("{s:I}", "run", (json_int_t)run);
    ck_assert_ptr_nonnull(result);
    ui_answer(&replay.ui, REQUEST_SWEEP, result, &none);
    json_decref(result);
}

static int count_submits(void)
{
    int count = 0;
    for (int i = 0; i < replay.asked_count; i++)
        count += strncmp(replay.asked[i], "submit ", 7) == 0;
    return count;
}

static void clear_requests(void)
{
    replay.asked_count = 0;
}

START_TEST(a_sweep_for_strong_scaling)
{
    static const char note[] = "sweep: strong scaling, batch 256 on 1-2-3 devices";
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "<Down> +Cw");
    ck_assert_str_eq(
        replay.ui.question_text,
        "Train the default network on 1, 2, 3 devices of cpu:0-2 (batch 256, lr 0.1)?");
    clear_requests();
    replay_keys(&replay, "f");
    check_submit("cpu:0", 256, 0.1, note);
    /* The next one when this one stands in the queue. */
    ck_assert_int_eq(count_submits(), 1);
    clear_requests();
    answer_submit(1);
    ck_assert_int_eq(count_submits(), 1);
    check_submit("cpu:0-1", 256, 0.1, note);
    ck_assert(!ui_can(&replay.ui, ACTION_SWEEP));
    answer_submit(2);
    clear_requests();
    answer_submit(3);
    ck_assert_int_eq(count_submits(), 0);
    ck_assert_str_eq(replay.ui.message.text, "the sweep's 3 runs are in the queue, up to run 3");
    ck_assert(ui_can(&replay.ui, ACTION_SWEEP));
    /* Its runs are what is compared now. */
    ck_assert_int_eq(replay.ui.compare.anchor, 1);
    ck_assert_int_eq(replay.ui.selected_run, 1);
}
END_TEST

START_TEST(a_sweep_for_weak_scaling)
{
    static const char note[] = "sweep: weak scaling, batch 256 to 768 on 1-2-3 devices";
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "<Down> +Cwg");
    check_submit("cpu:0", 256, 0.1, note);
    clear_requests();
    answer_submit(1);
    check_submit("cpu:0-1", 512, 0.2, note);
    answer_submit(2);
    check_submit("cpu:0-2", 768, 0.3, note);
}
END_TEST

START_TEST(all_devices_while_one_is_chosen)
{
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "Cw");
    ck_assert_str_eq(replay.ui.question_text,
                     "Train the default network on 1, 2 devices of cpu:0-1 (batch 256, lr 0.1)?");
    /* No is no. */
    clear_requests();
    replay_keys(&replay, "n");
    ck_assert_ptr_null(replay.ui.question);
    ck_assert_int_eq(replay.asked_count, 0);
}
END_TEST

START_TEST(a_sweep_that_is_refused)
{
    struct error failure = {ERROR_FAILED, "there is no data set of that name"};
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "Cwf");
    clear_requests();
    ui_answer(&replay.ui, REQUEST_SWEEP, NULL, &failure);
    ck_assert_str_eq(replay.ui.message.text, failure.text);
    ck_assert_int_eq(count_submits(), 0);
    ck_assert(ui_can(&replay.ui, ACTION_SWEEP));
    /* One that cannot be is not begun: 255 rows and two devices. */
    replay_keys(&replay, "D<Tab>");
    struct error err = ERROR_INIT;
    ck_assert(form_set(&replay.ui.form, FORM_BATCH, "255", &err));
    ck_assert(form_set(&replay.ui.form, FORM_SPLIT, "even", &err));
    clear_requests();
    replay_keys(&replay, "Cwf");
    ck_assert(replay.ui.message.bad);
    ck_assert_int_eq(count_submits(), 0);
    replay_keys(&replay, "wg");
    ck_assert_int_eq(count_submits(), 1);
}
END_TEST

/* All slices of a network see all rows, and all stages those of their pipeline. */
START_TEST(a_plan_has_the_rows_of_each_device)
{
    static const struct {
        const char *strategy, *replicas, *line;
    } cases[] = {
        {"data", "1", "2 cpu:0-1            256      0.1      128"},
        {"mixed", "1", "2 cpu:0-1            256      0.1      128"},
        {"tensor", "1", "2 cpu:0-1            256      0.1      256"},
        {"pipeline", "1", "2 cpu:0-1            256      0.1      256"},
        {"pipeline", "2", "2 cpu:0-1            256      0.1      128"},
    };
    struct error err = ERROR_INIT;
    struct form *form = &replay.ui.form;
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "C");
    for (int small = 0; small < 2; small++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            ck_assert(form_set(form, FORM_BATCH, small ? "1" : "256", &err));
            ck_assert(form_set(form, FORM_STRATEGY, cases[i].strategy, &err) &&
                      form_set(form, FORM_REPLICAS, cases[i].replicas, &err));
            replay_keys(&replay, "w");
            char *screen = replay_screen(&replay, 24, 80, false);
            if (!small)
                ck_assert_msg(strstr(screen, cases[i].line), "%s", screen);
            else
                ck_assert(!strstr(screen, "leaves devices without rows") ==
                          !strategy_divides_rows(form->spec.strategy));
            free(screen);
            replay_keys(&replay, "n");
        }
}
END_TEST

START_TEST(one_device_has_no_sweep_of_devices)
{
    ui_connected(&replay.ui);
    replay_line(&replay, "{\"method\":\"state\",\"params\":{\"devices\":[{\"device\":\"cpu:0\","
                         "\"cores\":4}]}}");
    replay_keys(&replay, "Cw");
    /* It can still take several values of settings. */
    ck_assert_ptr_null(replay.ui.question);
    ck_assert_ptr_nonnull(replay.ui.prompt);
}
END_TEST

/* One of the grid "batch=128,256 optimizer=sgd,adam repeats=2", by its number from 0: what was not
 * given is left to the engine, as when the form is submitted. */
static void check_grid_submit(int number)
{
    static const char *const optimizers[] = {"sgd", "adam"};
    long batch = number / 2 % 2 ? 256 : 128;
    json_t *params = json_loads(last_submit() + 7, 0, NULL);
    char note[200];
    snprintf(note, sizeof note, "compare w1: batch %ld, optimizer %s, seed %d (%d/8)", batch,
             optimizers[number % 2], 1 + number / 4, number + 1);
    ck_assert_str_eq(json_string_value(json_object_get(params, "note")), note);
    ck_assert_int_eq(json_integer_value(json_object_get(params, "batch")), batch);
    ck_assert_int_eq(json_integer_value(json_object_get(params, "seed")), 1 + number / 4);
    ck_assert_str_eq(json_string_value(json_object_get(params, "optimizer")),
                     optimizers[number % 2]);
    ck_assert_ptr_null(json_object_get(params, "lr"));
    json_decref(params);
}

START_TEST(a_sweep_over_values)
{
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "Cwvbatch=128,256 optimizer=sgd,adam repeats=2<Enter>");
    ck_assert_str_eq(replay.ui.question_text,
                     "Train the default network on the default devices, 4 variants of batch and "
                     "optimizer, 2 runs each: 8 runs?");
    clear_requests();
    replay_keys(&replay, "n");
    ck_assert_int_eq(count_submits(), 0);
    replay_keys(&replay, "wvbatch=128,256 optimizer=sgd,adam repeats=2<Enter>y");
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(count_submits(), 1);
        check_grid_submit(i);
        ck_assert(!ui_can(&replay.ui, ACTION_SWEEP));
        clear_requests();
        answer_submit(i + 1);
    }
    ck_assert_int_eq(count_submits(), 0);
    ck_assert_str_eq(replay.ui.message.text, "the sweep's 8 runs are in the queue, up to run 8");
    ck_assert_int_eq(replay.ui.compare.anchor, 1);
    /* The next one of devices is one of devices again. */
    replay_keys(&replay, "wf");
    check_submit("cpu:0", 256, 0.1, "sweep: strong scaling, batch 256 on 1-2 devices");
}
END_TEST

START_TEST(settings_have_two_names)
{
    static const struct {
        const char *typed, *title;
    } names[] = {{"decay=0,0.1 smoothing=0,0.1", "weight-decay and label-smoothing"},
                 {"weight_decay=0,0.1", "weight-decay"},
                 {"stop-acc=0.5,0.6 schedule=cosine,linear", "stop-at-acc and lr-schedule"}};
    replay_recording(&replay, "idle", 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        replay_keys(&replay, "Cwv");
        replay_keys(&replay, names[i].typed);
        replay_keys(&replay, "<Enter>");
        ck_assert_ptr_nonnull(replay.ui.question);
        ck_assert_msg(strstr(replay.ui.question_text, names[i].title), "%s",
                      replay.ui.question_text);
        replay_keys(&replay, "nD");
    }
}
END_TEST

/* They stay in the line, to be mended. */
START_TEST(wrong_values_are_refused)
{
    static const struct {
        const char *typed, *message;
    } wrong[] = {
        {"batch", "'batch': type SETTING=VALUE,VALUE"},
        {"batch=128", "batch=128: type several values with commas between"},
        {"bath=1,2", "'bath' is no setting: type a name of the form, or an option's, such as "
                     "weight-decay"},
        {"model=lenet,linear", "model=lenet,linear: model has one value in a sweep, that of the "
                               "form"},
        {"threads=1,2", "threads=1,2: cpu-threads has one value in a sweep, that of the form"},
        {"decay=0,1 weight-decay=2,3",
         "weight-decay is there twice: type all its values in one list"},
        {"seed=1,2", "seed=1,2: type repeats=3 for 3 seeds, from the form's on"},
        {"repeats=2", "no setting has several values: type them as batch=128,256 lr=0.05,0.1"},
        {"batch=1,2 repeats=0", "repeats=0: a whole number from 1 to 120"},
        {"batch=1,2 lr=1,2 momentum=0,1", "at most 2 settings can have several values"},
        {"batch=64,64", "'batch 64' is there twice"},
        {"batch=1,2,4 lr=1,2,3 repeats=20",
         "180 runs: the workbench submits at most 120, dpartui compare more"},
    };
    replay_recording(&replay, "idle", 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        clear_requests();
        replay_keys(&replay, "Cwv");
        replay_keys(&replay, wrong[i].typed);
        replay_keys(&replay, "<Enter>");
        ck_assert_ptr_nonnull(replay.ui.prompt);
        ck_assert_str_eq(replay.ui.message.text, wrong[i].message);
        replay_keys(&replay, "<Esc>D");
        ck_assert_int_eq(count_submits(), 0);
    }
}
END_TEST

START_TEST(a_grid_of_values)
{
    struct grid grid;
    replay_recording(&replay, "grid", 0);
    replay_keys(&replay, "C");
    ck_assert(grid_make(&replay.ui, &grid));
    ck_assert_int_eq(grid.table.count, 6);
    ck_assert_int_eq(grid.count, 12);
    ck_assert_str_eq(grid.value[4][0], "256");
    ck_assert_str_eq(grid.value[4][1], "0.1");
    ck_assert_int_eq(grid.table.rows[0].done, 2);
    ck_assert_int_eq(grid.table.rows[3].done, 1);
    /* As the command has it: over the two seeds. */
    const struct state_run *first = state_run(&replay.ui.state, 1),
                           *second = state_run(&replay.ui.state, 7);
    const struct spread *accuracy = &grid.table.rows[0].outcome.test_acc;
    ck_assert_double_eq_tol(accuracy->mean, (first->test_acc + second->test_acc) / 2, 1e-12);
    ck_assert(accuracy->low == fmin(first->test_acc, second->test_acc));
    ck_assert(accuracy->high == fmax(first->test_acc, second->test_acc));
    /* Run 10 trains, two wait: the rest of it and two like those that are done. */
    double epoch = 235 * 256 / 2300.0;
    ck_assert(grid_seconds_left(&replay.ui, &grid) > epoch);
    /* Lines are variants; their first run that has not ended is selected. */
    static const long expected[] = {1, 2, 3, 10, 11, 12, 12};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        replay.ui.selected_run = i == 0 ? 0 : replay.ui.selected_run;
        replay_keys(&replay, "<Down>");
        ck_assert_int_eq(replay.ui.selected_run, expected[i]);
    }
    /* The waiting runs of the last line, or of the whole sweep. */
    replay_keys(&replay, "x");
    ck_assert_str_eq(replay.ui.question_text,
                     "Take run 12 out of the queue, or all 2 waiting runs of its sweep?");
    replay_keys(&replay, "r");
    ck_assert_str_eq(replay.asked[replay.asked_count - 2], "stop {\"run\":12,\"when\":\"step\"}");
    ck_assert_str_eq(replay_last(&replay), "stop {\"run\":11,\"when\":\"step\"}");
    for (int i = 0; i < COMPARE_TARGET - 1; i++) { /* no efficiency, and no target */
        replay_keys(&replay, "c");
        ck_assert_int_ne(replay.ui.compare.grid_metric, COMPARE_EFFICIENCY);
    }
    ck_assert_int_eq(replay.ui.compare.grid_metric, COMPARE_ACCURACY);
}
END_TEST

START_TEST(progress_of_a_sweep)
{
    struct sweep_progress progress;
    replay_recording(&replay, "sweep", 0);
    ck_assert(sweep_progress(&replay.ui, &progress));
    ck_assert_int_eq(progress.count, 3);
    ck_assert_int_eq(progress.ended, 1);
    ck_assert_int_eq(progress.waiting, 1);
    ck_assert_ptr_nonnull(progress.live);
    ck_assert_int_eq(progress.live->run, 2);
    ck_assert(!progress.at_least);
    /* The rest of the running one and ten epochs on four devices, by the law of the fake engine:
     * twice the devices, 2 to the power of 0.9 times the speed. */
    double epoch = 235 * 256 / 2300.0;
    double expected = replay.ui.state.live.eta_s + 10 * epoch / 3.4822022531844965;
    ck_assert_double_eq_tol(progress.left_s, expected, expected * 0.01);
    ui_disconnected(&replay.ui, LINK_LOST, "gone");
    ck_assert(!sweep_progress(&replay.ui, &progress));
}
END_TEST

START_TEST(the_same_sweep_twice)
{
    struct sweep_progress progress;
    struct text list = TEXT_INIT;
    ui_connected(&replay.ui);
    replay_line(&replay, "{\"id\":1,\"method\":\"runs\"}");
    text_puts(&list, "{\"id\":1,\"result\":[");
    for (int i = 0; i < 6; i++)
        text_printf(&list,
                    "%s{\"run\":%d,\"status\":\"%s\",\"note\":\"sweep: x\",\"devices\":[%s]}",
                    i > 0 ? "," : "", i + 1, i < 1 ? "done" : "queued",
                    i % 3 == 0   ? "\"cpu:0\""
                    : i % 3 == 1 ? "\"cpu:0\",\"cpu:1\""
                                 : "\"cpu:0\",\"cpu:1\",\"cpu:2\"");
    text_puts(&list, "]}");
    replay_line(&replay, text_cstr(&list));
    text_free(&list);
    ck_assert(sweep_progress(&replay.ui, &progress));
    ck_assert_int_eq(progress.count, 3);
    ck_assert_int_eq(progress.runs[0]->run, 1);
    ck_assert_int_eq(progress.waiting, 2);
    /* Nothing is measured. */
    ck_assert_double_nan(progress.left_s);
    clear_requests();
    replay.ui.selected_run = 2;
    replay_keys(&replay, "Cx");
    ck_assert_str_eq(replay.ui.question_text,
                     "Take run 2 out of the queue, or all 2 waiting runs of its sweep?");
    replay_keys(&replay, "r");
    ck_assert_int_ge(replay.asked_count, 2);
    ck_assert_str_eq(replay.asked[replay.asked_count - 2], "stop {\"run\":3,\"when\":\"step\"}");
    ck_assert_str_eq(replay_last(&replay), "stop {\"run\":2,\"when\":\"step\"}");
    replay_keys(&replay, "xy");
    ck_assert_str_eq(replay_last(&replay), "stop {\"run\":2,\"when\":\"step\"}");
}
END_TEST

START_TEST(rows_are_walked_through)
{
    struct comparison comparison;
    replay_recording(&replay, "compare-2", 0);
    replay_keys(&replay, "C");
    comparison_make(&replay.ui, &comparison);
    ck_assert_int_eq(comparison.count, 2);
    ck_assert_int_eq(comparison_lines(&comparison), 4);
    /* The table stays as it is, although run 1 stands in it twice. */
    static const long expected[] = {1, 2, 1, 3, 3};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        replay_keys(&replay, "<Down>");
        ck_assert_int_eq(replay.ui.selected_run, expected[i]);
        comparison_make(&replay.ui, &comparison);
        ck_assert_int_eq(comparison_lines(&comparison), 4);
    }
    replay_keys(&replay, " ");
    ck_assert(ui_is_marked(&replay.ui, 3));
    replay_keys(&replay, "<Enter>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUN);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_COMPARE);
    comparison_make(&replay.ui, &comparison);
    ck_assert_int_eq(comparison_lines(&comparison), 4);
    replay_keys(&replay, "u");
    ck_assert_str_eq(replay_last(&replay), "show {\"run\":3}");
    for (int i = 0; i < COMPARE_TARGET; i++) /* there is none */
        replay_keys(&replay, "c");
    ck_assert_int_eq(replay.ui.compare.metric, COMPARE_SPEED_UP);
}
END_TEST

/* Of the runs on one device two reach 0.88 after four epochs and one after five, of 26.16 s. */
START_TEST(the_time_to_an_accuracy)
{
    struct comparison comparison;
    replay_recording(&replay, "seeds", 0);
    replay_keys(&replay, "Ct1.2<Enter>");
    ck_assert_ptr_nonnull(replay.ui.prompt);
    ck_assert(isnan(replay.ui.compare.target_acc));
    replay_keys(&replay, "<Esc>t0.88<Enter>");
    ck_assert_ptr_null(replay.ui.prompt);
    ck_assert_int_eq(replay.ui.compare.metric, COMPARE_TARGET);
    comparison_make(&replay.ui, &comparison);
    const struct spread *target = &comparison_row(&comparison, 0, NULL)->outcome.target_s;
    ck_assert_int_eq(target->count, 3);
    ck_assert_double_eq_tol(target->median, 4 * 26.1565, 0.01);
    ck_assert_double_eq_tol(target->high, 5 * 26.1565, 0.01);
    /* Without a target there is none, and its metric is passed over. */
    replay_keys(&replay, "t<Backspace><Backspace><Backspace><Backspace><Enter>");
    ck_assert(isnan(replay.ui.compare.target_acc));
    ck_assert_int_eq(replay.ui.compare.metric, COMPARE_SPEED_UP);
}
END_TEST

START_TEST(marked_and_selected_runs_choose)
{
    struct comparison comparison;
    /* Run 3 sums on the central device: alone of its kind. */
    replay_recording(&replay, "finished", 0);
    replay.ui.selected_run = 3;
    replay_keys(&replay, "C");
    comparison_make(&replay.ui, &comparison);
    ck_assert_int_eq(comparison.anchor->run, 3);
    ck_assert(!comparison_says_something(&comparison));
    ck_assert(!ui_can(&replay.ui, ACTION_NEXT_METRIC));
    replay_keys(&replay, "D");
    ui_toggle_mark(&replay.ui, 2);
    replay_keys(&replay, "C");
    comparison_make(&replay.ui, &comparison);
    ck_assert_int_eq(comparison.anchor->run, 2);
    ck_assert(comparison_says_something(&comparison));
    ck_assert_int_eq(comparison.series[0].scaling, SCALING_WEAK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tests = tcase_create("sweep");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_sweep_for_strong_scaling);
    tcase_add_test(tests, a_sweep_for_weak_scaling);
    tcase_add_test(tests, all_devices_while_one_is_chosen);
    tcase_add_test(tests, a_sweep_that_is_refused);
    tcase_add_test(tests, a_plan_has_the_rows_of_each_device);
    tcase_add_test(tests, one_device_has_no_sweep_of_devices);
    tcase_add_test(tests, a_sweep_over_values);
    tcase_add_test(tests, settings_have_two_names);
    tcase_add_test(tests, wrong_values_are_refused);
    tcase_add_test(tests, a_grid_of_values);
    tcase_add_test(tests, progress_of_a_sweep);
    tcase_add_test(tests, the_same_sweep_twice);
    tcase_add_test(tests, rows_are_walked_through);
    tcase_add_test(tests, the_time_to_an_accuracy);
    tcase_add_test(tests, marked_and_selected_runs_choose);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
