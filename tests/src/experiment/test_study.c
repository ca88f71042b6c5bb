/* SPDX-License-Identifier: MIT */
/* Comparisons of runs: the plan and its file's form. */
#include <check.h>
#include <string.h>

#include "spec/set.h"
#include "spec/values.h"
#include "study/json.h"
#include "tests/src/experiment/study_fixture.h"
#include "tests/suites.h"
#include "ui/app/workbench.h"

/* The table of commands names the workbench, which is not what is tested here. */
bool workbench_run(const struct workbench_options *options, struct error *err)
{
    (void)options;
    return error_set(err, ERROR_FAILED, "no workbench in this test");
}

static struct study_fixture at;

static void setup(void)
{
    study_fixture_begin(&at);
}

static void teardown(void)
{
    study_fixture_end(&at);
}

START_TEST(strong_scaling_keeps_the_batch_and_the_threads)
{
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.counts = "1,2,4", .repeats = 2, .cores = 9}));
    ck_assert_int_eq(at.study.variant_count, 3);
    ck_assert_int_eq(at.study.entry_count, 6);
    for (int i = 0; i < 3; i++) {
        const json_t *made = at.study.variants[i].spec;
        ck_assert_int_eq(at.study.variants[i].devices, 1 << i);
        ck_assert_int_eq(json_integer_value(json_object_get(made, "batch")), 256);
        ck_assert_int_eq(json_integer_value(json_object_get(made, "cpu_threads")), 2);
    }
    ck_assert_str_eq(json_string_value(json_object_get(at.study.variants[2].spec, "devices")),
                     "cpu:0-3");
}
END_TEST

START_TEST(weak_scaling_grows_batch_and_rate)
{
    ck_assert(
        study_fixture_plan(&at, (struct study_request){.counts = "1,3", .scaling = SCALING_WEAK}));
    ck_assert_int_eq(at.study.variants[1].batch, 768);
    ck_assert_double_eq(at.study.variants[1].lr, 0.3);
    ck_assert_int_eq(at.study.variants[0].batch, 256);
}
END_TEST

START_TEST(repeats_are_interleaved_with_seeds_of_their_own)
{
    char note[100];
    at.spec.seed = 40;
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.settings = {{"batch", "64,128"}}, .repeats = 2}));
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(at.study.entries[i].variant, i % 2);
        ck_assert_int_eq((int)at.study.entries[i].seed, 40 + i / 2);
    }
    json_t *last = study_entry_spec(&at.study, &at.study.entries[3]);
    ck_assert_int_eq(json_integer_value(json_object_get(last, "seed")), 41);
    ck_assert_int_eq(json_integer_value(json_object_get(last, "batch")), 128);
    json_decref(last);
    study_entry_note(&at.study, &at.study.entries[3], note, sizeof note);
    ck_assert_str_eq(note, "compare 7: batch 128, seed 41 (4/4)");
}
END_TEST

START_TEST(lists_of_devices_are_taken_as_they_are)
{
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.lists = "cpu:0; cpu:0-1;cpu:2", .cores = 4}));
    ck_assert_int_eq(at.study.variant_count, 3);
    ck_assert_str_eq(at.study.variants[1].label, "cpu:0-1");
    ck_assert_int_eq(at.study.variants[1].threads, 4);
    ck_assert_int_eq(at.study.variants[2].threads, 2);
}
END_TEST

START_TEST(a_grid_has_each_combination)
{
    struct figure value;
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.settings = {{"optimizer", "sgd,adam"}, {"lr", "1e-2,0.3,1"}},
                                    .repeats = 2}));
    static const char *const labels[] = {"optimizer sgd, lr 0.01", "optimizer sgd, lr 0.3",
                                         "optimizer sgd, lr 1",    "optimizer adam, lr 0.01",
                                         "optimizer adam, lr 0.3", "optimizer adam, lr 1"};
    static const double rates[] = {0.01, 0.3, 1};
    ck_assert_int_eq(at.study.variant_count, 6);
    ck_assert_int_eq(at.study.entry_count, 12);
    for (int i = 0; i < 6; i++) {
        const struct study_variant *variant = &at.study.variants[i];
        ck_assert_str_eq(variant->label, labels[i]);
        ck_assert_str_eq(study_value(&at.study, variant, 0, &value), i < 3 ? "sgd" : "adam");
        ck_assert_str_eq(json_string_value(json_object_get(variant->spec, "optimizer")),
                         i < 3 ? "sgd" : "adam");
        ck_assert_double_eq(json_number_value(json_object_get(variant->spec, "lr")), rates[i % 3]);
        ck_assert_int_eq(at.study.entries[6 + i].variant, i);
    }
    ck_assert_str_eq(study_value(&at.study, &at.study.variants[4], 1, &value), "0.3");
    ck_assert_str_eq(study_title(&at.study, &value), "optimizer and lr");
}
END_TEST

/* What is filled in depends on the values: here more smoothing where there are more rows. */
static bool fill_smoothing(void *context, struct spec *spec, struct error *err)
{
    ++*(int *)context;
    return spec_set(spec, "label-smoothing", spec->batch > 100 ? "0.2" : "0.1", err);
}

START_TEST(each_variant_is_filled_in_by_itself)
{
    int calls = 0;
    ck_assert(study_fixture_plan(&at, (struct study_request){.settings = {{"batch", "64,128"}},
                                                             .fill = fill_smoothing,
                                                             .context = &calls}));
    for (int i = 0; i < 2; i++)
        ck_assert_double_eq(
            json_number_value(json_object_get(at.study.variants[i].spec, "label_smoothing")),
            i ? 0.2 : 0.1);
    ck_assert_int_eq(calls, 2);
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.counts = "1,2", .fill = fill_smoothing, .context = &calls}));
    ck_assert_int_eq(calls, 3);
}
END_TEST

START_TEST(too_many_combinations_are_counted)
{
    ck_assert(
        !study_fixture_plan(&at, (struct study_request){.settings = {{"batch", "1,2,3,4,5,6,7,8,9"},
                                                                     {"lr", "1,2,3,4,5,6,7,8"}},
                                                        .repeats = 3}));
    ck_assert_str_eq(at.err.text, "these values make 72 variants, 216 runs: a comparison has at "
                                  "most 64 variants");
}
END_TEST

START_TEST(lists_of_values_are_told_from_values_with_commas)
{
    static const struct {
        const char *key, *text;
        int count; /* 1: no list */
    } cases[] = {
        {"batch", "64,128", 2},
        {"batch", "64", 1},
        {"lr-schedule", "multistep:3,6", 1},
        {"lr-schedule", "multistep:3,6,cosine,step:2", 3},
        {"split", "weighted:1,2,chunk", 2},
        {"split", "weighted:1,2", 1},
        {"optimizer", "sgd,adam", 2},
        {"devices", "cpu:0,cpu:1", 1},
        {"cpu-threads", "2,4", 1},
        {"seed", "1,2", 1},
        {"model", "a,b", 1},
        {"repeats", "1,2", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(spec_is_list(cases[i].key, cases[i].text) == (cases[i].count > 1), "%zu", i);
        int count = 0;
        char value[40];
        for (const char *rest = cases[i].count > 1 ? cases[i].text : NULL; rest; count++)
            ck_assert(spec_next_value(cases[i].key, &rest, value, sizeof value));
        ck_assert_int_eq(count, cases[i].count > 1 ? cases[i].count : 0);
    }
}
END_TEST

START_TEST(impossible_requests_are_refused)
{
    static const struct study_request requests[] = {
        {.counts = "1,,2"},
        {.counts = "0"},
        {.counts = "1,x"},
        {.counts = "9"},
        {.counts = "1,1"},
        {.lists = "all"},
        {.lists = "cpu:0;zz"},
        {.lists = " ; "},
        {.settings = {{"batch", "64,"}}},
        {.settings = {{"batch", "64,-1"}}},
        {.settings = {{"lr", "0.1,nan"}}},
        {.settings = {{"lr", "0.1,1e-1"}}},
        {.settings = {{"batch", "64,,128"}}},
        {.settings = {{"batch", ",64"}}},
        {.settings = {{"optimizer", "sgd,best"}}},
        {.settings = {{"batch", "64,128"}, {"lr", "0.1,0.1"}}},
        {.settings = {{"batch", "1,2,3,4,5,6,7,8,9"}, {"lr", "1,2,3,4,5,6,7,8"}}},
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        at.err = (struct error)ERROR_INIT;
        ck_assert_msg(!study_fixture_plan(&at, requests[i]), "wish %zu", i);
        ck_assert_int_eq(at.err.kind, ERROR_USAGE);
    }
}
END_TEST

START_TEST(a_plan_survives_its_file)
{
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.counts = "1,2", .repeats = 3, .target_acc = 0.9}));
    at.study.entries[2].run = 12;
    at.study.entries[2].state = STUDY_FAILED;
    strcpy(at.study.entries[2].reason, "diverged");
    json_t *object = study_to_json(&at.study);
    ck_assert_ptr_nonnull(object);
    struct study read;
    ck_assert_msg(study_from_json(&read, object, &at.err), "%s", at.err.text);
    ck_assert_str_eq(read.id, "7");
    ck_assert_int_eq(read.entry_count, 6);
    ck_assert_int_eq(read.entries[2].run, 12);
    ck_assert_int_eq(read.entries[2].state, STUDY_FAILED);
    ck_assert_str_eq(read.entries[2].reason, "diverged");
    ck_assert_double_eq(read.target_acc, 0.9);
    ck_assert_int_eq(study_unfinished(&read), 5);
    json_t *again = study_to_json(&read);
    ck_assert(json_equal(object, again));
    json_decref(again);
    study_free(&read);
    json_decref(object);
}
END_TEST

START_TEST(a_grid_survives_its_file)
{
    struct study read;
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.settings = {{"lr", "0.1,0.2"}, {"batch", "64,128"}}}));
    json_t *object = study_to_json(&at.study);
    ck_assert_str_eq(json_string_value(json_object_get(object, "kind")), "lr,batch");
    ck_assert_msg(study_from_json(&read, object, &at.err), "%s", at.err.text);
    ck_assert_int_eq(read.kind, STUDY_SETTINGS);
    ck_assert_int_eq(read.varied_count, 2);
    ck_assert_str_eq(read.varied[1], "batch");
    study_free(&read);
    static const char *const wrong[] = {"lr,", "lr,batch,momentum", "lr,speed", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_object_set_new(object, "kind", json_string(wrong[i]));
        ck_assert_msg(!study_from_json(&read, object, &at.err), "%s", wrong[i]);
    }
    json_decref(object);
}
END_TEST

/* Without one of its members, or with a wrong one, a file is refused. */
START_TEST(damaged_files_are_refused)
{
    static const char *const keys[] = {"format", "kind",     "scaling", "repeats",
                                       "cores",  "variants", "runs"};
    struct study read;
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2"}));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (int wrong = 0; wrong < 2; wrong++) {
            json_t *object = study_to_json(&at.study);
            if (wrong)
                json_object_set_new(object, keys[i], json_true());
            else
                json_object_del(object, keys[i]);
            ck_assert_msg(!study_from_json(&read, object, &at.err), "%s", keys[i]);
            json_decref(object);
        }
    json_t *object = study_to_json(&at.study);
    json_object_set_new(json_array_get(json_object_get(object, "runs"), 1), "variant",
                        json_integer(2));
    ck_assert(!study_from_json(&read, object, &at.err));
    json_decref(object);
}
END_TEST

static Suite *plan_suite(void)
{
    const TTest *const tests[] = {
        strong_scaling_keeps_the_batch_and_the_threads,
        weak_scaling_grows_batch_and_rate,
        repeats_are_interleaved_with_seeds_of_their_own,
        lists_of_devices_are_taken_as_they_are,
        a_grid_has_each_combination,
        each_variant_is_filled_in_by_itself,
        too_many_combinations_are_counted,
        lists_of_values_are_told_from_values_with_commas,
        impossible_requests_are_refused,
        a_plan_survives_its_file,
        a_grid_survives_its_file,
        damaged_files_are_refused,
    };
    Suite *suite = suite_create("study");
    TCase *cases = tcase_create("study");
    tcase_add_checked_fixture(cases, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    return run_suites(plan_suite(), study_table_suite(), range_suite(), strategies_suite(),
                      forecast_suite(), NULL);
}
