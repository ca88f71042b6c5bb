/* SPDX-License-Identifier: MIT */
#include "engine/train/run/epoch.h"

#include <math.h>

#include "base/clock.h"
#include "engine/train/pipeline/timeline.h"
#include "engine/train/run/command.h"
#include "engine/train/run/state.h"
#include "engine/train/split/order.h"
#include "engine/train/step/rank.h"
#include "engine/weights/file.h"

/* Steps of the run that the devices have been given. */
static long steps_given(const struct run *run)
{
    return run->metrics.steps + run->steps.pending;
}

/* Measures of the noise are no part of training, whatever devices there are. */
static double take_measured_s(struct run *run)
{
    const double seconds = run->steps.measured_s;
    run->steps.measured_s = 0;
    return seconds;
}

static bool take_steps(struct run *run, double start, double *paused_s, struct error *err)
{
    for (long begin = run->metrics.epoch.steps * run->spec.batch;
         begin < run->work.train_rows && steps_given(run) < run->live.total_steps;
         begin += run->spec.batch) {
        if (!live_wait_while_paused(run, paused_s, err) || !live_take_changes(run, err))
            return false;
        run->stopped = run_control_stop_asked(run->live.control) >= RUN_STOP_STEP;
        if (run->stopped)
            break;
        const long left = run->live.total_steps - run->metrics.steps;
        if (!profiler_before_step(&run->profiler, &run->ranks, left, err) ||
            !steps_give(run, begin, err))
            return false;
        *paused_s += take_measured_s(run);
        run->metrics.epoch.spent_s = clock_seconds() - start - *paused_s;
        if (!checkpoints_step(run, err))
            return false;
        progress_tick(run);
    }
    if (!steps_drain(run, err))
        return false;
    *paused_s += take_measured_s(run);
    return true;
}

bool run_epoch(struct run *run, long epoch, struct error *err)
{
    double paused_s = 0;
    struct order order = order_make(run->spec.order, run->spec.seed, (uint32_t)epoch,
                                    (uint32_t)run->work.train_rows);
    metrics_begin_epoch(&run->metrics, epoch);
    const struct run_sink *sink = run->report.sink;
    const double before_s = checkpoints_resume_epoch(run);
    if (epoch == run->checkpoints.keep.measured_from && !run->metrics.epoch.interrupted)
        metrics_count_from_here(&run->metrics);
    if (sink->energy_begin)
        sink->energy_begin(sink->context);
    double start = clock_seconds() - before_s;
    progress_phase(run, PHASE_TRAIN);
    workload_fill_order(&run->work, &order);
    if (!take_steps(run, start, &paused_s, err))
        return false;
    metrics_end_epoch(&run->metrics, clock_seconds() - start - paused_s);
    const double energy_j = sink->energy_end ? sink->energy_end(sink->context) : NAN;
    run->metrics.epoch.energy_j = run->metrics.epoch.interrupted ? NAN : energy_j;
    return true;
}

/* What the ranks counted, together. */
static bool hand_out_predictions(struct run *run, struct error *err)
{
    const struct run_sink *sink = run->report.sink;
    if (!run->ranks.predictions || run->work.evaluated != &run->work.test)
        return true;
    struct confusion *all = &run->ranks.rank[0].confusion;
    for (int i = 0; i < run->ranks.count; i++) {
        const struct confusion *part = &run->ranks.rank[i].confusion;
        const size_t counts = (size_t)part->classes * (size_t)part->classes;
        if (!meet_share_of(run, i, part->counts, counts * sizeof *part->counts, err))
            return false;
        if (i > 0)
            confusion_add(all, part);
    }
    if (sink->predictions)
        sink->predictions(sink->context, all, run->work.data.class_names);
    return true;
}

/* Every row is run exactly once, each device taking its share. */
bool run_evaluate(struct run *run, bool *done, struct error *err)
{
    double loss_sum = 0, begin = clock_seconds();
    long correct = 0;
    int most = 0;
    for (int i = 0; i < run->ranks.count; i++) {
        int rows = run->ranks.rank[i].eval[PASS_FULL].rows;
        most = rows > most ? rows : most;
    }
    *done = false;
    atomic_store(&run->ranks.evaluated, 0);
    atomic_store(&run->ranks.cut, run_control_stop_asked(run->live.control) >= RUN_STOP_STEP);
    if (atomic_load(&run->ranks.cut))
        return true;
    progress_phase(run, PHASE_EVAL);
    if (!run_swap_average(run, err) ||
        !run_command(run, run->ranks.strategy->evaluate, most * net_forward_flops(run->work.net),
                     err) ||
        !run_swap_average(run, err))
        return false;
    if (atomic_load(&run->ranks.cut))
        return true;
    for (int i = 0; i < run->ranks.count; i++) {
        loss_sum += run->ranks.rank[i].result.loss_sum;
        correct += run->ranks.rank[i].result.correct;
    }
    const struct row_set *set = run->work.evaluated;
    const bool validation = set == &run->work.validation;
    if (!isfinite(loss_sum) && run->metrics.steps == 0)
        return error_set(err, ERROR_FAILED,
                         "the %s loss of these weights is not finite: some are no numbers, or too "
                         "large; take other weights",
                         validation ? "validation" : "test");
    if (!isfinite(loss_sum))
        return error_set(err, ERROR_FAILED,
                         "the %s loss is not finite after step %ld: training has diverged; try a "
                         "smaller lr than %g, or a larger batch",
                         validation ? "validation" : "test", run->metrics.steps,
                         live_lr(run, run->metrics.steps - 1));
    metrics_evaluated(&run->metrics, validation, loss_sum / (double)set->rows,
                      (double)correct / (double)set->rows, clock_seconds() - begin);
    *done = hand_out_predictions(run, err);
    return *done;
}

/* The weights of the best epoch, from where they were saved, to all devices. */
static bool load_best(struct run *run, struct error *err)
{
    struct workload *work = &run->work;
    struct weights *weights = &work->weights;
    return (!meet_is_first(run) || weights_read(work->net, run->spec.save_best, weights, err)) &&
           meet_share(run, weights->values, work->net->value_count * sizeof *weights->values,
                      err) &&
           run_command(run, rank_import, 0, err) &&
           /* The evaluation will have the two change places once more. */
           run_swap_average(run, err);
}

bool run_test(struct run *run, bool *done, struct error *err)
{
    struct ranks *ranks = &run->ranks;
    struct workload *work = &run->work;
    struct row_shares shares;
    long full[SPEC_MAX_DEVICES];
    *done = false;
    if (run_control_stop_asked(run->live.control) >= RUN_STOP_STEP)
        return true;
    for (int i = 0; i < ranks->count; i++)
        full[i] = ranks->rank[i].train[PASS_FULL].rows;
    work->evaluated = &work->test;
    if (!share_rows_like(&run->spec, full, work->train_rows, work->test.rows, &shares, err))
        return false;
    ranks_take_shares(ranks, &shares);
    return (!run->spec.save_best || load_best(run, err)) &&
           run_command(run, ranks->strategy->change_shares, 0, err) && run_evaluate(run, done, err);
}

bool run_report_stages(struct run *run, bool last, struct error *err)
{
    struct pipeline *pipeline = run->ranks.pipeline;
    const long epoch = run->metrics.epoch.epoch;
    if (!pipeline || pipeline->step == pipeline->reported || (!last && (epoch & (epoch - 1)) != 0))
        return true;
    pipeline->reported = pipeline->step;
    json_t *event = timeline_json(pipeline, err);
    if (event && json_object_set_new(event, "epoch", json_integer(epoch)) != 0) {
        json_decref(event);
        return error_memory(err, "event");
    }
    return event && report_emit(&run->report, event, err);
}
