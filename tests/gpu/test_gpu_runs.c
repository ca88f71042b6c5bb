/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "engine/backends/registry.h"
#include "engine/device/device.h"
#include "engine/model/file.h"
#include "engine/weights/file.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/gpu/gpu_case.h"
#include "tests/recorder.h"
#include "tests/suites.h"
#include "tests/support.h"
#include "tests/trajectory.h"

/*
 * Whole runs on cuda:0: several replicas on it, CPU and GPU together, memory that runs out, and
 * losses in bf16 against those in f32. Each case is an item of tests/gpu/run. On a simulated GPU,
 * by `make check`, the small networks have to do.
 */

static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};

static const struct {
    const char *model, *settings;
    double tolerance;
} kinds[] = {
    {"plain", "", PLAIN_TOLERANCE},
    {"plain", "momentum=0.9 weight-decay=0.01", PLAIN_TOLERANCE},
    {"normalised", "sync-bn=yes", NORMALISED_TOLERANCE},
    {"normalised", "sync-bn=yes momentum=0.9 weight-decay=0.01", NORMALISED_TOLERANCE},
};

enum { METHODS = sizeof methods / sizeof *methods, KINDS = sizeof kinds / sizeof *kinds };

/* 92 rows in batches of 29 end with one of 5. */
#define ROWS "max-steps=10 batch=29 train-rows=92 dtype=f32"

static void expect_as_one(int kind, const char *one_device, const char *devices)
{
    char *alone = format(ROWS " %s devices=%s", kinds[kind].settings, one_device);
    struct outcome one = train(kinds[kind].model, alone);
    for (int method = 0; method < METHODS; method++) {
        char *settings =
            format(ROWS " %s devices=%s sync=%s", kinds[kind].settings, devices, methods[method]);
        struct outcome many = train(kinds[kind].model, settings);
        check_close(&one, &many, kinds[kind].tolerance, settings);
        outcome_free(&many);
        free(settings);
    }
    outcome_free(&one);
    free(alone);
}

/* Simulated, every kind with some of the lists of devices has to do. */
static bool takes_part(int devices, int kind)
{
    return !SIMULATED || devices == kind % 3;
}

START_TEST(replicas_equal_one)
{
    static const char *const devices[] = {"cuda:0,cuda:0", "cuda:0,cuda:0,cuda:0",
                                          "cuda:0,cuda:0 split=weighted:3,1",
                                          "cuda:0,cuda:0,cuda:0 split=weighted:2,0,1"};
    for (int i = 0; i < (int)(sizeof devices / sizeof *devices); i++)
        if (takes_part(i, _i))
            expect_as_one(_i, "cuda:0", devices[i]);
}
END_TEST

/* The network divided over devices that are all one GPU. */
START_TEST(strategies_equal_one)
{
    static const char *const strategies[] = {
        "pipeline devices=cuda:0,cuda:0 micro-batches=4",
        "pipeline devices=cuda:0,cuda:0,cuda:0 micro-batches=5",
        "pipeline devices=cuda:0,cuda:0 replicas=2 micro-batches=3",
        "tensor devices=cuda:0,cuda:0",
        "tensor devices=cuda:0,cuda:0,cuda:0",
        "mixed devices=cuda:0,cuda:0",
        "mixed devices=cuda:0,cuda:0 split=weighted:3,1"};
    char *alone = format(ROWS " %s devices=cuda:0", kinds[_i].settings);
    struct outcome one = train(kinds[_i].model, alone);
    for (int i = 0; i < (int)(sizeof strategies / sizeof *strategies); i++) {
        char *settings = format(ROWS " %s strategy=%s", kinds[_i].settings, strategies[i]);
        struct outcome many = train(kinds[_i].model, settings);
        check_close(&one, &many, kinds[_i].tolerance, settings);
        outcome_free(&many);
        free(settings);
    }
    outcome_free(&one);
    free(alone);
}
END_TEST

static bool has_cpu(void)
{
    struct device_info list[SPEC_MAX_DEVICES];
    struct error err = ERROR_INIT;
    char why[160] = "";
    const char *missing = "";
    int count = 0;
    const struct backend *cpu = backend_find(DEVICE_CPU, &missing);
    if (cpu && cpu->enumerate(list, SPEC_MAX_DEVICES, &count, why, sizeof why, &err) && count > 0)
        return true;
    printf("skipped: no CPU devices: %s\n", cpu ? why : missing);
    fflush(stdout);
    return false;
}

START_TEST(kinds_of_devices_mix)
{
    static const char *const devices[] = {"cpu:0,cuda:0", "cuda:0,cpu:0",
                                          "cpu:0,cuda:0,cuda:0 split=weighted:1,3,2"};
    for (int i = 0; has_cpu() && i < (int)(sizeof devices / sizeof *devices); i++)
        if (takes_part(i, _i))
            expect_as_one(_i, i == 1 ? "cuda:0" : "cpu:0", devices[i]);
}
END_TEST

/* Of every row 65536 numbers are kept, of 2 bytes at least; this many rows cannot fit. */
static const char wide_model[] = "default_input = [ 10, 1, 1 ]; default_classes = 10;\n"
                                 "layers = ( { type = \"linear\"; outputs = 65536; }, \"relu\",\n"
                                 "  { type = \"linear\"; outputs = \"classes\"; } );\n";

START_TEST(memory_runs_out_politely)
{
    struct device_info list[SPEC_MAX_DEVICES];
    struct error err = ERROR_INIT;
    char why[160] = "";
    const char *missing = "";
    int count = 0;
    const struct backend *gpu = backend_find(DEVICE_CUDA, &missing);
    ck_assert_msg(gpu != NULL, "%s", missing);
    ck_assert_msg(gpu->enumerate(list, SPEC_MAX_DEVICES, &count, why, sizeof why, &err) && count,
                  "%s%s", err.text, why);
    long rows = (long)(list[0].memory_bytes >> 16);
    put_file(folder, "wide.conf", wide_model, strlen(wide_model));
    char *settings = format("model=%s/wide.conf data=random:%ldx10 batch=%ld max-steps=1 "
                            "test-rows=16 devices=cuda:0 dtype=bf16",
                            folder, rows, rows);
    struct recorder rec;
    recorder_init(&rec, settings);
    ck_assert_msg(!recorder_run(&rec), "%ld rows fit into the memory", rows);
    printf("note: %s\n", rec.err.text);
    ck_assert_msg(strstr(rec.err.text, "cuda:0") && strstr(rec.err.text, "iB") &&
                      strstr(rec.err.text, "free"),
                  "the error does not tell device, need and free memory: %s", rec.err.text);
    recorder_free(&rec);
    free(settings);
    /* The engine and the device still work. */
    struct outcome next = train("normalised", ROWS " devices=cuda:0");
    struct outcome again = train("normalised", ROWS " devices=cuda:0");
    check_close(&next, &again, NORMALISED_TOLERANCE, "the next run");
    outcome_free(&next);
    outcome_free(&again);
}
END_TEST

/* --- losses in bf16 --- */

START_TEST(bf16_stays_beside_f32)
{
    char *model = format("%s/normalised.conf", folder);
    char *common = format("model=%s data=%s/data devices=cuda:0 batch=16 train-rows=128 epochs=3 "
                          "lr=0.02 momentum=0.9 init=default",
                          model, folder);
    trajectory_check(folder, model, (struct net_shape){1, 8, 8}, common);
    free(common);
    free(model);
}
END_TEST

#ifdef DPARTUI_REAL_GPU
START_TEST(bf16_stays_beside_f32_in_resnet18)
{
    char *model = shipped_model("resnet18");
    char *common = format("model=%s data=glyphs devices=cuda:0 batch=128 train-rows=5120 "
                          "test-rows=256 epochs=1 lr=0.01 momentum=0.9 init=default",
                          model);
    trajectory_check(folder, model, (struct net_shape){1, 28, 28}, common);
    free(common);
    free(model);
}
END_TEST
#endif

/* --- resuming --- */

static const char *const resumed_types[] = {"f32", "bf16"};

enum { RESUMED_TYPES = sizeof resumed_types / sizeof *resumed_types, STOP_AT = 7 };

static void stop_there(struct recorder *rec, const char *kind, json_t *event)
{
    if (strcmp(kind, "step") == 0 && recorder_number(event, "step") == STOP_AT)
        run_control_stop(&rec->control, RUN_STOP_STEP);
}

/* One run of 3 epochs of 5 steps, the last one short; `checkpoints` may be NULL. */
static void run_part(const char *type, const char *save, const char *checkpoints, bool stops,
                     bool resumes)
{
    struct recorder rec;
    char *settings = format("model=%s/normalised.conf data=%s/data devices=cuda:0 dtype=%s "
                            "deterministic=yes batch=29 epochs=3 lr=0.05 momentum=0.9 "
                            "init=default save=%s/%s",
                            folder, folder, type, folder, save);
    recorder_init(&rec, settings);
    rec.keep = (struct run_keep){.checkpoints = checkpoints, .resumes = resumes};
    rec.on_event = stops ? stop_there : NULL;
    ck_assert_msg(recorder_run(&rec) != stops, "%s: %s", settings, rec.err.text);
    if (resumes) {
        /* After the steps that were queued when the run was stopped. */
        double at = recorder_number(recorder_event(&rec, "run", 0), "resumed_at");
        ck_assert(at >= STOP_AT && at <= STOP_AT + PASSES_AHEAD);
    }
    recorder_free(&rec);
    free(settings);
}

START_TEST(goes_on_to_the_same_bits)
{
    const char *type = resumed_types[_i];
    char *checkpoints = format("%s/checkpoints", folder);
    char *whole = format("%s/whole", folder), *parts = format("%s/parts", folder);
    struct error err = ERROR_INIT;
    char *data[2];
    size_t length[2];
    run_part(type, "whole", NULL, false, false);
    run_part(type, "stopped", checkpoints, true, false);
    run_part(type, "parts", checkpoints, false, true);
    ck_assert_msg(file_read(whole, 1 << 24, &data[0], &length[0], &err) &&
                      file_read(parts, 1 << 24, &data[1], &length[1], &err),
                  "%s", err.text);
    ck_assert_uint_eq(length[0], length[1]);
    ck_assert_mem_eq(data[0], data[1], length[0]);
    free(data[0]);
    free(data[1]);
    free(parts);
    free(whole);
    free(checkpoints);
}
END_TEST

/* --- queued ahead --- */

/* Weights and losses of a run of several epochs on cuda:0; `alone`: every step by itself, which is
 * how a run with a profile goes. */
static void run_steps(const char *type, bool alone, char **weights, size_t *length, double *loss)
{
    struct recorder rec;
    struct error err = ERROR_INIT;
    char *file = format("%s/steps", folder);
    char *settings = format("model=%s/normalised.conf data=%s/data devices=cuda:0 dtype=%s "
                            "deterministic=yes batch=29 epochs=6 lr=0.05 momentum=0.9 "
                            "init=default save=%s profile=%s",
                            folder, folder, type, file, alone ? "yes" : "no");
    recorder_init(&rec, settings);
    ck_assert_msg(recorder_run(&rec), "%s: %s", settings, rec.err.text);
    ck_assert_int_eq(recorder_count(&rec, "step"), 30);
    for (int i = 0; i < 30; i++)
        loss[i] = recorder_number(recorder_event(&rec, "step", i), "loss");
    ck_assert_msg(file_read(file, 1 << 24, weights, length, &err), "%s", err.text);
    recorder_free(&rec);
    free(settings);
    free(file);
}

START_TEST(steps_queued_ahead_give_the_same_bits)
{
    double loss[2][30];
    char *weights[2];
    size_t length[2];
    for (int alone = 0; alone < 2; alone++)
        run_steps(resumed_types[_i], alone, &weights[alone], &length[alone], loss[alone]);
    for (int i = 0; i < 30; i++)
        ck_assert_msg(loss[0][i] == loss[1][i], "step %d: loss %.17g queued, %.17g alone", i + 1,
                      loss[0][i], loss[1][i]);
    ck_assert_uint_eq(length[0], length[1]);
    ck_assert_mem_eq(weights[0], weights[1], length[0]);
    free(weights[0]);
    free(weights[1]);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
    return gpu_case(add_parallel_case(suite, name), 300);
}

int main(void)
{
    Suite *suite = suite_create("gpu runs");
    tcase_add_loop_test(add_case(suite, "replicas"), replicas_equal_one, 0, KINDS);
    tcase_add_loop_test(add_case(suite, "strategies"), strategies_equal_one, 0, 2);
    tcase_add_loop_test(add_case(suite, "mixed"), kinds_of_devices_mix, 0, KINDS);
    tcase_add_test(add_case(suite, "memory"), memory_runs_out_politely);
    TCase *losses_case = add_case(suite, "trajectory");
    tcase_add_test(losses_case, bf16_stays_beside_f32);
#ifdef DPARTUI_REAL_GPU
    tcase_add_test(losses_case, bf16_stays_beside_f32_in_resnet18);
#endif
    TCase *bits_case = add_case(suite, "resume");
    tcase_add_loop_test(bits_case, goes_on_to_the_same_bits, 0, RESUMED_TYPES);
    tcase_add_loop_test(bits_case, steps_queued_ahead_give_the_same_bits, 0, RESUMED_TYPES);
    return run_suites(suite, NULL);
}
