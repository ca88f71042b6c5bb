/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tests/suites.h"
#include "ui/state/run_list.h"

/* Sorting and filtering runs, and the numbers that their details are made of. */

enum { MOST = 40 };

static struct state_run runs[MOST];
static struct state state;
static struct run_list list;

/* A run without any number. */
static struct state_run *add(void)
{
    struct state_run *run = &runs[state.run_count++];
    *run = (struct state_run){.run = state.run_count, .status = RUN_DONE, .device_count = 1};
    snprintf(run->model, sizeof run->model, "smallnet");
    snprintf(run->data, sizeof run->data, "glyphs");
    snprintf(run->devices, sizeof run->devices, "cpu:0");
    run->batch = run->lr = run->epochs = run->epochs_done = NAN;
    run->test_acc = run->best_acc = run->s_per_epoch = run->samples_per_s = NAN;
    run->speed_up = run->train_rows = run->test_rows = NAN;
    run->started_at = run->submitted_at = run->ended_at = NAN;
    state.runs_version++;
    return run;
}

static void begin(void)
{
    state = (struct state){.runs = runs};
    list = (struct run_list){0};
}

static void end(void)
{
    run_list_free(&list);
}

/* The runs from the top as "3 1 2". */
static void expect(const char *wanted)
{
    struct error err = ERROR_INIT;
    char actual[MOST * 4] = "";
    ck_assert_msg(run_list_update(&list, &state, &err), "%s", err.text);
    for (int i = 0; i < list.count; i++) {
        size_t used = strlen(actual);
        snprintf(actual + used, sizeof actual - used, "%s%ld", i > 0 ? " " : "",
                 run_list_run(&list, &state, i)->run);
    }
    ck_assert_str_eq(actual, wanted);
}

static void sort_by(enum run_column column, bool ascending)
{
    list.column = column;
    list.ascending = ascending;
}

static void filter(const char *text)
{
    snprintf(list.filter, sizeof list.filter, "%s", text);
}

START_TEST(the_running_run_is_first_in_every_order)
{
    for (int i = 0; i < 4; i++)
        add()->test_acc = 0.5 + 0.1 * i;
    runs[1].status = RUN_RUNNING;
    snprintf(runs[1].data, sizeof runs[1].data, "mnist");
    for (int column = 0; column < RUN_COLUMNS; column++)
        for (int ascending = 0; ascending < 2; ascending++) {
            struct error err = ERROR_INIT;
            sort_by((enum run_column)column, ascending != 0);
            ck_assert(run_list_update(&list, &state, &err));
            ck_assert_int_eq(run_list_run(&list, &state, 0)->run, 2);
        }
    sort_by(RUN_COLUMN_TEST_ACC, true);
    expect("2 1 3 4");
    sort_by(RUN_COLUMN_TEST_ACC, false);
    expect("2 4 3 1");
    runs[1].status = RUN_PAUSED;
    state.runs_version++;
    expect("2 4 3 1");
    /* Who filters it out means it. */
    filter("data=glyphs");
    expect("4 3 1");
    filter("");
    runs[1].status = RUN_DONE;
    state.runs_version++;
    expect("4 3 2 1");
}
END_TEST

START_TEST(newest_first_without_a_choice)
{
    expect("");
    ck_assert_ptr_null(run_list_run(&list, &state, 0));
    add();
    add();
    add();
    expect("3 2 1");
    list.ascending = true;
    expect("1 2 3");
}
END_TEST

START_TEST(unknown_figures_come_last_either_way)
{
    add()->test_acc = 0.8;
    add();
    add()->test_acc = 0.9;
    add();
    add()->test_acc = 0.7;
    sort_by(RUN_COLUMN_TEST_ACC, false);
    expect("3 1 5 4 2");
    list.ascending = true;
    expect("5 1 3 4 2");
}
END_TEST

START_TEST(equal_figures_stay_newest_first)
{
    for (int i = 0; i < 6; i++)
        add()->batch = i % 2 ? 64 : 32;
    sort_by(RUN_COLUMN_BATCH, true);
    expect("5 3 1 6 4 2");
    list.ascending = false;
    expect("6 4 2 5 3 1");
}
END_TEST

START_TEST(texts_sort_without_case_and_empty_ones_last)
{
    snprintf(add()->note, 20, "beta");
    snprintf(add()->note, 20, "Alpha");
    add();
    snprintf(add()->note, 20, "gamma");
    sort_by(RUN_COLUMN_NOTE, true);
    expect("2 1 4 3");
    list.ascending = false;
    expect("4 1 2 3");
}
END_TEST

START_TEST(devices_sort_by_their_number)
{
    static const char *const names[] = {"cpu:0-9", "cpu:0-1", "cpu:1"};
    static const int counts[] = {10, 2, 1};
    for (int i = 0; i < 3; i++) {
        struct state_run *run = add();
        snprintf(run->devices, sizeof run->devices, "%s", names[i]);
        run->device_count = counts[i];
    }
    sort_by(RUN_COLUMN_DEVICES, true);
    expect("3 2 1");
}
END_TEST

START_TEST(speed_up_and_rows)
{
    static const double values[] = {1, 1.87, NAN, 0.5};
    for (int i = 0; i < 4; i++) {
        struct state_run *run = add();
        run->speed_up = run->train_rows = values[i];
    }
    sort_by(RUN_COLUMN_SPEED_UP, false);
    expect("2 1 4 3");
    sort_by(RUN_COLUMN_ROWS, true);
    expect("4 1 2 3");
    filter("rows<1");
    expect("4");
}
END_TEST

START_TEST(the_list_follows_what_changes)
{
    add()->test_acc = 0.8;
    add()->test_acc = 0.9;
    sort_by(RUN_COLUMN_TEST_ACC, false);
    expect("2 1");
    runs[0].test_acc = 0.95;
    state.runs_version++;
    expect("1 2");
    ck_assert_int_eq(run_list_find(&list, &state, 2), 1);
    filter("run=1");
    expect("1");
    ck_assert_int_eq(run_list_find(&list, &state, 2), -1);
    ck_assert_int_eq(run_list_find(&list, &state, 77), -1);
}
END_TEST

START_TEST(columns_come_one_after_the_other)
{
    struct run_columns all = {.count = 0};
    for (int i = 0; i < RUN_COLUMNS; i++)
        run_columns_add(&all, (enum run_column)i);
    for (int i = 1; i <= RUN_COLUMNS; i++) {
        run_list_next_column(&list, &all);
        ck_assert_int_eq(list.column, i % RUN_COLUMNS);
        if (list.column == RUN_COLUMN_TEST_ACC)
            ck_assert_str_eq(run_list_direction(&list), "highest first");
        if (list.column == RUN_COLUMN_S_PER_EPOCH)
            ck_assert_str_eq(run_list_direction(&list), "lowest first");
    }
    ck_assert_str_eq(run_list_direction(&list), "newest first");
}
END_TEST

START_TEST(only_columns_that_are_shown_come)
{
    struct run_columns shown = {.count = 0};
    struct error err = ERROR_INIT;
    ck_assert(run_columns_set(&shown, "acc,run,s/epoch", &err));
    run_list_next_column(&list, &shown); /* after the number */
    ck_assert_int_eq(list.column, RUN_COLUMN_S_PER_EPOCH);
    run_list_next_column(&list, &shown);
    ck_assert_int_eq(list.column, RUN_COLUMN_TEST_ACC);
    /* From one that is not shown to the first. */
    run_list_sort(&list, RUN_COLUMN_NOTE);
    run_list_next_column(&list, &shown);
    ck_assert_int_eq(list.column, RUN_COLUMN_TEST_ACC);
    ck_assert(!list.ascending);
}
END_TEST

static const struct {
    const char *filter, *found;
} filters[] = {
    {"", "4 3 2 1"},          {"  ", "4 3 2 1"},
    {"resnet", "4 2"},        {"RESNET fashion", "2"},
    {"failed", "3"},          {"warm", "4"},
    {"cpu:0-1", "2"},         {"nothing", ""},
    {"batch=256", "3 1"},     {"batch=", "4 3 2 1"},
    {"batch=25", ""},         {"batch=x", ""},
    {"lr<0.2", "1"},          {"lr<=0.2", "2 1"},
    {"lr>=0.2", "4 3 2"},     {"acc>0.85", "2"},
    {"acc<0.99", "2 1"},      {"devices=2", "2"},
    {"devices=cpu:0-", "2"},  {"status=done resn", "4 2"},
    {"status=fail", "3"},     {"run=3", "3"},
    {"run>2 batch=256", "3"}, {"note=warm", "4"},
    {"tag=the", "1"},         {"FINAL", "1"},
    {"thesis resnet", ""},    {"a=b", "4"},
    {"BATCH=512", "4 2"},     {"strategy=mixed", "1"},
};

START_TEST(filters_find)
{
    for (int i = 0; i < 4; i++) {
        struct state_run *run = add();
        run->batch = i % 2 ? 512 : 256;
        run->lr = 0.1 * (i + 1);
        run->test_acc = i < 2 ? 0.8 + 0.1 * i : NAN;
        snprintf(run->model, sizeof run->model, "%s", i % 2 ? "resnet18" : "smallnet");
    }
    runs[1].device_count = 2;
    snprintf(runs[1].devices, sizeof runs[1].devices, "cpu:0-1");
    snprintf(runs[1].data, sizeof runs[1].data, "fashion-mnist");
    runs[2].status = RUN_FAILED;
    snprintf(runs[0].tags, sizeof runs[0].tags, "final thesis");
    snprintf(runs[0].strategy, sizeof runs[0].strategy, "mixed");
    snprintf(runs[3].note, sizeof runs[3].note, "Warm start a=b");
    filter(filters[_i].filter);
    expect(filters[_i].found);
}
END_TEST

START_TEST(hostile_filters_do_no_harm)
{
    static const char *const hostile[] = {
        "= < > <= >= =",
        "batch==256",
        "batch=<",
        "\xff\xfe \x80",
        "a a a a a a a a a a a a a a a a a a a a a a a a a",
        "lr=1e999 lr=nan",
    };
    struct error err = ERROR_INIT;
    add();
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        filter(hostile[i]);
        ck_assert(run_list_update(&list, &state, &err));
    }
}
END_TEST

/* Nothing here is measured: it would take minutes if anything were done for each pair of runs. */
START_TEST(many_runs_are_listed)
{
    enum { COUNT = 100000 };
    struct state many = {.runs = calloc(COUNT, sizeof *many.runs), .run_count = COUNT};
    struct error err = ERROR_INIT;
    ck_assert_ptr_nonnull(many.runs);
    for (int i = 0; i < COUNT; i++) {
        many.runs[i].run = i + 1;
        many.runs[i].samples_per_s = 1 + i % 100;
        snprintf(many.runs[i].model, sizeof many.runs[i].model, "model-%d", i);
    }
    for (int column = 0; column < RUN_COLUMNS; column++) {
        list.column = (enum run_column)column;
        many.runs_version++;
        ck_assert(run_list_update(&list, &many, &err));
        ck_assert_int_eq(list.count, COUNT);
    }
    ck_assert_ptr_eq(state_run(&many, 77777), &many.runs[77776]);
    free(many.runs);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run list");
    TCase *tests = tcase_create("run list");
    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, newest_first_without_a_choice);
    tcase_add_test(tests, the_running_run_is_first_in_every_order);
    tcase_add_test(tests, unknown_figures_come_last_either_way);
    tcase_add_test(tests, equal_figures_stay_newest_first);
    tcase_add_test(tests, texts_sort_without_case_and_empty_ones_last);
    tcase_add_test(tests, devices_sort_by_their_number);
    tcase_add_test(tests, speed_up_and_rows);
    tcase_add_test(tests, the_list_follows_what_changes);
    tcase_add_test(tests, columns_come_one_after_the_other);
    tcase_add_test(tests, only_columns_that_are_shown_come);
    tcase_add_loop_test(tests, filters_find, 0, (int)(sizeof filters / sizeof filters[0]));
    tcase_add_test(tests, hostile_filters_do_no_harm);
    tcase_add_test(tests, many_runs_are_listed);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
