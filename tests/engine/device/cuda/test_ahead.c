/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config.h"
#include "engine/device/device.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/recorder.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Steps that are queued ahead, in whole runs on simulated GPUs. These do nothing before somebody
 * asks, so host memory that is written again too early shows in the results. A run with a profile
 * takes each step before it queues the next one: that is what the others are compared with.
 */

static const char model[] =
    "input = [ 64, 1, 1 ]; classes = 2;\n"
    "layers = ( { type = \"linear\"; outputs = 24; }, \"batchnorm\", \"relu\",\n"
    "  { type = \"dropout\"; p = 0.3; }, { type = \"linear\"; outputs = \"classes\"; } );\n";

static struct recorder rec;

/* Of `memory` MiB: with 2 the data do not fit, and rows are brought batch by batch. */
static void machine(size_t memory, enum simgpu_order order)
{
    simgpu_reset(
        &(struct simgpu_options){.devices = 2, .memory = memory << 20, .order = order, .seed = 5});
}

static void begin(const char *more)
{
    char *settings = format("model=%s/model.conf data=random:4000x64 init=default seed=4 lr=0.05 "
                            "batch=29 train-rows=190 test-rows=100 epochs=2 momentum=0.9 "
                            "deterministic=yes dtype=f32 save=%s/weights %s",
                            folder, folder, more);
    put_file(folder, "model.conf", model, strlen(model));
    recorder_init(&rec, settings);
    free(settings);
}

static void check_machine(void)
{
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}

static long step_of(const char *kind, const json_t *event)
{
    return strcmp(kind, "step") == 0 ? (long)recorder_number(event, "step") : 0;
}

/* --- what comes out --- */

enum { MOST_STEPS = 16 };

struct trace {
    int steps;
    double loss[MOST_STEPS], correct[MOST_STEPS], test_loss;
    char *weights;
    size_t length;
};

static struct trace trace_of_run(const char *more)
{
    struct trace trace = {0};
    struct error err = ERROR_INIT;
    char *file = format("%s/weights", folder);
    begin(more);
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    trace.steps = recorder_count(&rec, "step");
    ck_assert_int_le(trace.steps, MOST_STEPS);
    for (int i = 0; i < trace.steps; i++) {
        const json_t *step = recorder_event(&rec, "step", i);
        ck_assert_int_eq((long)recorder_number(step, "step"), i + 1);
        trace.loss[i] = recorder_number(step, "loss");
        trace.correct[i] = recorder_number(step, "correct");
    }
    trace.test_loss = recorder_number(recorder_event(&rec, "end", 0), "test_loss");
    ck_assert_msg(file_read(file, 1 << 20, &trace.weights, &trace.length, &err), "%s", err.text);
    recorder_free(&rec);
    check_machine();
    free(file);
    return trace;
}

static void expect_same(const struct trace *a, const struct trace *b)
{
    ck_assert_int_eq(a->steps, b->steps);
    for (int i = 0; i < a->steps; i++)
        ck_assert_msg(a->loss[i] == b->loss[i] && a->correct[i] == b->correct[i],
                      "step %d: loss %.17g and %.17g", i + 1, a->loss[i], b->loss[i]);
    ck_assert(a->test_loss == b->test_loss);
    ck_assert_uint_eq(a->length, b->length);
    ck_assert_mem_eq(a->weights, b->weights, a->length);
}

static const struct {
    const char *settings;
    size_t memory;
    enum simgpu_order order;
} lots[] = {
    {"devices=cuda:0", 64, SIMGPU_LAZY},
    {"devices=cuda:0", 2, SIMGPU_LAZY},
    {"devices=cuda:0", 2, SIMGPU_SHUFFLE},
    {"devices=cuda:0-1", 2, SIMGPU_LAZY},
    {"devices=cuda:0-1 split=weighted:2,1", 2, SIMGPU_SHUFFLE},
    {"devices=cuda:0-1 sync=central", 64, SIMGPU_LAZY},
    {"devices=cuda:0-1 sync-bn=yes", 64, SIMGPU_LAZY},
    /* Each step with a rate of its own. */
    {"devices=cuda:0 lr-schedule=cosine warmup=1", 64, SIMGPU_LAZY},
    {"devices=cuda:0 noise-every=2", 2, SIMGPU_LAZY},
    {"devices=cuda:0-1 lr-schedule=one-cycle", 2, SIMGPU_SHUFFLE},
};

START_TEST(bits_do_not_depend_on_it)
{
    char *alone = format("%s profile=yes", lots[_i].settings);
    machine(lots[_i].memory, SIMGPU_LAZY);
    struct trace expected = trace_of_run(alone);
    machine(lots[_i].memory, lots[_i].order);
    struct trace got = trace_of_run(lots[_i].settings);
    expect_same(&expected, &got);
    free(expected.weights);
    free(got.weights);
    free(alone);
}
END_TEST

/* --- nobody waits --- */

/* What has been done when a step is told. */
struct moment {
    long graphs, waits;
};

static struct moment moments[MOST_STEPS + 1];

static const char *const waits[] = {"cudaStreamQuery", "cudaStreamSynchronize",
                                    "cudaDeviceSynchronize", "cudaEventSynchronize"};

static void look(struct recorder *recorder, const char *kind, json_t *event)
{
    const long step = step_of(kind, event);
    struct moment now = {.graphs = simgpu_calls("cudaGraphLaunch")};
    (void)recorder;
    for (int i = 0; i < (int)(sizeof waits / sizeof *waits); i++)
        now.waits += simgpu_calls(waits[i]);
    if (step > 0)
        moments[step] = now;
}

/*
 * Epochs of 7 steps, the last one short. The first full pass is no graph and taken at once, before
 * the second one the queue is empty: so steps 4 and 5 have been queued when step 3 is told. Step 7
 * waits until the queue is empty, too, as it is of another size.
 */
START_TEST(two_steps_are_queued_behind_the_one_that_is_told)
{
    machine(64, SIMGPU_LAZY);
    begin(_i == 0 ? "devices=cuda:0" : "devices=cuda:0-1");
    rec.on_event = look;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    const long pieces = moments[3].graphs / 4;
    ck_assert_int_ge(pieces, _i + 1);
    for (long step = 2; step <= 4; step++) {
        ck_assert_int_eq(moments[step].graphs, pieces * (step + 1));
        ck_assert_int_eq(moments[step].waits, moments[2].waits);
    }
    recorder_free(&rec);
    check_machine();
}
END_TEST

/* --- figures --- */

/*
 * Steps follow each other without a gap and do not overlap, however many are queued: their seconds
 * are a part of the epoch's. Of a reduction every device has the same time, the rest is waiting.
 */
START_TEST(figures_are_of_one_step_after_the_other)
{
    machine(64, SIMGPU_LAZY);
    begin(_i == 0 ? "devices=cuda:0" : "devices=cuda:0-1 split=weighted:3,1");
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    for (int epoch = 0; epoch < 2; epoch++) {
        const json_t *event = recorder_event(&rec, "epoch", epoch);
        const json_t *devices = json_object_get(event, "devices");
        const double whole = recorder_number(event, "seconds");
        double sum = 0;
        for (int i = 7 * epoch; i < 7 * epoch + 7; i++)
            sum += recorder_number(recorder_event(&rec, "step", i), "seconds");
        ck_assert_msg(sum > 0 && sum <= whole, "steps of %g s in an epoch of %g s", sum, whole);
        for (size_t i = 0; i < json_array_size(devices); i++) {
            const json_t *device = json_array_get(devices, i);
            const double compute = recorder_number(device, "compute_s");
            const double sync = recorder_number(device, "sync_s");
            ck_assert(compute > 0 && compute + sync <= whole);
            ck_assert(_i == 0 ? sync == 0 : sync > 0);
            ck_assert(sync == recorder_number(json_array_get(devices, 0), "sync_s"));
        }
    }
    recorder_free(&rec);
    check_machine();
}
END_TEST

/* --- changes --- */

static long asked_at;

static void change_rate(struct recorder *recorder, const char *kind, json_t *event)
{
    if (step_of(kind, event) == asked_at)
        atomic_store(&recorder->control.lr, 0.5);
}

/* Of the steps that have been given to the device all but the first were graphs. */
static void pause_for_a_while(struct recorder *recorder, const char *kind, json_t *event)
{
    if (strcmp(kind, "retune") == 0)
        ck_assert_int_eq(simgpu_calls("cudaGraphLaunch"), (long)recorder_number(event, "step") - 1);
    if (step_of(kind, event) == asked_at)
        atomic_store(&recorder->control.paused, true);
    if (strcmp(kind, "retune") == 0)
        atomic_store(&recorder->control.paused, false);
}

/* The retunes come after the event of the step that they name, which is one of those queued when
 * they were asked for, and before the next one. */
static long place_of_change(const char *what)
{
    long step = 0, place = 0;
    for (size_t i = 0; i < json_array_size(rec.events); i++) {
        const json_t *event = json_array_get(rec.events, i);
        if (strcmp(recorder_string(event, "event"), "step") == 0) {
            ck_assert_int_eq((long)recorder_number(event, "step"), step + 1);
            step++;
        }
        if (strcmp(recorder_string(event, "event"), "retune") == 0) {
            ck_assert_int_eq((long)recorder_number(event, "step"), step);
            if (strcmp(recorder_string(event, "what"), what) == 0)
                place = step;
        }
    }
    ck_assert_int_ge(place, asked_at);
    ck_assert_int_le(place, asked_at + PASSES_AHEAD);
    return place;
}

/* Which steps had the new rate is what the events say: a run that waits for every step, with the
 * rate changed there, has the same losses. */
START_TEST(a_new_rate_begins_where_its_event_says)
{
    double loss[MOST_STEPS];
    machine(64, SIMGPU_LAZY);
    asked_at = 3;
    begin("devices=cuda:0");
    rec.on_event = change_rate;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    const long place = place_of_change("lr");
    const int steps = recorder_count(&rec, "step");
    for (int i = 0; i < steps; i++) {
        const json_t *event = recorder_event(&rec, "step", i);
        loss[i] = recorder_number(event, "loss");
        ck_assert(recorder_number(event, "lr") == (i < place ? 0.05 : 0.5));
    }
    recorder_free(&rec);
    asked_at = place;
    begin("devices=cuda:0 profile=yes");
    rec.on_event = change_rate;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    for (int i = 0; i < steps; i++)
        ck_assert(recorder_number(recorder_event(&rec, "step", i), "loss") == loss[i]);
    recorder_free(&rec);
    check_machine();
}
END_TEST

START_TEST(a_pause_begins_when_nothing_is_queued)
{
    machine(64, SIMGPU_LAZY);
    asked_at = 3;
    begin("devices=cuda:0");
    rec.on_event = pause_for_a_while;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_int_eq(place_of_change("pause"), place_of_change("resume"));
    ck_assert_int_eq(recorder_count(&rec, "step"), 14);
    recorder_free(&rec);
    check_machine();
}
END_TEST

static enum run_stop stop_how;

static void stop(struct recorder *recorder, const char *kind, json_t *event)
{
    if (step_of(kind, event) == asked_at)
        run_control_stop(&recorder->control, stop_how);
}

START_TEST(a_stop_tells_all_that_was_done)
{
    machine(64, SIMGPU_LAZY);
    asked_at = 3;
    stop_how = _i == 0 ? RUN_STOP_STEP : RUN_STOP_NOW;
    begin("devices=cuda:0-1");
    rec.on_event = stop;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_CANCELLED);
    const int steps = recorder_count(&rec, "step");
    if (_i == 0)
        ck_assert_int_eq(steps, asked_at + PASSES_AHEAD);
    ck_assert_int_eq((int)recorder_number(recorder_event(&rec, "end", 0), "steps"), steps);
    recorder_free(&rec);
    check_machine();
}
END_TEST

/* --- trouble --- */

START_TEST(divergence_is_told_of_its_own_step)
{
    char text[2][sizeof rec.err.text];
    machine(64, SIMGPU_LAZY);
    for (int run = 0; run < 2; run++) {
        begin(run ? "devices=cuda:0 lr=1e6 profile=yes" : "devices=cuda:0 lr=1e6");
        ck_assert(!recorder_run(&rec));
        char *step = format("at step %d:", recorder_count(&rec, "step"));
        ck_assert_msg(strstr(rec.err.text, step) != NULL, "%s, not %s", rec.err.text, step);
        strcpy(text[run], rec.err.text);
        free(step);
        recorder_free(&rec);
        check_machine();
    }
    ck_assert_str_eq(text[0], text[1]);
}
END_TEST

static void lose(struct recorder *recorder, const char *kind, json_t *event)
{
    (void)recorder;
    if (step_of(kind, event) == asked_at)
        simgpu_break(0, 700); /* illegal address */
}

static void hang(struct recorder *recorder, const char *kind, json_t *event)
{
    (void)recorder;
    if (step_of(kind, event) == asked_at)
        simgpu_hang(0, 3);
}

/* The first step that was not done is named, and the device. */
START_TEST(a_device_in_trouble_is_named_with_the_step)
{
    const bool hangs = _i % 2;
    machine(64, SIMGPU_LAZY);
    asked_at = 3;
    begin(_i < 2 ? "devices=cuda:0" : "devices=cuda:0-1");
    rec.on_event = hangs ? hang : lose;
    rec.limits.stall_s = hangs ? 4 : 60; /* with sanitizers a step takes long, too */
    rec.limits.grace_s = 3;
    ck_assert(!recorder_run(&rec));
    ck_assert_msg(strstr(rec.err.text, "cuda:0") != NULL, "%s", rec.err.text);
    if (!hangs)
        ck_assert_msg(strstr(rec.err.text, "step 4") != NULL, "%s", rec.err.text);
    ck_assert_int_eq(recorder_count(&rec, "step"), asked_at);
    recorder_free(&rec);
}
END_TEST

int main(void)
{
    enum { LOTS = sizeof lots / sizeof *lots };
    Suite *suite = suite_create("cuda_ahead");
    TCase *tcase = add_parallel_case(suite, "steps");
    tcase_add_loop_test(tcase, bits_do_not_depend_on_it, 0, LOTS);
#ifdef HAVE_NCCL
    tcase_add_loop_test(tcase, two_steps_are_queued_behind_the_one_that_is_told, 0, 2);
    tcase_add_loop_test(tcase, figures_are_of_one_step_after_the_other, 0, 2);
#else
    tcase_add_loop_test(tcase, two_steps_are_queued_behind_the_one_that_is_told, 0, 1);
    tcase_add_loop_test(tcase, figures_are_of_one_step_after_the_other, 0, 1);
#endif
    tcase_add_test(tcase, a_new_rate_begins_where_its_event_says);
    tcase_add_test(tcase, a_pause_begins_when_nothing_is_queued);
    tcase_add_loop_test(tcase, a_stop_tells_all_that_was_done, 0, 2);
    tcase_add_test(tcase, divergence_is_told_of_its_own_step);
    tcase_add_loop_test(tcase, a_device_in_trouble_is_named_with_the_step, 0, 4);
    return run_suites(suite, NULL);
}
