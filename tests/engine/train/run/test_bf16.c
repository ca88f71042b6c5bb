/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>

#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"
#include "tests/trajectory.h"

/* Whole runs on CPU devices in bf16: beside f32, and divided over devices in all ways. Real CPU
 * devices, also on processors that have no instructions for it. */

#define ROWS    "max-steps=10 batch=29 train-rows=92 "
#define BATCHES ROWS "dtype=bf16 "

static const char *const types[] = {"f32", "bf16"};

/* Where other numbers are rounded, weights may be apart by some times what bf16 itself leads away
 * from f32, array by array, and its rounding. */
#define FACTOR 4.0
#define UNIT   0x1p-8

static void check_rough(const struct outcome *one, const struct outcome *other, const char *what)
{
    struct outcome exact = train("normalised", ROWS "dtype=f32"),
                   rough = train("normalised", BATCHES);
    for (int i = 0; i < one->net->param_count; i++) {
        const struct net_param *p = &one->net->params[i];
        const double off = difference(p, one->weights.values, other->weights.values);
        const double allowed =
            FACTOR * (difference(p, exact.weights.values, rough.weights.values) + UNIT);
        ck_assert_msg(off <= allowed, "%s: %s is off by %g, allowed %g", what, p->name, off,
                      allowed);
    }
    outcome_free(&exact);
    outcome_free(&rough);
}

START_TEST(losses_stay_beside_those_in_f32)
{
    char *model = format("%s/normalised.conf", folder);
    char *common = format("model=%s data=%s/data devices=cpu:0-1 cpu-threads=1 batch=16 "
                          "train-rows=128 epochs=25 lr=0.02 momentum=0.9 init=default",
                          model, folder);
    trajectory_check(folder, model, (struct net_shape){1, 8, 8}, common);
    free(common);
    free(model);
}
END_TEST

/* All numbers are rounded as on one device. */
START_TEST(devices_equal_one_device)
{
    static const char *const divided[] = {
        BATCHES "devices=cpu:0-1 sync-bn=true",
        BATCHES "devices=cpu:0-2 sync-bn=true sync=reduce-broadcast",
        BATCHES "devices=cpu:0-2 sync-bn=true sync=central split=weighted:1,2,3",
        BATCHES "devices=cpu:0-1 strategy=pipeline micro-batches=1 stages=unit",
    };
    struct outcome one = train("normalised", BATCHES), several = train("normalised", divided[_i]);
    check_close(&one, &several, NORMALISED_TOLERANCE, divided[_i]);
    outcome_free(&one);
    outcome_free(&several);
}
END_TEST

/* Parts of gradients are rounded before they are added up. */
START_TEST(slices_are_near_one_device)
{
    static const char *const slices[] = {
        BATCHES "devices=cpu:0-1 strategy=tensor",
        BATCHES "devices=cpu:0-2 strategy=tensor",
        BATCHES "devices=cpu:0-2 strategy=mixed sync-bn=true",
    };
    struct outcome one = train("normalised", BATCHES), several = train("normalised", slices[_i]);
    check_rough(&one, &several, slices[_i]);
    outcome_free(&one);
    outcome_free(&several);
}
END_TEST

/* Of micro-batches each has statistics of its own. */
START_TEST(pipelines_stay_beside_those_in_f32)
{
    static const char *const pipelines[] = {
        "devices=cpu:0-1 strategy=pipeline micro-batches=3 stages=unit",
        "devices=cpu:0-3 strategy=pipeline micro-batches=4 stages=unit replicas=2"};
    struct outcome got[2];
    for (int i = 0; i < 2; i++) {
        char *all = format(ROWS "dtype=%s %s", types[i], pipelines[_i]);
        got[i] = train("normalised", all);
        free(all);
    }
    check_rough(&got[0], &got[1], pipelines[_i]);
    outcome_free(&got[0]);
    outcome_free(&got[1]);
}
END_TEST

START_TEST(same_seed_same_bits)
{
    static const char *const all[] = {BATCHES "devices=cpu:0-1",
                                      BATCHES "devices=cpu:0-1 strategy=tensor",
                                      BATCHES "devices=cpu:0-1 strategy=pipeline stages=unit"};
    struct outcome one = train("normalised", all[_i]), again = train("normalised", all[_i]);
    check_same(&one, &again, all[_i]);
    outcome_free(&one);
    outcome_free(&again);
}
END_TEST

/* What they computed in: small networks that fit in the caches in f32. */
START_TEST(record_tells_the_type)
{
    static const char *const models[] = {"normalised", "plain"};
    static const char *const told[] = {"[\"bf16\",\"bf16\"]", "[\"f32\",\"f32\"]"};
    struct recorder rec;
    parallel_begin(&rec, models[_i], BATCHES "devices=cpu:0-1");
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    const json_t *run = recorder_event(&rec, "run", 0);
    char *list = json_dumps(json_object_get(run, "types"), JSON_COMPACT);
    ck_assert_str_eq(list, told[_i]);
    ck_assert_str_eq(json_string_value(json_object_get(run, "dtype")), types[!_i]);
    free(list);
    recorder_free(&rec);
}
END_TEST

START_TEST(processors_without_it_refuse)
{
    struct recorder rec;
    unsetenv("DPARTUI_EMULATE_BF16");
    parallel_begin(&rec, "normalised", BATCHES "devices=cpu:0-1");
    ck_assert_int_eq(recorder_run(&rec), processor_has_bf16());
    if (!processor_has_bf16()) {
        ck_assert_int_eq(rec.err.kind, ERROR_USAGE);
        ck_assert_str_eq(rec.err.text, "dtype bf16: the processor has no instructions for bf16 "
                                       "(AVX512_BF16)");
    }
    recorder_free(&rec);
}
END_TEST

int main(void)
{
    if (setenv("DPARTUI_EMULATE_BF16", "1", 1) != 0)
        return 1;
    Suite *suite = suite_create("runs in bf16 on cpu devices");
    TCase *tc = add_parallel_case(suite, "bf16");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, losses_stay_beside_those_in_f32);
    tcase_add_loop_test(tc, devices_equal_one_device, 0, 4);
    tcase_add_loop_test(tc, slices_are_near_one_device, 0, 3);
    tcase_add_loop_test(tc, pipelines_stay_beside_those_in_f32, 0, 2);
    tcase_add_loop_test(tc, same_seed_same_bits, 0, 3);
    tcase_add_loop_test(tc, record_tells_the_type, 0, 2);
    tcase_add_test(tc, processors_without_it_refuse);
    return run_suites(suite, NULL);
}
