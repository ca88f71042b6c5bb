/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/suites.h"
#include "tests/ui/runs_fixture.h"
#include "ui/actions/views.h"
#include "ui/control/engine.h"
#include "ui/panels/chart.h"

/* The list of all runs, by keys and messages. */

START_TEST(the_selection_survives)
{
    expect_selected(18); /* it runs */
    replay_keys(&replay, "<Down><Down><Down><Down>");
    expect_selected(16);
    replay_keys(&replay, "oooO");
    expect_selected(16);
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":18,"
                         "\"epoch\":6,\"test_acc\":0.99}}");
    expect_selected(16);
    /* Hidden by a filter it cannot be acted on; without the filter it is there again. */
    replay_keys(&replay, "/resnet");
    expect_selected(20);
    replay_keys(&replay, "<Esc>");
    expect_selected(16);
    ck_assert_str_eq(replay.ui.list.filter, "");
    replay_keys(&replay, "<Home>");
    long first = replay.ui.selected_run;
    replay_keys(&replay, "<Up>");
    expect_selected(first);
}
END_TEST

START_TEST(a_filter_acts_while_it_is_typed)
{
    replay_keys(&replay, "/resnet18 acc>0.8");
    expect_on_screen("6 of 20 runs match", true);
    replay_keys(&replay, "6<Enter>");
    expect_on_screen("3 of 20 runs match resnet18 acc>0.86", true);
    replay_keys(&replay, "/ nothing");
    expect_on_screen("no run matches the filter", true);
    expect_selected(0);
    replay_keys(&replay, "<Enter>X");
    ck_assert_ptr_null(replay.ui.question);
    expect_message("no run is selected: Up and Down select one");
    replay_keys(&replay, "/<Esc>");
    expect_on_screen("20 runs, by number, newest first", true);
    ck_assert(replay.ui.selected_run != 0);
}
END_TEST

START_TEST(a_filter_that_can_fit_nothing_says_why)
{
    static const char no_name[] = " is no name of a value, such as batch, lr, acc or status";
    char text[120];
    replay_keys(&replay, "/bacth=64<Enter>");
    snprintf(text, sizeof text, "no run matches: 'bacth'%s", no_name);
    expect_on_screen(text, true);
    replay_keys(&replay, "/\x15resnet18 acc>abc<Enter>");
    expect_on_screen("no run matches: acc wants a number, not 'abc'", true);
    /* It is a word as well. */
    snprintf(state_run(&replay.ui.state, 20)->note, 20, "warm a=b");
    replay_keys(&replay, "/\x15"
                         "a=b<Enter>");
    expect_selected(20);
    expect_on_screen("no run matches", false);
    replay_keys(&replay, "/\x15"
                         "a=b nothing<Enter>");
    expect_on_screen("no run matches the filter", true);
    replay_keys(&replay, "/\x15"
                         "batch=12345678<Enter>");
    expect_on_screen("no run matches the filter", true);
}
END_TEST

START_TEST(a_list_of_the_newest_says_so)
{
    replay_line(&replay, "{\"method\":\"state\",\"params\":{\"older\":3210}}");
    expect_on_screen("newest 20 of 3230 runs, by number, newest first", true);
    replay_keys(&replay, "/resnet18 acc>0.86<Enter>");
    expect_on_screen("3 of the newest 20 of 3230 runs match resnet18 acc>0.86", true);
    replay_keys(&replay, "/ nothing<Enter>");
    expect_on_screen("no listed run matches; 'dpartui runs' has older ones", true);
    expect_on_screen("no run matches", false);
    replay_line(&replay, "{\"method\":\"state\",\"params\":{\"older\":-1}}");
    expect_on_screen("0 of 20 runs match", true);
}
END_TEST

START_TEST(marks_show_and_go)
{
    replay_keys(&replay, "<Down> ");
    expect_message("run 20 waits: it has no curve yet");
    replay_keys(&replay, "<Home> ");
    ck_assert(ui_is_marked(&replay.ui, 18));
    expect_on_screen("*18", true);
    expect_on_screen("1 marked *", true);
    replay_keys(&replay, "<Down><Down><Down> <Home> ");
    ck_assert(!ui_is_marked(&replay.ui, 18));
    ck_assert(ui_is_marked(&replay.ui, 17));
    /* A mark of a run that is gone would never go. */
    without_run(17);
    ck_assert_int_eq(replay.ui.mark_count, 0);
}
END_TEST

/* All can be marked; the chart draws the first eight, each with a look of its own. */
START_TEST(more_marks_than_the_chart_draws)
{
    const struct state_run *runs[UI_CHART_RUNS];
    struct run_chart made;
    struct error err = ERROR_INIT;
    replay_keys(&replay, " <Down><Down><Down> <Down> <Down> <Down> <Down> <Down> <Down> <Down> ");
    ck_assert_int_eq(replay.ui.mark_count, 9);
    expect_message("run 10 is marked: 8 of 9 marked runs are drawn");
    expect_on_screen("9 marked * (8 drawn)", true);
    replay_keys(&replay, "<End>");
    const int count = ui_chart_runs(&replay.ui, runs);
    for (int i = 0; i < count; i++)
        ck_assert_int_ne(runs[i]->run, 10);
    ck_assert(run_chart_make(&replay.ui, METRIC_TEST_ACC, &made, &err));
    ck_assert_str_eq(made.note, "8 of 9 marked runs are drawn");
    for (int i = 0; i < made.chart.count; i++)
        for (int j = 0; j < i && made.series[i].rank == SERIES_MARKED; j++)
            ck_assert(made.series[j].rank != SERIES_MARKED || made.series[i].number == 1 ||
                      made.series[j].number == 1 || made.series[i].look != made.series[j].look);
    run_chart_free(&made);
    /* What is done to marked runs is done to all of them. */
    replay_keys(&replay, "X");
    ck_assert_str_eq(replay.ui.question_text,
                     "Delete 8 runs (#10, #11, #12, #13, #14, #15, #16, #17) with their curves and "
                     "epochs? Run 18 has not ended and stays.");
    replay_keys(&replay, "n<End> <Up> <Up> <Up> <Up> <Up> X");
    ck_assert_ptr_nonnull(strstr(replay.ui.question_text, "Delete 14 runs (#1, #2, #3, #4, "));
    ck_assert_ptr_nonnull(strstr(replay.ui.question_text, " more) with their curves"));
}
END_TEST

START_TEST(only_what_has_ended_is_deleted)
{
    replay_keys(&replay, "<Down>X");
    expect_message("run 20 has not ended: stop it first");
    replay_keys(&replay, "<Home>X");
    expect_message("run 18 has not ended: stop it first");
    ck_assert_ptr_null(replay.ui.question);
    replay_keys(&replay, "<Down><Down><Down><Down>Xn");
    ck_assert_msg(strncmp(replay_last(&replay), "delete", 6) != 0, "%s", replay_last(&replay));
    replay_keys(&replay, "Xy");
    ck_assert_str_eq(replay_last(&replay), "delete {\"run\":16}");
    without_run(16);
    /* The cursor keeps its line: the next older run. */
    expect_selected(15);
}
END_TEST

START_TEST(deleting_the_last_line_moves_up)
{
    replay_keys(&replay, "<End>");
    expect_selected(1);
    without_run(1);
    expect_selected(2);
}
END_TEST

START_TEST(the_queue_moves)
{
    replay_keys(&replay, "<Down>J");
    expect_message("run 20 is the last of the queue already");
    replay_keys(&replay, "K");
    ck_assert_str_eq(replay_last(&replay), "move {\"run\":20,\"place\":0}");
    expect_message("run 20 is the next one");
    expect_on_screen("queued 1", true);
    ck_assert_int_eq(state_queue_place(&replay.ui.state, 19), 1);
    replay_keys(&replay, "KJ");
    ck_assert_str_eq(replay_last(&replay), "move {\"run\":20,\"place\":1}");
    replay_keys(&replay, "<Home>K");
    expect_message("run 18 does not wait");
}
END_TEST

START_TEST(notes_are_written)
{
    char text[402];
    replay_keys(&replay, "t");
    ck_assert_str_eq(replay.ui.editor.text, "lr lowered by hand");
    replay_keys(&replay, ", so so<Enter>");
    ck_assert_str_eq(replay_last(&replay),
                     "note {\"run\":18,\"text\":\"lr lowered by hand, so so\"}");
    replay_keys(&replay, "t");
    memset(text, 'x', 401);
    text[401] = '\0';
    replay_keys(&replay, "\x15");
    replay_keys(&replay, text);
    replay_keys(&replay, "<Enter>");
    expect_message("wants at most 400 bytes, these are 401");
    ck_assert_ptr_nonnull(replay.ui.prompt);
}
END_TEST

START_TEST(tags_are_written)
{
    char text[70];
    replay_keys(&replay, "Tthesis,  warm<Enter>");
    ck_assert_str_eq(replay_last(&replay),
                     "tag {\"run\":18,\"add\":[\"thesis\",\"warm\"],\"remove\":[]}");
    struct state_run *run = state_run(&replay.ui.state, 18);
    snprintf(run->tags, sizeof run->tags, "thesis warm");
    expect_on_screen("#thesis #warm lr lowered by hand", true);
    replay_keys(&replay, "T");
    ck_assert_str_eq(replay.ui.editor.text, "thesis warm ");
    replay_keys(&replay, "cold<Enter>");
    ck_assert_str_eq(replay_last(&replay), "tag {\"run\":18,\"add\":[\"cold\"],\"remove\":[]}");
    replay_keys(&replay, "T\x15warm cold warmer<Enter>");
    ck_assert_str_eq(replay_last(&replay),
                     "tag {\"run\":18,\"add\":[\"cold\",\"warmer\"],\"remove\":[\"thesis\"]}");
    memset(text, 'x', 61);
    text[61] = '\0';
    replay_keys(&replay, "T");
    replay_keys(&replay, text);
    replay_keys(&replay, "<Enter>");
    expect_message("wants words of at most 60 bytes, this one has 61: xxxxxxxxxxxx...");
    ck_assert_ptr_nonnull(replay.ui.prompt);
    replay_keys(&replay, "<Esc>T\x15");
    for (int i = 0; i < 21; i++)
        replay_keys(&replay, "x ");
    replay_keys(&replay, "<Enter>");
    expect_message("wants at most 20 words, these are 21");
}
END_TEST

START_TEST(tags_of_others_stay)
{
    struct state_run *run = state_run(&replay.ui.state, 18);
    snprintf(run->tags, sizeof run->tags, "thesis");
    replay_keys(&replay, "T");
    snprintf(run->tags, sizeof run->tags, "thesis theirs");
    replay_keys(&replay, "mine<Enter>");
    ck_assert_str_eq(replay_last(&replay), "tag {\"run\":18,\"add\":[\"mine\"],\"remove\":[]}");
}
END_TEST

START_TEST(signs_before_tags_are_no_part_of_them)
{
    struct state_run *run = state_run(&replay.ui.state, 18);
    replay_keys(&replay, "T#c +good,a+b # ##d<Enter>");
    ck_assert_str_eq(
        replay_last(&replay),
        "tag {\"run\":18,\"add\":[\"c\",\"good\",\"a+b\",\"#\",\"#d\"],\"remove\":[]}");
    snprintf(run->tags, sizeof run->tags, "good #odd");
    replay_keys(&replay, "T\x15+good #odd<Enter>");
    ck_assert_str_eq(replay_last(&replay), "tag {\"run\":18,\"add\":[],\"remove\":[]}");
}
END_TEST

/* So many of a run, says the engine. */
static void answer_checkpoints(int run, int count)
{
    json_t *answer = json_pack("{s:[i], s:i, s:i}", "runs", run, "count", count, "bytes", 1);
    ck_assert_ptr_nonnull(answer);
    ui_answer(&replay.ui, REQUEST_CHECKPOINTS, answer, NULL);
    json_decref(answer);
}

START_TEST(what_has_ended_resumes)
{
    replay_keys(&replay, "a");
    ck_assert_ptr_null(replay.ui.prompt);
    expect_message("run 18 has not ended");
    /* Without a checkpoint there is nothing to ask for, unless it begins again. */
    replay_keys(&replay, "/run=4<Enter>a");
    ck_assert_str_eq(replay_last(&replay), "checkpoints {\"runs\":[4]}");
    answer_checkpoints(5, 0);
    answer_checkpoints(4, 1);
    ck_assert_ptr_nonnull(replay.ui.prompt);
    answer_checkpoints(4, 0);
    ck_assert_ptr_null(replay.ui.prompt);
    expect_message("run 4 left no checkpoint to resume from");
    /* Stopped in its second epoch of four. */
    replay_keys(&replay, "/run=13<Enter>a");
    ck_assert_str_eq(replay.ui.editor.text, "4");
    replay_keys(&replay, "<Enter>");
    ck_assert_str_eq(replay_last(&replay), "submit {\"resume\":13,\"epochs\":4}");
    replay_keys(&replay, "a6 on cpu:0-1<Enter>");
    ck_assert_str_eq(replay_last(&replay),
                     "submit {\"resume\":13,\"epochs\":6,\"devices\":\"cpu:0-1\"}");
    replay_keys(&replay, "asome<Enter>");
    expect_message("wants a whole number from 1 to 1000000, such as 20 or 20 on cpu:0-1");
    replay_keys(&replay, "<Esc>a6 tpu:0<Enter>");
    ck_assert_ptr_nonnull(replay.ui.prompt);
    ck_assert(replay.ui.message.bad);
    /* Nothing is left to do for one that is done, but for more epochs. */
    replay_keys(&replay, "<Esc>/run=4<Enter>a");
    ck_assert_str_eq(replay.ui.editor.text, "8");
    replay_keys(&replay, "4<Enter>");
    expect_message("it has done 4: give it more");
    ck_assert_ptr_nonnull(replay.ui.prompt);
}
END_TEST

START_TEST(resuming_drops_what_came_after)
{
    replay_keys(&replay, "/run=13<Enter>");
    struct state_run *run = state_run(&replay.ui.state, 13);
    ck_assert_int_gt(run->point_count, 0);
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"run\",\"run\":13,"
                         "\"resumed_at\":235}}");
    run = state_run(&replay.ui.state, 13);
    ck_assert_int_eq(run->point_count, 0);
    ck_assert_int_eq(run->fine_count, 0);
    /* Its curve is on the screen, so it is requested again. */
    ck_assert(run->curve_known);
    ck_assert_int_eq(replay.wanted[replay.wanted_count - 1], 13);
}
END_TEST

START_TEST(the_selected_run_is_controlled)
{
    replay_keys(&replay, "<Down>x");
    ck_assert_str_eq(replay.ui.question_text, "Take run 20 out of the queue?");
    replay_keys(&replay, "yp");
    ck_assert_str_eq(replay_last(&replay), "stop {\"run\":20,\"when\":\"step\"}");
    expect_message("run 20 waits: there is nothing to pause");
    replay_keys(&replay, "r0.5<Enter>");
    ck_assert_str_eq(replay_last(&replay), "set_lr {\"run\":20,\"lr\":0.5}");
    replay_keys(&replay, "<Home>p");
    ck_assert_str_eq(replay_last(&replay), "pause {\"run\":18}");
    expect_message("run 18 pauses after this step");
    /* Never another run than the one in focus. */
    replay_keys(&replay, "<Down><Down><Down>x");
    ck_assert_ptr_null(replay.ui.question);
    expect_message("run 17 has ended");
}
END_TEST

START_TEST(settings_go_into_the_form)
{
    replay_keys(&replay, "/run=4<Enter>u");
    ck_assert_str_eq(replay_last(&replay), "show {\"run\":4}");
    ui_answer(&replay.ui, REQUEST_COPY, json_object_get(replay.shows, "4"), NULL);
    expect_message("the form has the settings of run 4");
    ck_assert_int_eq(replay.ui.form.spec.batch, 2048);
}
END_TEST

START_TEST(the_dashboard_shares_it_all)
{
    replay_keys(&replay, "<Down><Down><Down> D");
    replay.ui.focus = PANEL_RUNS;
    expect_selected(17);
    expect_on_screen("*17", true);
    expect_on_screen("queued 2", true);
    replay_keys(&replay, "<Down> <Up> ");
    ck_assert(ui_is_marked(&replay.ui, 16) && !ui_is_marked(&replay.ui, 17));
    replay_keys(&replay, "<Enter>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUN);
    ck_assert_int_eq(replay.ui.details.run, 17);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_DASHBOARD);
    /* There x is for the running run, with an ended one in focus. */
    replay_keys(&replay, "x");
    ck_assert_int_eq(replay.ui.asked_run, 18);
    replay_keys(&replay, "n");
    without_run(17);
    expect_selected(16);
    replay_keys(&replay, "<Home><Down>K");
    expect_selected(20);
    ck_assert_str_eq(replay_last(&replay), "move {\"run\":20,\"place\":0}");
    replay.ui.selected_run = 0;
    ui_show_view(&replay.ui, VIEW_RUN);
    expect_selected(18);
}
END_TEST

/* Above those that wait, and at the end of a list that has no room for all. */
START_TEST(the_running_run_stays_in_sight)
{
    static const char *const keys[] = {"D<Tab><Tab>", "<Down>", "<End>", "<Up><Up>"};
    static const long selected[] = {0, 18, 1, 3};
    replay.ui.selected_run = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char line[40];
        replay_keys(&replay, keys[i]);
        char *screen = replay_screen(&replay, 24, 80, false);
        const char *list = strstr(screen, "Runs  devices");
        ck_assert_msg(list && strstr(list, "\n   18 cpu:0-1 "), "%s: %s", keys[i], screen);
        expect_selected(selected[i]);
        snprintf(line, sizeof line, "\n%5ld ", selected[i] > 0 ? selected[i] : 20);
        ck_assert_msg(strstr(list, line), "%s: %s", keys[i], screen);
        free(screen);
    }
    /* Where there is room, all of which part it is. */
    expect_on_screen("model", true);
    char *screen = replay_screen(&replay, 30, 150, false);
    ck_assert_msg(strstr(screen, "16-20/20  devices"), "%s", screen);
    free(screen);
}
END_TEST

START_TEST(counts_of_rows_are_never_cut)
{
    replay_line(&replay, "{\"id\":1,\"method\":\"runs\"}");
    replay_line(&replay, "{\"id\":1,\"result\":[{\"run\":7,\"status\":\"done\",\"model\":\"m\","
                         "\"train_rows\":1281167,\"test_rows\":100000}]}");
    expect_on_screen(" 1281167/100000 ", true);
    replay_keys(&replay, "D");
    expect_on_screen(" 1281167/100000 ", true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runs");
    TCase *tests = runs_case("ui runs");
    tcase_add_test(tests, the_selection_survives);
    tcase_add_test(tests, a_filter_acts_while_it_is_typed);
    tcase_add_test(tests, a_filter_that_can_fit_nothing_says_why);
    tcase_add_test(tests, a_list_of_the_newest_says_so);
    tcase_add_test(tests, marks_show_and_go);
    tcase_add_test(tests, more_marks_than_the_chart_draws);
    tcase_add_test(tests, only_what_has_ended_is_deleted);
    tcase_add_test(tests, deleting_the_last_line_moves_up);
    tcase_add_test(tests, the_queue_moves);
    tcase_add_test(tests, notes_are_written);
    tcase_add_test(tests, tags_are_written);
    tcase_add_test(tests, tags_of_others_stay);
    tcase_add_test(tests, signs_before_tags_are_no_part_of_them);
    tcase_add_test(tests, what_has_ended_resumes);
    tcase_add_test(tests, resuming_drops_what_came_after);
    tcase_add_test(tests, the_selected_run_is_controlled);
    tcase_add_test(tests, settings_go_into_the_form);
    tcase_add_test(tests, the_dashboard_shares_it_all);
    tcase_add_test(tests, the_running_run_stays_in_sight);
    tcase_add_test(tests, counts_of_rows_are_never_cut);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
