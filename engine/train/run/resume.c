/* SPDX-License-Identifier: MIT */
/* Resuming from a checkpoint: the second half of checkpoints.h. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "engine/train/run/checkpoints.h"
#include "engine/train/run/state.h"
#include "engine/weights/normalization.h"

/* The newest checkpoint that is whole; a damaged one is named in a warning, and stays. */
static bool find_checkpoint(struct checkpoints *checkpoints, long *steps, struct error *err)
{
    struct error *damage = &checkpoints->damage;
    const struct run_keep *keep = &checkpoints->keep;
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
    if (place->batch != run->spec.batch || place->train_rows != run->work.train_rows ||
        place->seed != run->spec.seed)
        return error_set(err, ERROR_USAGE,
                         "a run resumes only with its own batch, rows and seed (%ld, %ld, %llu)",
                         place->batch, place->train_rows, (unsigned long long)place->seed);
    if (place->steps > run->live.total_steps)
        return error_set(err, ERROR_USAGE,
                         "the run has done %ld step%s already and would end after step %ld: give "
                         "it more epochs",
                         place->steps, plural(place->steps), run->live.total_steps);
    if (place->epoch.steps > run->work.steps_per_epoch)
        return error_set(err, ERROR_FAILED, "the checkpoint is of another run");
    return true;
}

/* What the run normalised pixels by when it began. */
static bool read_normalization(const char *folder, long steps, struct net *net, struct error *err)
{
    char *path = checkpoint_path(folder, steps);
    bool ok = path ? normalization_read(path, net, err) : error_memory(err, "checkpoint");
    free(path);
    return ok;
}

bool checkpoints_read(struct run *run, struct error *err)
{
    struct checkpoint *from = &run->checkpoints.resumed;
    const char *folder = run->checkpoints.keep.checkpoints;
    const struct state_arrays arrays = optimizer_states(&run->spec);
    long steps;
    if (!checkpoint_create(run->work.net, &arrays, from, err) ||
        !find_checkpoint(&run->checkpoints, &steps, err) ||
        !checkpoint_read(run->work.net, folder, steps, from, err) ||
        !read_normalization(folder, steps, run->work.net, err) ||
        !check_resumable(run, &from->place, err))
        return false;
    weights_copy(run->work.net, &run->work.weights, &from->weights);
    run->checkpoints.tracked_before = from->weights.batches_tracked - from->place.steps;
    run->ranks.resumed = from->state;
    return true;
}

bool checkpoints_begin_state(const struct checkpoints *checkpoints)
{
    const struct checkpoint_place *place = &checkpoints->resumed.place;
    return place->state_from > 0 && place->state_from == place->steps;
}

/* It may have to end at once, as it would have. */
static void resume_best(struct run *run, const struct checkpoint_place *place)
{
    const bool validation = isfinite(place->val_acc);
    run->best.score = place->best_acc;
    run->best.epoch = place->best_epoch;
    run->best.since = place->since_best;
    if (place->epoch.steps == 0 && place->evaluated && place->steps < run->live.total_steps)
        best_decide(&run->best, &run->spec, validation,
                    validation ? place->val_acc : place->test_acc);
}

static bool resume_metrics(struct run *run, const struct checkpoint_place *place, struct error *err)
{
    const long from = run->checkpoints.keep.measured_from;
    const struct metrics_sums all = {.epochs = place->epochs,
                                     .steps = place->steps,
                                     .rows = place->rows,
                                     .train_s = place->train_s,
                                     .eval_s = place->eval_s};
    struct metrics_sums before = {0};
    if (from > place->epochs + (place->epoch.steps > 0)) {
        before = all;
        before.train_s += place->epoch.seconds;
    } else if (from > 0) {
        before = (struct metrics_sums){.epochs = from - 1,
                                       .steps = (from - 1) * run->work.steps_per_epoch,
                                       .rows = (from - 1) * run->work.train_rows,
                                       .train_s = place->before_train_s,
                                       .eval_s = place->before_eval_s};
    }
    return metrics_resume(&run->metrics, &all, &before, place->times, place->time_count, err);
}

bool checkpoints_resume(struct run *run, struct error *err)
{
    const struct checkpoint_place *place = &run->checkpoints.resumed.place;
    if (!run->checkpoints.keep.resumes)
        return true;
    if (isfinite(place->best_acc) && meet_is_first(run) &&
        !checkpoint_find_best(run->checkpoints.keep.checkpoints, place->steps,
                              &run->checkpoints.best_steps, err))
        return false;
    run->metrics.val_loss = place->val_loss;
    run->metrics.val_acc = place->val_acc;
    run->metrics.test_loss = place->test_loss;
    run->metrics.test_acc = place->test_acc;
    run->metrics.noise = (struct noise_estimate){place->noise_signal, place->noise_variance};
    run->metrics.epoch.epoch = place->epochs;
    if (!resume_metrics(run, place, err))
        return false;
    resume_best(run, place);
    return true;
}

double checkpoints_resume_epoch(struct run *run)
{
    const struct checkpoint_place *place = &run->checkpoints.resumed.place;
    struct epoch_metrics *epoch = &run->metrics.epoch;
    if (!run->checkpoints.keep.resumes || epoch->epoch != place->epochs + 1)
        return 0;
    epoch->steps = place->epoch.steps;
    epoch->interrupted = epoch->steps > 0;
    epoch->rows = place->epoch.rows;
    epoch->correct = place->epoch.correct;
    epoch->loss_sum = place->epoch.loss_sum;
    epoch->compute_s = place->epoch.compute_s;
    epoch->sync_s = place->epoch.sync_s;
    epoch->reduce_s = place->epoch.reduce_s;
    return epoch->before_s = place->epoch.seconds;
}
