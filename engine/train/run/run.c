/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run.h"

#include <stdlib.h>

#include "base/json.h"
#include "engine/train/run/run_state.h"

/* After the epoch's steps; *done: everything that was to be trained has been. */
static bool finish_epoch(struct run *run, bool *done, struct error *err)
{
    bool evaluated;
    if (!run_evaluate(run, &evaluated, err))
        return false;
    run->stopped = !evaluated;
    if (!evaluated)
        return true;
    bool whole = run->figures.epoch.steps == run->steps_per_epoch;
    return (!whole || figures_count_epoch(&run->figures, err)) && report_epoch(run, err) &&
           run_checkpoint_epoch(run, err) && run_settle(run, done, err);
}

static bool train(struct run *run, struct error *err)
{
    bool done = run->total_steps == 0, evaluated;
    if (!run_resume_figures(run, err))
        return false;
    if (done) {
        /* Nothing to train: the figures of the initial weights. The devices are not prepared for
         * more. */
        atomic_store(&run->control->epochs, RUN_EPOCHS_FINAL);
        if (!run_evaluate(run, &evaluated, err))
            return false;
        run->stopped = !evaluated;
    }
    /* A run that goes on may have had its last step already. */
    if (!done && run->figures.epoch.epoch >= run->spec.epochs &&
        run->figures.steps >= run->total_steps && !run_settle(run, &done, err))
        return false;
    for (long epoch = run->figures.epoch.epoch + 1; !done && !run->stopped; epoch++)
        if (!run_epoch(run, epoch, err) || (!run->stopped && !finish_epoch(run, &done, err)))
            return false;
    if (!run_end_profile(run, err))
        return false;
    /* So that it can go on from here. */
    return !run->stopped || run->figures.steps == 0 || run_stop_asked(run) == RUN_STOP_NOW ||
           run_checkpoint(run, true, err);
}

static bool save(struct run *run, struct error *err)
{
    if (!run->spec.save)
        return true;
    if (run_stop_asked(run) == RUN_STOP_NOW)
        return error_set(err, ERROR_CANCELLED, "stopped before the weights were saved");
    progress_phase(run, PHASE_SAVE);
    if (!run_command(run, rank_export, 0, err))
        return false;
    run->weights.batches_tracked = run->tracked_before + run->figures.steps;
    return weights_write(run->net, run->spec.save, &run->weights, err);
}

static bool open_board(struct run *run, struct error *err)
{
    return !run->spec.tensorboard || board_open(&run->board, run->spec.tensorboard, run->number,
                                                run->keep.resumes, clock_date(), err);
}

static bool conduct(struct run *run, struct error *err)
{
    progress_phase(run, PHASE_PREPARE);
    if (run->spec.log && !event_log_open(&run->log, run->spec.log, err))
        return false;
    run->prepared = run_prepare(run, err);
    if (!run->prepared || !open_board(run, err) || !report_run(run, err) || !train(run, err) ||
        !save(run, err))
        return false;
    return !run->stopped || error_set(err, ERROR_CANCELLED, "stopped after step %ld of %ld",
                                      run->figures.steps, run->total_steps);
}

/* A run of which not even the outset could be laid down still ends with an event. */
static bool end_unbegun(const struct run_sink *sink, const struct error *err)
{
    json_t *event =
        json_pack("{s:s, s:s, s:i, s:i, s:n, s:n, s:n, s:n, s:o}", "event", "end", "status",
                  "failed", "epochs", 0, "steps", 0, "test_acc", "s_per_epoch",
                  "s_per_epoch_median", "samples_per_s", "error", json_any_text(err->text));
    if (event && sink->event)
        sink->event(sink->context, event);
    json_decref(event);
    return false;
}

bool run_train_within(const struct run_limits *limits, const struct spec *spec, long run_number,
                      const struct run_keep *keep, struct run_control *control,
                      const struct run_sink *sink, struct error *err)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        error_memory(err, "run");
        return end_unbegun(sink, err);
    }
    if (!spec_copy(&run->spec, spec, err)) {
        free(run);
        return end_unbegun(sink, err);
    }
    run->number = run_number;
    if (keep)
        run->keep = *keep;
    run->limits = *limits;
    run->control = control;
    run->sink = sink;
    run->log = (struct event_log)EVENT_LOG_INIT;
    run->lr = spec->lr;
    figures_begin(&run->figures);
    struct error ignored = ERROR_INIT;
    bool ok = run_resolve(&run->spec, err) && conduct(run, err);
    run_end_saving(run, &ignored);
    progress_phase(run, PHASE_ENDED);
    report_end(run, ok ? NULL : err);
    event_log_close(&run->log);
    board_close(run->board, &ignored);
    if (!run->workers || workers_dismiss(run->workers, run->limits.grace_s))
        run_release(run);
    return ok;
}

bool run_train(const struct spec *spec, long run_number, const struct run_keep *keep,
               struct run_control *control, const struct run_sink *sink, struct error *err)
{
    const struct run_limits limits = RUN_LIMITS_DEFAULT;
    return run_train_within(&limits, spec, run_number, keep, control, sink, err);
}
