/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run.h"

#include <stdlib.h>

#include "base/json.h"
#include "engine/train/resolve/devices.h"
#include "engine/train/resolve/resolve.h"
#include "engine/train/run/epoch.h"
#include "engine/train/run/learning.h"
#include "engine/train/run/prepare.h"
#include "engine/train/run/state.h"
#include "engine/weights/file.h"
#include "spec/json.h"

/* A range test asks at which rates the training loss falls; its weights are of no use. */
static bool evaluates(const struct run *run)
{
    return run->spec.schedule.shape != LR_RANGE;
}

/* After the epoch's steps; *done: everything that was to be trained has been. */
static bool finish_epoch(struct run *run, bool *done, struct error *err)
{
    bool evaluated = true;
    if (evaluates(run) && !run_evaluate(run, &evaluated, err))
        return false;
    run->stopped = !evaluated;
    if (!evaluated)
        return true;
    bool whole = run->metrics.epoch.steps == run->work.steps_per_epoch;
    run->metrics.epochs += whole;
    const bool counts = whole && run->metrics.epoch.epoch >= run->checkpoints.keep.measured_from;
    return (!counts || metrics_count_epoch(&run->metrics, err)) && report_epoch(run, err) &&
           run_report_stages(run, false, err) && (!whole || learning_check(run, err)) &&
           checkpoints_epoch(run, err) && live_settle(run, done, err);
}

static bool train(struct run *run, struct error *err)
{
    bool done = run->live.total_steps == 0, evaluated;
    if (!checkpoints_resume(run, err))
        return false;
    if (done) {
        /* Nothing to train: evaluate the initial weights. The devices are not prepared for more. */
        atomic_store(&run->meeting.asked->epochs, RUN_EPOCHS_FINAL);
        if (!run_evaluate(run, &evaluated, err))
            return false;
        run->stopped = !evaluated;
    }
    /* A run that is resumed may have had its last step already. */
    bool ended = *run->best.reason || (run->metrics.epoch.epoch >= run->spec.epochs &&
                                       run->metrics.steps >= run->live.total_steps);
    if (!done && ended && !live_settle(run, &done, err))
        return false;
    for (long epoch = run->metrics.epoch.epoch + 1; !done && !run->stopped; epoch++)
        if (!run_epoch(run, epoch, err) || (!run->stopped && !finish_epoch(run, &done, err)))
            return false;
    if (!profiler_end(&run->profiler, &run->ranks, err) || !report_profile(run, err) ||
        !run_report_stages(run, true, err))
        return false;
    /* So that it can be resumed from here. */
    return !run->stopped || run->metrics.steps == 0 ||
           run_control_stop_asked(run->live.control) == RUN_STOP_NOW ||
           checkpoints_write(run, true, err);
}

static bool save(struct run *run, struct error *err)
{
    if (!run->spec.save)
        return true;
    if (run_control_stop_asked(run->live.control) == RUN_STOP_NOW)
        return error_set(err, ERROR_CANCELLED, "stopped before the weights were saved");
    progress_phase(run, PHASE_SAVE);
    return checkpoints_export(run, err) && checkpoints_save(run, run->spec.save, err);
}

/* At the end of a run that chose by validation rows. */
static bool test(struct run *run, struct error *err)
{
    bool done = true;
    if (run->work.evaluated == &run->work.test || run->stopped || !evaluates(run))
        return true;
    if (!run_test(run, &done, err))
        return false;
    run->stopped = !done;
    return true;
}

static bool open_board(struct run *run, struct error *err)
{
    double now = clock_date();
    if (!run->spec.tensorboard || !meet_is_first(run))
        return true;
    if (!board_open(&run->report.board, run->spec.tensorboard, run->report.number,
                    run->checkpoints.keep.resumes, now, err))
        return false;
    json_t *settings = spec_to_json(&run->spec);
    board_put_settings(run->report.board, settings, now);
    json_decref(settings);
    return true;
}

static bool conduct(struct run *run, struct error *err)
{
    progress_phase(run, PHASE_PREPARE);
    if (run->spec.log && meet_is_first(run) &&
        !event_log_open(&run->report.log, run->spec.log, err))
        return false;
    run->progress.prepared = run_prepare(run, err);
    return run->progress.prepared && open_board(run, err) && report_run(run, err) &&
           train(run, err) && save(run, err) && test(run, err);
}

/* A run that could not even be set up still ends with an event. */
static bool end_unbegun(const struct run_sink *sink, const struct error *err)
{
    json_t *event = json_pack("{s:s, s:s, s:i, s:i, s:n, s:n, s:n, s:o}", "event", "end", "status",
                              "failed", "epochs", 0, "steps", 0, "test_acc", "s_per_epoch",
                              "samples_per_s", "error", json_any_text(err->text));
    if (event && sink->event)
        sink->event(sink->context, event);
    json_decref(event);
    return false;
}

/* Where viewers ask for changes, and where the run finds them. */
static void take_control(struct run *run, struct run_control *control)
{
    run->meeting.asked = control;
    run->live.control = control;
    if (!run->ranks.link)
        return;
    run_control_init(&run->meeting.control);
    run->live.control = &run->meeting.control;
}

/* A spec that comes over hosts has been resolved by whoever sent it. */
static bool resolve(struct run *run, struct error *err)
{
    const struct data_watch watch = {progress_reading, run};
    return run->ranks.link ? resolve_on_host(&run->spec, run->ranks.link, err)
                           : resolve_spec(&run->spec, &watch, err);
}

bool run_train_over(struct host_link *link, const struct run_limits *limits,
                    const struct spec *spec, long run_number, const struct run_keep *keep,
                    struct run_control *control, const struct run_sink *sink, struct error *err)
{
    static const struct run_sink nobody;
    struct run *run = calloc(1, sizeof *run);
    if (link && link->index > 0)
        sink = &nobody;
    if (!run) {
        error_memory(err, "run");
        return end_unbegun(sink, err);
    }
    if (!spec_copy(&run->spec, spec, err)) {
        free(run);
        return end_unbegun(sink, err);
    }
    run->report.number = run_number;
    if (keep)
        run->checkpoints.keep = *keep;
    run->limits = *limits;
    run->ranks.link = link;
    take_control(run, control);
    run->report.sink = sink;
    run->report.log = (struct event_log)EVENT_LOG_INIT;
    run->live.lr = spec->lr;
    metrics_begin(&run->metrics);
    struct error ignored = ERROR_INIT;
    bool ok = resolve(run, err) && conduct(run, err);
    if (!ok && link)
        link->fail(link->context, err);
    /* All hosts have agreed on it: none of them has failed. */
    if (ok && run->stopped)
        ok = error_set(err, ERROR_CANCELLED, "stopped after step %ld of %ld", run->metrics.steps,
                       run->live.total_steps);
    checkpoints_end(run, &ignored);
    progress_phase(run, PHASE_ENDED);
    report_end(run, ok ? NULL : err);
    report_close(&run->report);
    if (!run->ranks.workers || workers_dismiss(run->ranks.workers, run->limits.grace_s))
        run_release(run);
    return ok;
}

bool run_train_within(const struct run_limits *limits, const struct spec *spec, long run_number,
                      const struct run_keep *keep, struct run_control *control,
                      const struct run_sink *sink, struct error *err)
{
    return run_train_over(NULL, limits, spec, run_number, keep, control, sink, err);
}

bool run_train(const struct spec *spec, long run_number, const struct run_keep *keep,
               struct run_control *control, const struct run_sink *sink, struct error *err)
{
    const struct run_limits limits = RUN_LIMITS_DEFAULT;
    return run_train_within(&limits, spec, run_number, keep, control, sink, err);
}
