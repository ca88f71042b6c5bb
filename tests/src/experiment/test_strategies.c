/* SPDX-License-Identifier: MIT */
/* Comparisons of strategies: what is trained, what it says, and its output formats. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "experiment/sentence.h"
#include "spec/set.h"
#include "study/export.h"
#include "study/json.h"
#include "tests/src/experiment/study_fixture.h"

enum { RUNS = 7 };

static struct study_fixture at;
static struct study_table table;
static struct study_run runs[RUNS];
static struct measured_epoch epochs[RUNS][2];
static char text[SENTENCE_SIZE];

static void setup(void)
{
    study_fixture_begin(&at);
    memset(runs, 0, sizeof runs);
}

static void teardown(void)
{
    study_fixture_end(&at);
}

static const char *setting(int variant, const char *key)
{
    return json_string_value(json_object_get(at.study.variants[variant].spec, key));
}

START_TEST(one_device_is_the_base_of_all)
{
    ck_assert(spec_set(&at.spec, "micro-batches", "6", &at.err));
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.counts = "1,2,4", .strategies = "data,pipeline"}));
    static const char *const labels[] = {"1 device", "2 devices, data", "2 devices, pipeline",
                                         "4 devices, data", "4 devices, pipeline"};
    ck_assert_int_eq(at.study.variant_count, 5);
    for (int i = 0; i < 5; i++) {
        bool pipeline = i == 2 || i == 4;
        const struct study_variant *variant = &at.study.variants[i];
        ck_assert_str_eq(variant->label, labels[i]);
        ck_assert_int_eq(variant->strategy, pipeline ? STRATEGY_PIPELINE : STRATEGY_DATA);
        ck_assert_str_eq(setting(i, "strategy"), pipeline ? "pipeline" : "data");
        ck_assert_int_eq(json_integer_value(json_object_get(variant->spec, "micro_batches")),
                         pipeline ? 6 : 0);
        /* The same cores for every device. */
        ck_assert_int_eq(json_integer_value(json_object_get(variant->spec, "cpu_threads")), 2);
    }
    ck_assert_str_eq(setting(0, "devices"), "cpu:0");
    ck_assert_str_eq(setting(4, "devices"), "cpu:0-3");
}
END_TEST

/* Whatever a configuration says of the strategy, and of rows that a pipeline does not divide. */
START_TEST(strategies_are_those_asked_for)
{
    ck_assert(spec_set(&at.spec, "strategy", "pipeline", &at.err));
    ck_assert(spec_set(&at.spec, "batch", "129", &at.err));
    ck_assert(spec_set(&at.spec, "split", "even", &at.err));
    ck_assert(
        study_fixture_plan(&at, (struct study_request){.counts = "2", .strategies = "pipeline"}));
    ck_assert_int_eq(at.study.variant_count, 2);
    ck_assert_str_eq(setting(0, "strategy"), "data");
    ck_assert_str_eq(at.study.variants[1].label, "2 devices, pipeline");
}
END_TEST

START_TEST(impossible_strategies_are_refused)
{
    static const struct {
        const char *counts, *strategies, *said;
    } cases[] = {
        {"2", "data,sideways",
         "--strategies: 'sideways' is none of data, pipeline, tensor and mixed"},
        {"2", "data,", "--strategies: '' is none of"},
        {"2", "data,pipeline,data", "'2 devices, data' is there twice"},
        {"1", "data,pipeline", "one device has nothing to divide"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at.err = (struct error)ERROR_INIT;
        ck_assert(
            !study_fixture_plan(&at, (struct study_request){.counts = cases[i].counts,
                                                            .strategies = cases[i].strategies}));
        ck_assert_int_eq(at.err.kind, ERROR_USAGE);
        ck_assert_ptr_nonnull(strstr(at.err.text, cases[i].said));
    }
}
END_TEST

START_TEST(a_plan_of_strategies_survives_its_file)
{
    struct study read;
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.counts = "2", .strategies = "data,pipeline"}));
    json_t *object = study_to_json(&at.study);
    ck_assert_str_eq(json_string_value(json_object_get(object, "kind")), "strategies");
    ck_assert(study_from_json(&read, object, &at.err));
    ck_assert(read.strategies && read.kind == STUDY_DEVICES);
    ck_assert_int_eq(read.variants[1].strategy, STRATEGY_DATA);
    ck_assert_int_eq(read.variants[2].strategy, STRATEGY_PIPELINE);
    study_free(&read);
    json_decref(object);
}
END_TEST

/* Two equal epochs, the first of which is warm-up; the parts are of the devices' time. */
static void measure(int entry, double rate, double sync, double wait, const char *beginning)
{
    int devices = at.study.variants[entry].devices;
    double seconds = 1000 / rate;
    for (int i = 0; i < 2; i++)
        epochs[entry][i] = (struct measured_epoch){.epoch = 1 + i,
                                                   .seconds = seconds,
                                                   .samples_per_s = rate,
                                                   .test_acc = 0.5,
                                                   .device_s = devices * seconds,
                                                   .sync_s = devices * seconds * sync,
                                                   .wait_s = devices * seconds * wait,
                                                   .device_rate = rate / devices,
                                                   .rows = 100};
    json_t *run = json_loads(beginning, 0, NULL);
    ck_assert_ptr_nonnull(run);
    runs[entry] = (struct study_run){
        .variant = entry, .state = STUDY_DONE, .measure = {.epochs = epochs[entry], .count = 2}};
    measure_read_devices(&runs[entry].measure, run);
    json_decref(run);
}

#define DATA_BEGINS  "{\"memory\":[1048576,1048576],\"sync_bytes_per_step\":250000.0}"
#define STAGES_BEGIN "{\"memory\":[3145728,2097152],\"sync_bytes_per_step\":2000000.0}"

static void train(double data, double data_wait, double pipeline, double pipeline_wait)
{
    ck_assert(study_fixture_plan(
        &at,
        (struct study_request){.counts = "2", .strategies = "data,pipeline", .target_acc = NAN}));
    measure(0, 100, 0, 0, "{\"memory\":[1048576],\"sync_bytes_per_step\":0.0}");
    measure(1, data, 0.1, data_wait, DATA_BEGINS);
    measure(2, pipeline, 0, pipeline_wait, STAGES_BEGIN);
    ck_assert(study_tabulate(&at.study, runs, &table, &at.err));
}

START_TEST(the_sentence_says_who_wins_and_why)
{
    train(160, 0.1, 125, 0.375);
    ck_assert_int_eq(table.base, 0);
    ck_assert_double_eq(table.rows[2].outcome.memory, 3145728);
    table.rows[1].outcome.speed_up = 1; /* against another base, as it may be in the workbench */
    ck_assert_str_eq(
        sentence_of_study(&table, text, sizeof text),
        "On 2 devices data is 1.28 times as fast as pipeline: 160 samples/s, 1.60 times 1 device, "
        "not 125 (1.25); pipeline's devices wait 38% of their time (the pipeline fills and "
        "empties, "
        "unequal stages), data's 10%; the device that needs most memory needs 1.0 MiB with data, "
        "3.0 MiB with pipeline; a step sends 0.25 MB with data, 2.00 MB with pipeline");
    /* Shards that compute slowly, and all-reduce. */
    train(100, 0.1, 180, 0.1);
    ck_assert_ptr_nonnull(strstr(
        sentence_of_study(&table, text, sizeof text),
        "pipeline is 1.80 times as fast as data: 180 samples/s, 1.80 times 1 device, not 100 "
        "(1.00); data's devices compute 1.60 times as long for as many rows (small shards); "
        "the device that needs most memory needs 3.0 MiB with pipeline, 1.0 MiB with data"));
    train(160, NAN, 125, 0.375);
    ck_assert_ptr_nonnull(
        strstr(sentence_of_study(&table, text, sizeof text), "; the times of the devices do not"));
}
END_TEST

/* The fastest beside each of the others, the faster of these first. */
START_TEST(three_strategies_make_two_sentences)
{
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "2",
                                                             .strategies = "data,pipeline,tensor",
                                                             .target_acc = NAN}));
    measure(0, 100, 0, 0, "{\"memory\":[1048576],\"sync_bytes_per_step\":0.0}");
    measure(1, 125, 0.1, 0.1, DATA_BEGINS);
    measure(2, 160, 0, 0.1, STAGES_BEGIN);
    measure(3, 80, 0, 0.3, STAGES_BEGIN);
    ck_assert(study_tabulate(&at.study, runs, &table, &at.err));
    sentence_of_study(&table, text, sizeof text);
    ck_assert_ptr_eq(strstr(text, "On 2 devices pipeline is 1.28 times as fast as data: "), text);
    ck_assert_ptr_nonnull(
        strstr(text, "with data. On 2 devices pipeline is 2.00 times as fast as tensor: 160 "
                     "samples/s, 1.60 times 1 device, not 80.0 (0.80); tensor's devices compute "
                     "1.56 times as long for as many rows (work over all channels, all-gather, "
                     "narrow layers), and tensor's devices wait 30% of their time (they wait "
                     "for each other at every layer, unequal parts), pipeline's 10%;"));
}
END_TEST

START_TEST(a_failed_strategy_leaves_the_other)
{
    train(160, 0.1, 125, 0.36);
    runs[1].state = STUDY_FAILED;
    ck_assert(study_tabulate(&at.study, runs, &table, &at.err));
    ck_assert_str_eq(
        sentence_of_study(&table, text, sizeof text),
        "2 devices as a pipeline are 1.25 times as fast as 1, 63% efficient, the "
        "same test accuracy; limited by devices that wait for each other (36% of their "
        "time: the pipeline fills and empties, unequal stages, or other work on the "
        "cores)");
    ck_assert_str_eq(sentence_of_shares(&table.rows[2].outcome, text, sizeof text),
                     "Of the devices' time: 64% compute, 0% input, 36% waiting");
}
END_TEST

START_TEST(small_micro_batches_limit_a_pipeline)
{
    train(160, 0.1, 125, 0.1);
    sentence_of_devices(&table.rows[2].outcome, &table.rows[0].outcome, 8, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "limited by small micro-batches, shared memory or caches "
                                       "(the stages together compute 1.44 times as long"));
    sentence_of_devices(&table.rows[2].outcome, &table.rows[0].outcome, 1, text, sizeof text);
    ck_assert_ptr_nonnull(
        strstr(text, "limited by devices that share cores (8 threads of 2 CPU devices on 1 core)"));
    table.rows[2].outcome.cpus = 1; /* as beside a GPU */
    sentence_of_devices(&table.rows[2].outcome, &table.rows[0].outcome, 1, text, sizeof text);
    ck_assert_msg(strstr(text, "(8 threads of 1 CPU device on 1 core)"), "%s", text);
}
END_TEST

START_TEST(output_formats_tell_strategies_apart)
{
    struct text out = TEXT_INIT;
    train(160, 0.1, 125, 0.375);
    json_t *object = study_table_json(&table, runs);
    json_t *row = json_array_get(json_object_get(object, "rows"), 2);
    ck_assert_str_eq(json_string_value(json_object_get(object, "kind")), "strategies");
    ck_assert_str_eq(json_string_value(json_object_get(row, "strategy")), "pipeline");
    ck_assert_double_eq(json_number_value(json_object_get(row, "sync_bytes_per_step")), 2e6);
    ck_assert_double_eq(json_number_value(json_object_get(row, "memory_most")), 3145728);
    json_decref(object);
    study_table_csv(&table, &out);
    ck_assert_ptr_nonnull(strstr(text_cstr(&out), "\"2 devices, pipeline\",2,256,"));
    ck_assert_ptr_nonnull(strstr(text_cstr(&out), ",pipeline,2000000,3145728,,,,\n"));
    text_free(&out);
    /* A line for each strategy, from one device on. */
    study_table_svg(&table, &out);
    ck_assert_ptr_nonnull(strstr(text_cstr(&out), ">data<"));
    ck_assert_ptr_nonnull(strstr(text_cstr(&out), ">pipeline<"));
    text_free(&out);
}
END_TEST

static int count_of(const char *in, const char *words)
{
    int count = 0;
    for (; (in = strstr(in, words)); in++)
        count++;
    return count;
}

/* Whatever their number; the two panels have the same names. */
START_TEST(a_picture_has_a_line_for_each_strategy)
{
    static const char *const seen[] = {">data<", ">pipeline<", ">tensor<"};
    struct text out = TEXT_INIT;
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "2,4",
                                                             .strategies = "data,pipeline,tensor",
                                                             .target_acc = NAN}));
    ck_assert_int_eq(at.study.variant_count, RUNS);
    for (int i = 0; i < RUNS; i++) {
        measure(i, 100 + 50 * i, 0, 0, DATA_BEGINS);
        runs[i].measure.validated = true;
    }
    ck_assert(study_tabulate(&at.study, runs, &table, &at.err));
    study_table_svg(&table, &out);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        ck_assert_int_eq(count_of(text_cstr(&out), seen[i]), 4); /* legend and curve, twice */
    ck_assert_int_eq(count_of(text_cstr(&out), "test "), 0);
    text_free(&out);
    ck_assert_ptr_nonnull(strstr(
        sentence_of_devices(&table.rows[1].outcome, &table.rows[0].outcome, 8, text, sizeof text),
        ", the same validation accuracy;"));
}
END_TEST

Suite *strategies_suite(void)
{
    const TTest *const tests[] = {
        one_device_is_the_base_of_all,        strategies_are_those_asked_for,
        impossible_strategies_are_refused,    a_plan_of_strategies_survives_its_file,
        the_sentence_says_who_wins_and_why,   three_strategies_make_two_sentences,
        a_failed_strategy_leaves_the_other,   small_micro_batches_limit_a_pipeline,
        output_formats_tell_strategies_apart, a_picture_has_a_line_for_each_strategy,
    };
    Suite *suite = suite_create("strategies");
    TCase *cases = tcase_create("strategies");
    tcase_add_checked_fixture(cases, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite;
}
