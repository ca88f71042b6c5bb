/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/train/run/divided_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Runs whose devices are the stages of a pipeline: they do what one device does, or, with
 * BatchNorm, what as many devices do as there are micro-batches. Real CPU devices, some of which
 * pose as others with faults.
 */

START_TEST(stages_equal_one_device)
{
    static const char *const pipelines[] = {
        "strategy=pipeline devices=cpu:0 micro-batches=1",
        "strategy=pipeline devices=cpu:0 micro-batches=4",
        "strategy=pipeline devices=cpu:0-1 micro-batches=1",
        "strategy=pipeline devices=cpu:0-1 micro-batches=2",
        "strategy=pipeline devices=cpu:0-1 micro-batches=5",
        "strategy=pipeline devices=cpu:0-2 micro-batches=4 split=balanced",
        "strategy=pipeline devices=cpu:0-2 micro-batches=5",
        "strategy=pipeline devices=cpu:0-1 micro-batches=29",
        "strategy=pipeline devices=cpu:0-3 replicas=2",
        "strategy=pipeline devices=cpu:0-5 replicas=2 micro-batches=3",
        "strategy=pipeline devices=cpu:0-2 replicas=3",
        "strategy=pipeline devices=cpu:0-3 replicas=2 split=balanced"};
    char *common = format(BATCHES "%s", divided_kinds[_i]);
    expect_one_devices("plain", common, pipelines, sizeof pipelines / sizeof *pipelines,
                       PLAIN_TOLERANCE);
    free(common);
}
END_TEST

/* A short mini-batch of more micro-batches than a full one has: by chunks of 2 the 4 rows of these
 * are two, the last 3 rows are three. */
START_TEST(short_batches_may_have_more_micro_batches)
{
    const char *pipeline = "strategy=pipeline micro-batches=3 devices=cpu:0-2";
    expect_one_devices("plain", "batch=4 train-rows=31 epochs=3 lr=0.5 momentum=0.9", &pipeline, 1,
                       PLAIN_TOLERANCE);
}
END_TEST

/* The last mini-batch has one row, which is the first pipeline's. */
START_TEST(pipeline_without_rows_adds_nothing)
{
    const char *pipeline = "strategy=pipeline replicas=2 devices=cpu:0-3";
    expect_one_devices("plain", "batch=10 train-rows=31 epochs=3 lr=0.5 momentum=0.9 test-rows=21",
                       &pipeline, 1, PLAIN_TOLERANCE);
}
END_TEST

/* Rows of validation after each epoch, those of test, which are more or fewer, in the end. */
START_TEST(validation_and_test_are_those_of_one_device)
{
    static const char *const rows[] = {"validation=0.5 test-rows=50", "validation=0.1 test-rows=50",
                                       "validation=0.3 test-rows=3"};
    char *common = format("batch=16 epochs=2 lr=0.2 %s", rows[_i]);
    static const char *const pipelines[] = {"devices=cpu:0-2 stages=1,4",
                                            "devices=cpu:0-3 replicas=2"};
    struct outcome one = train("plain", common);
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        char *settings = format("%s strategy=pipeline %s", common, pipelines[i]);
        struct outcome stages = train("plain", settings);
        check_close(&one, &stages, PLAIN_TOLERANCE, settings);
        ck_assert_double_eq(one.test_acc, stages.test_acc);
        outcome_free(&stages);
        free(settings);
    }
    outcome_free(&one);
    free(common);
}
END_TEST

static void check_trained(const struct outcome *one, const struct outcome *other, const char *what)
{
    for (int i = 0; i < one->net->param_count; i++) {
        const struct net_param *param = &one->net->params[i];
        double off = difference(param, one->weights.values, other->weights.values);
        ck_assert_msg(!net_is_trained(param) || off < NORMALISED_TOLERANCE, "%s: %s is off by %g",
                      what, param->name, off);
    }
}

/* Each micro-batch has statistics of its own, as each shard has. */
START_TEST(micro_batches_normalise_as_devices_do)
{
    static const char *const pairs[][2] = {
        {"devices=cpu:0-1 split=chunk", "devices=cpu:0-1 micro-batches=2 split=chunk"},
        {"devices=cpu:0-3 split=balanced", "devices=cpu:0-3 micro-batches=4 split=balanced"},
        {"devices=cpu:0", "devices=cpu:0-1 micro-batches=1"},
        /* Of each of two pipelines there are two. */
        {"devices=cpu:0-3 split=balanced",
         "devices=cpu:0-3 replicas=2 micro-batches=2 split=balanced"},
    };
    char *data = format(BATCHES "momentum=0.9 %s", pairs[_i][0]);
    char *pipeline = format(BATCHES "momentum=0.9 strategy=pipeline %s", pairs[_i][1]);
    struct outcome one = train("normalised", data), other = train("normalised", pipeline);
    check_trained(&one, &other, pipeline);
    outcome_free(&one);
    outcome_free(&other);
    free(data);
    free(pipeline);
}
END_TEST

/* Of pipelines without stages each is a device with a shard: even running statistics are those. */
START_TEST(pipelines_of_one_stage_are_devices)
{
    const char *data = BATCHES "momentum=0.9 devices=cpu:0-2";
    char *settings = format("%s strategy=pipeline replicas=3 micro-batches=1", data);
    struct outcome one = train("normalised", data), other = train("normalised", settings);
    check_close(&one, &other, NORMALISED_TOLERANCE, settings);
    outcome_free(&one);
    outcome_free(&other);
    free(settings);
}
END_TEST

START_TEST(same_seed_same_stages_same_bits)
{
    static const char *const devices[] = {"devices=cpu:0-2", "devices=cpu:0-3 replicas=2"};
    char *settings = format(BATCHES "strategy=pipeline %s momentum=0.9 clip-norm=0.1 stages=%s",
                            devices[_i], _i == 0 ? "2,unit" : "unit");
    struct outcome one = train("normalised", settings), two = train("normalised", settings);
    check_same(&one, &two, "again");
    outcome_free(&one);
    outcome_free(&two);
    free(settings);
}
END_TEST

START_TEST(events_tell_stages_and_rows)
{
    struct recorder rec;
    ck_assert_msg(
        divided_run(&rec, "normalised", BATCHES "strategy=pipeline devices=cpu:0-1 stages=unit"),
        "%s", rec.err.text);
    const json_t *event = recorder_event(&rec, "run", 0);
    ck_assert_str_eq(recorder_string(event, "stages"), "unit");
    ck_assert_str_eq(recorder_string(event, "strategy"), "pipeline");
    ck_assert_double_eq(recorder_number(event, "micro_batches"), 8);
    /* Values and gradients of 8 x 8 x 8 numbers for each row, some with channels to fill a block.
     */
    const double bytes = recorder_number(event, "sync_bytes_per_step"), least = 2 * 29 * 512 * 4;
    ck_assert(bytes == least || bytes == 2 * least);
    event = recorder_event(&rec, "step", 3);
    ck_assert_double_eq(recorder_number(event, "rows"), 5);
    event = recorder_event(&rec, "epoch", 0);
    ck_assert_double_eq(recorder_number(event, "rows"), 92);
    recorder_free(&rec);
}
END_TEST

static const struct {
    const char *settings, *reason;
} mistakes[] = {
    {"devices=cpu:0-7", "cut into 4 stages at most, one for each device, and there are 8 devices"},
    {"devices=cpu:0-1 micro-batches=30 batch=29", "micro-batches 30: a mini-batch has 29 rows"},
    {"devices=cpu:0-1 split=auto", "split auto: the stages of a pipeline compute the same rows"},
    {"devices=cpu:0-1 split=weighted:1,2", "split weighted: the stages"},
    {"devices=cpu:0-1 sync=central", "sync central: the stages of a pipeline have parameters"},
    {"devices=cpu:0-1 sync-bn=yes", "sync-bn"},
    {"devices=cpu:0-1 split=even batch=30 micro-batches=4", "30 rows cannot be divided equally"},
    {"devices=cpu:0-1 stages=nobody", "no layer or unit 'nobody'"},
    {"devices=cpu:0-2 replicas=2", "replicas 2: 3 devices cannot be divided equally over 2"},
    {"devices=cpu:0-3 replicas=4 batch=5 split=chunk",
     "replicas 4: of the 5 rows of a mini-batch the last pipeline would have none"},
    {"devices=cpu:0-3 replicas=2 batch=5 micro-batches=3",
     "micro-batches 3: the last pipeline's part of a mini-batch has 2 rows"},
    {"devices=cpu:0-1 replicas=2 sync-bn=yes micro-batches=1",
     "sync-bn: not with pipelines in parallel"},
    {"devices=cpu:0-2 stages=unit", "1 name for 3 stages"},
};

enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

START_TEST(mistakes_are_named)
{
    char *settings = format("strategy=pipeline %s", mistakes[_i].settings);
    expect_refusal(settings, mistakes[_i].reason);
    free(settings);
}
END_TEST

static const enum posing_phase faults[] = {POSING_OPEN, POSING_PLAN, POSING_PASS, POSING_BUCKET,
                                           POSING_UPDATE};

enum { STAGES = 3, FAULTS = sizeof faults / sizeof *faults };

#define POSING BATCHES "strategy=pipeline devices=cuda:0-2 "

/* A pipeline of three stages, and three of one. */
static const char *const posing_stages[] = {POSING "micro-batches=6 stages=1,4",
                                            POSING "replicas=3"};

enum { POSED = sizeof posing_stages / sizeof *posing_stages };

START_TEST(stage_that_fails_is_named)
{
    expect_failure(posing_stages[_i % POSED], _i / POSED % STAGES, faults[_i / POSED / STAGES]);
}
END_TEST

START_TEST(stage_that_hangs_is_named)
{
    expect_hang(posing_stages[_i % POSED], _i / POSED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pipeline");
    TCase *tc = add_parallel_case(suite, "pipeline");
    tcase_add_loop_test(tc, stages_equal_one_device, 0, DIVIDED_KINDS);
    tcase_add_test(tc, short_batches_may_have_more_micro_batches);
    tcase_add_loop_test(tc, validation_and_test_are_those_of_one_device, 0, 3);
    tcase_add_loop_test(tc, micro_batches_normalise_as_devices_do, 0, 4);
    tcase_add_test(tc, pipelines_of_one_stage_are_devices);
    tcase_add_test(tc, pipeline_without_rows_adds_nothing);
    tcase_add_loop_test(tc, same_seed_same_stages_same_bits, 0, 2);
    tcase_add_test(tc, events_tell_stages_and_rows);
    tcase_add_loop_test(tc, mistakes_are_named, 0, MISTAKES);
    tcase_add_loop_test(tc, stage_that_fails_is_named, 0, FAULTS * STAGES * POSED);
    tcase_add_loop_test(tc, stage_that_hangs_is_named, 0, STAGES * POSED);
    return run_suites(suite, NULL);
}
