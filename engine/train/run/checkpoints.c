/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"

/* When a run writes checkpoints, what is in them, and resuming from one. */

bool run_begin_saving(struct run *run, struct error *err)
{
    struct saving *saving = &run->saving;
    saving->best_steps = -1;
    saving->best_acc = NAN;
    saving->last = clock_seconds();
    if (!run->keep.checkpoints ||
        (run->spec.checkpoint_epochs == 0 && !(run->spec.checkpoint_minutes > 0)))
        return true;
    const struct checkpoint_writer_options options = {
        .folder = run->keep.checkpoints,
        .momentum = run->spec.momentum > 0,
        .previous = run->keep.resumes ? saving->resumed.place.steps : -1,
        .sync = run->keep.sync,
        .sync_context = run->keep.sync_context,
    };
    return checkpoint_writer_start(run->net, &options, &saving->writer, err);
}

static void fill_place(const struct run *run, struct checkpoint_place *place)
{
    const struct figures *figures = &run->figures;
    const struct epoch_figures *epoch = &figures->epoch;
    /* Its evaluation is done, so the epoch is over. */
    bool between = isfinite(epoch->test_loss) && epoch->steps == run->steps_per_epoch;
    *place = (struct checkpoint_place){
        .epochs = between ? epoch->epoch : epoch->epoch - 1,
        .steps = figures->steps,
        .rows = figures->rows,
        .lr = run->lr,
        .train_s = figures->train_s,
        .eval_s = figures->eval_s,
        .test_loss = figures->test_loss,
        .test_acc = figures->test_acc,
        .evaluated = isfinite(epoch->test_acc),
        .best_acc = run->saving.best_acc,
        .batch = run->spec.batch,
        .train_rows = run->train_rows,
        .seed = run->spec.seed,
    };
    if (between)
        return;
    place->epoch.steps = epoch->steps;
    place->epoch.rows = epoch->rows;
    place->epoch.correct = epoch->correct;
    place->epoch.loss_sum = epoch->loss_sum;
    place->epoch.compute_s = epoch->compute_s;
    place->epoch.sync_s = epoch->sync_s;
    place->epoch.reduce_s = epoch->reduce_s;
    /* An epoch that was cut short has its time counted already. */
    place->epoch.seconds = epoch->seconds > 0 ? epoch->seconds : run->epoch_spent_s;
    place->train_s -= epoch->seconds;
}

/* Failures are reported at once, with their number so much later, and then ever more seldom. */
#define FAILURES_S 60

static void count_failure(struct failures *failures, const struct error *reason)
{
    failures->last = clock_date();
    if (failures->count++ == 0)
        failures->first = failures->last;
    snprintf(failures->reason, sizeof failures->reason, "%s", reason->text);
}

/* `last`: what was not reported yet is reported now. */
static bool report_due(struct run *run, const char *about, const char *what,
                       struct failures *failures, bool last, struct error *err)
{
    double now = clock_seconds();
    if (failures->count == failures->reported ||
        (failures->reported > 0 && !last && now < failures->report_at))
        return true;
    failures->pause = failures->reported > 0 ? 2 * failures->pause : FAILURES_S;
    failures->reported = failures->count;
    failures->report_at = now + failures->pause;
    return report_failures(run, about, what, failures, err);
}

/*
 * A disk that takes no checkpoint is no reason to end; the next one may get there. Nor is a run
 * store that fails a reason to write none.
 */
static bool report_writer(struct run *run, bool last, struct error *err)
{
    struct saving *saving = &run->saving;
    struct error reason = ERROR_INIT;
    if (!saving->writer)
        return true;
    if (checkpoint_writer_failed(saving->writer, &reason))
        count_failure(&saving->writes, &reason);
    if (checkpoint_writer_unsynced(saving->writer, &reason))
        count_failure(&saving->syncs, &reason);
    return report_due(run, "checkpoint", "no checkpoint could be written", &saving->writes, last,
                      err) &&
           report_due(run, "history",
                      "a checkpoint is ahead of what the run store has: if the engine is killed "
                      "now, epochs before it are missing in the run",
                      &saving->syncs, last, err);
}

bool run_checkpoint(struct run *run, bool wait, struct error *err)
{
    struct saving *saving = &run->saving;
    struct checkpoint *buffer = saving->writer ? checkpoint_writer_take(saving->writer, wait) : NULL;
    if (!report_writer(run, false, err))
        return false;
    if (!buffer)
        return true;
    if (!run_command(run, rank_export, 0, err))
        return false;
    run->weights.batches_tracked = run->tracked_before + run->figures.steps;
    fill_place(run, &buffer->place);
    buffer->origin = (struct checkpoint_origin){
        .model = run->spec.model,
        .data = run->spec.data,
        .data_dir = run->spec.data_dir,
        .test_rows = run->spec.test_rows,
    };
    weights_copy(run->net, &buffer->weights, &run->weights);
    weights_let_go(run->net, &run->weights);
    saving->buffer = buffer;
    if (buffer->momentum && !run_command(run, rank_export_momentum, 0, err))
        return false;
    saving->last = clock_seconds();
    checkpoint_writer_give(saving->writer, saving->best_steps);
    return true;
}

bool run_checkpoint_epoch(struct run *run, struct error *err)
{
    struct saving *saving = &run->saving;
    const struct epoch_figures *epoch = &run->figures.epoch;
    bool best = isfinite(epoch->test_acc) && !(epoch->test_acc <= saving->best_acc);
    bool last = run->figures.steps >= run->total_steps;
    long every = run->spec.checkpoint_epochs;
    double minutes = run->spec.checkpoint_minutes;
    bool due = (every > 0 && (epoch->epoch % every == 0 || best)) ||
               (minutes > 0 && clock_seconds() - saving->last >= 60 * minutes) || last;
    if (best)
        saving->best_acc = epoch->test_acc;
    if (!due)
        return true;
    if (best)
        saving->best_steps = run->figures.steps;
    return run_checkpoint(run, best || last, err);
}

bool run_checkpoint_step(struct run *run, struct error *err)
{
    double minutes = run->spec.checkpoint_minutes;
    if (!run->saving.writer || !(minutes > 0) || clock_seconds() - run->saving.last < 60 * minutes)
        return true;
    return run_drain(run, err) && run_checkpoint(run, false, err);
}

/* The newest checkpoint that is whole; a damaged one is named in a warning, and stays. */
static bool find_checkpoint(struct run *run, long *steps, struct error *err)
{
    struct error *damage = &run->saving.damage;
    const struct run_keep *keep = &run->keep;
    if (!checkpoint_find_whole(keep->checkpoints, steps, damage, err))
        return false;
    if (keep->resume_steps > 0 && *steps != keep->resume_steps)
        return error_set(err, ERROR_FAILED,
                         "the checkpoint of step %ld was damaged while the run was waiting: resume "
                         "it again, from that of step %ld",
                         keep->resume_steps, *steps);
    if (damage->kind != ERROR_NONE)
        error_prefix(damage, "resumed from the older checkpoint of step %ld", *steps);
    return true;
}

static bool check_resumable(const struct run *run, const struct checkpoint_place *place,
                            struct error *err)
{
    if (place->batch != run->spec.batch || place->train_rows != run->train_rows ||
        place->seed != run->spec.seed)
        return error_set(err, ERROR_USAGE,
                         "a run resumes only with its own batch, rows and seed (%ld, %ld, %llu)",
                         place->batch, place->train_rows, (unsigned long long)place->seed);
    if (place->steps > run->total_steps)
        return error_set(err, ERROR_USAGE,
                         "the run has done %ld steps already and would end after step %ld: give "
                         "it more epochs",
                         place->steps, run->total_steps);
    if (place->epoch.steps > run->steps_per_epoch)
        return error_set(err, ERROR_FAILED, "the checkpoint is of another run");
    return true;
}

bool run_read_checkpoint(struct run *run, struct error *err)
{
    struct checkpoint *from = &run->saving.resumed;
    const char *folder = run->keep.checkpoints;
    long steps;
    if (!run->keep.resumes)
        return true;
    if (!checkpoint_create(run->net, run->spec.momentum > 0, from, err) ||
        !find_checkpoint(run, &steps, err) ||
        !checkpoint_read(run->net, folder, steps, from, err) ||
        !check_resumable(run, &from->place, err))
        return false;
    weights_copy(run->net, &run->weights, &from->weights);
    run->tracked_before = from->weights.batches_tracked - from->place.steps;
    return true;
}

bool run_resume_figures(struct run *run, struct error *err)
{
    const struct checkpoint_place *place = &run->saving.resumed.place;
    if (!run->keep.resumes)
        return true;
    run->saving.best_acc = place->best_acc;
    if (isfinite(place->best_acc) &&
        !checkpoint_find_best(run->keep.checkpoints, place->steps, &run->saving.best_steps, err))
        return false;
    run->figures.test_loss = place->test_loss;
    run->figures.test_acc = place->test_acc;
    run->figures.epoch.epoch = place->epochs;
    return figures_resume(&run->figures, place->steps, place->rows, place->epochs, place->train_s,
                          place->eval_s, err);
}

double run_resume_epoch(struct run *run)
{
    const struct checkpoint_place *place = &run->saving.resumed.place;
    struct epoch_figures *epoch = &run->figures.epoch;
    if (!run->keep.resumes || epoch->epoch != place->epochs + 1)
        return 0;
    epoch->steps = place->epoch.steps;
    epoch->rows = place->epoch.rows;
    epoch->correct = place->epoch.correct;
    epoch->loss_sum = place->epoch.loss_sum;
    epoch->compute_s = place->epoch.compute_s;
    epoch->sync_s = place->epoch.sync_s;
    epoch->reduce_s = place->epoch.reduce_s;
    return place->epoch.seconds;
}

bool run_end_saving(struct run *run, struct error *err)
{
    checkpoint_writer_stop(run->saving.writer);
    return report_writer(run, true, err);
}
