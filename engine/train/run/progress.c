/* SPDX-License-Identifier: MIT */
#include "engine/train/run/progress.h"

#include <math.h>

#include "base/clock.h"
#include "engine/train/run/state.h"

static const double INTERVAL_S = 0.25;

/* A speed of 0 has not been measured yet. */
static double measured(double rate)
{
    return rate > 0 ? rate : NAN;
}

/* Only what the calling thread may read while the workers are busy. */
static void show_devices(struct run *run)
{
    const struct epoch_metrics *epoch = &run->metrics.epoch;
    for (int i = 0; i < run->ranks.count; i++) {
        const struct rank *rank = &run->ranks.rank[i];
        const struct device_metrics *device = &epoch->devices[i];
        enum activity activity = (enum activity)atomic_load(&rank->activity);
        if (run->live.paused && activity == ACTIVITY_TRAIN)
            activity = ACTIVITY_IDLE;
        run->progress.shown[i] = (struct run_device){
            .id = rank->options.id,
            .state = activity_name(activity),
            .rows = rank->train[PASS_FULL].rows,
            .samples_per_s = measured(device->rate.value),
            .compute_s = device->compute_s,
            .sync_s = device->sync_s,
            .wait_s = metrics_wait(epoch, i),
            .memory_bytes = run->progress.prepared ? atomic_load(&rank->memory_bytes) : 0,
            .load = rank->load,
        };
    }
}

/* Where the run ends as things stand. */
static long last_step(const struct run *run)
{
    long epoch_end = run->metrics.epoch.epoch * run->work.steps_per_epoch;
    return run->live.stops_after_epoch && epoch_end < run->live.total_steps ? epoch_end
                                                                            : run->live.total_steps;
}

/* From the mean times of a step and of an evaluation so far; NAN before the first step. */
static double time_left(const struct run *run)
{
    const struct metrics *metrics = &run->metrics;
    if (run->progress.phase == PHASE_ENDED)
        return 0;
    if (metrics->steps == 0)
        return NAN;
    long last = last_step(run), steps = last - metrics->steps;
    long evaluations =
        (last + run->work.steps_per_epoch - 1) / run->work.steps_per_epoch - metrics->evaluations;
    const double evaluation_s = metrics_evaluation_s(metrics);
    return (double)steps * metrics_step_s(metrics) +
           (evaluation_s > 0 ? (double)evaluations * evaluation_s : 0);
}

/* Rows that have been evaluated: other hosts, which are not heard of meanwhile, are taken to be as
 * far as this one. */
static long evaluated(const struct run *run)
{
    const struct ranks *ranks = &run->ranks;
    const long done = atomic_load(&ranks->evaluated);
    long own = 0, all = 0;
    for (int i = 0; i < ranks->count; i++) {
        const long rows = ranks->rank[i].eval_rows;
        all += rows;
        own += i >= ranks->first && i < ranks->first + ranks->here ? rows : 0;
    }
    return own > 0 ? done * all / own : done;
}

static void deliver(struct run *run, double now)
{
    const struct metrics *metrics = &run->metrics;
    const struct epoch_metrics *epoch = &metrics->epoch;
    run->progress.last = now;
    show_devices(run);
    struct run_progress progress = {
        .phase = run->progress.phase,
        .epoch = epoch->epoch,
        .epochs = run->spec.epochs,
        .step = metrics->steps,
        .total_steps = run->live.total_steps,
        .epoch_step = epoch->steps,
        .steps_per_epoch = run->work.steps_per_epoch,
        .read = run->progress.read,
        .to_read = run->progress.to_read,
        .lr = live_lr(run, metrics->steps),
        .run_lr = run->live.lr,
        .train_loss = metrics_ratio(epoch->loss_sum, (double)epoch->rows),
        .train_acc = metrics_ratio((double)epoch->correct, (double)epoch->rows),
        .samples_per_s = measured(metrics->rate.value),
        .elapsed_s = now - metrics->begin,
        .eta_s = time_left(run),
        .evaluated = evaluated(run),
        .test_rows = run->work.evaluated ? run->work.evaluated->rows : 0,
        .device_count = run->ranks.count,
        .devices = run->progress.shown,
    };
    run->report.sink->progress(run->report.sink->context, &progress);
}

void progress_phase(struct run *run, enum run_phase phase)
{
    run->progress.phase = phase;
    if (run->report.sink->progress)
        deliver(run, clock_seconds());
}

bool progress_reading(void *context, long done, long total)
{
    struct run *run = context;
    run->progress.read = done;
    run->progress.to_read = total;
    progress_tick(run);
    return run_control_stop_asked(run->meeting.asked) < RUN_STOP_STEP && meet_goes_well(run);
}

void progress_tick(struct run *run)
{
    double now = clock_seconds();
    if (run->report.sink->progress && now - run->progress.last >= INTERVAL_S)
        deliver(run, now);
}
