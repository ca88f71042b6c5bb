/* SPDX-License-Identifier: MIT */
#include "engine/train/run/checkpoints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/train/pipeline/pipeline.h"
#include "engine/train/run/command.h"
#include "engine/train/run/state.h"
#include "engine/train/step/rank.h"
#include "engine/weights/file.h"
#include "engine/weights/normalization.h"
#include "spec/json.h"

static char *recipe_text(const struct spec *spec)
{
    json_t *recipe = spec_recipe_to_json(spec);
    char *text = recipe ? json_to_text(recipe, JSON_COMPACT) : NULL;
    json_decref(recipe);
    return text;
}

bool checkpoints_begin(struct run *run, struct error *err)
{
    struct checkpoints *checkpoints = &run->checkpoints;
    checkpoints->best_steps = -1;
    best_begin(&run->best);
    checkpoints->last = clock_seconds();
    checkpoints->recipe = recipe_text(&run->spec);
    if (!checkpoints->recipe)
        return error_memory(err, "recipe");
    if (!checkpoints->keep.checkpoints ||
        (run->spec.checkpoint_epochs == 0 && !(run->spec.checkpoint_minutes > 0)))
        return true;
    checkpoints->wanted = true;
    if (!meet_is_first(run))
        return true;
    const struct checkpoint_writer_options options = {
        .folder = checkpoints->keep.checkpoints,
        .arrays = optimizer_states(&run->spec),
        .previous = checkpoints->keep.resumes ? checkpoints->resumed.place.steps : -1,
        .sync = checkpoints->keep.sync,
        .sync_context = checkpoints->keep.sync_context,
    };
    return checkpoint_writer_start(run->work.net, &options, &checkpoints->writer, err);
}

static void fill_place(const struct run *run, struct checkpoint_place *place)
{
    const struct metrics *metrics = &run->metrics;
    const struct epoch_metrics *epoch = &metrics->epoch;
    /* Its evaluation is done, so the epoch is over. */
    bool evaluated = isfinite(metrics_score(epoch));
    bool between = evaluated && epoch->steps == run->work.steps_per_epoch;
    *place = (struct checkpoint_place){
        .epochs = between ? epoch->epoch : epoch->epoch - 1,
        .steps = metrics->steps,
        .rows = metrics->rows,
        .lr = run->live.lr,
        .train_s = metrics->train_s,
        .eval_s = metrics->eval_s,
        .before_train_s = metrics->before.train_s,
        .before_eval_s = metrics->before.eval_s,
        .state_from = run->checkpoints.resumed.place.state_from,
        .val_loss = metrics->val_loss,
        .val_acc = metrics->val_acc,
        .test_loss = metrics->test_loss,
        .test_acc = metrics->test_acc,
        .evaluated = evaluated,
        .best_acc = run->best.score,
        .best_epoch = run->best.epoch,
        .since_best = run->best.since,
        .noise_signal = metrics->noise.signal,
        .noise_variance = metrics->noise.variance,
        .batch = run->spec.batch,
        .train_rows = run->work.train_rows,
        .seed = run->spec.seed,
    };
    place->time_count = metrics_times(metrics, place->times, CHECKPOINT_TIMES);
    place->cuts = run->ranks.pipeline ? run->ranks.pipeline->stages - 1 : 0;
    for (int i = 0; i < place->cuts; i++)
        place->cut[i] = run->ranks.rank[i].stage.end - 1;
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
    place->epoch.seconds = epoch->seconds > 0 ? epoch->seconds : epoch->spent_s;
    place->train_s -= epoch->seconds;
}

/* Failures are reported at once, with their number later, and then less and less often. */
#define FAILURES_S 60

static void count_failure(struct failures *failures, const struct error *reason)
{
    failures->last = clock_date();
    if (failures->count++ == 0)
        failures->first = failures->last;
    snprintf(failures->reason, sizeof failures->reason, "%s", reason->text);
}

/* `last`: what was not reported yet is reported now. */
static bool report_due(struct report *report, const char *about, const char *what,
                       struct failures *failures, bool last, struct error *err)
{
    double now = clock_seconds();
    if (failures->count == failures->reported ||
        (failures->reported > 0 && !last && now < failures->report_at))
        return true;
    failures->pause = failures->reported > 0 ? 2 * failures->pause : FAILURES_S;
    failures->reported = failures->count;
    failures->report_at = now + failures->pause;
    return report_failures(report, about, what, failures, err);
}

/*
 * A run does not end because a checkpoint cannot be written: the next one may be. Nor does it stop
 * writing them because the run store fails.
 */
static bool report_writer(struct checkpoints *checkpoints, struct report *report, bool last,
                          struct error *err)
{
    struct error reason = ERROR_INIT;
    if (!checkpoints->writer)
        return true;
    if (checkpoint_writer_failed(checkpoints->writer, &reason))
        count_failure(&checkpoints->writes, &reason);
    if (checkpoint_writer_unsynced(checkpoints->writer, &reason))
        count_failure(&checkpoints->syncs, &reason);
    return report_due(report, "checkpoint", "no checkpoint could be written", &checkpoints->writes,
                      last, err) &&
           report_due(report, "history",
                      "a checkpoint is ahead of what the run store has: if the engine is killed "
                      "now, epochs before it are missing in the run",
                      &checkpoints->syncs, last, err);
}

/* The weights, or their average; with `states` also the arrays that are kept besides, into `state`
 * on the first host. */
static bool export(struct run *run, bool states, float *state, struct error *err)
{
    run->ranks.exported = state;
    if (!run_swap_average(run, err) || !run_command(run, rank_export, 0, err) ||
        (states && !run_command(run, rank_export_state, 0, err)) || !run_swap_average(run, err))
        return false;
    run->work.weights.batches_tracked = run->checkpoints.tracked_before + run->metrics.steps;
    return true;
}

bool checkpoints_export(struct run *run, struct error *err)
{
    return export(run, false, NULL, err);
}

static struct checkpoint_origin origin_of(const struct run *run)
{
    const struct pictures *pictures = &run->work.data.pictures;
    return (struct checkpoint_origin){
        .model = run->spec.model,
        .data = run->spec.data,
        .recipe = run->checkpoints.recipe,
        .seed = run->spec.seed,
        .data_dir = run->spec.data_dir,
        .test_rows = run->spec.test_rows,
        .pictures = {.width = pictures->width,
                     .height = pictures->height,
                     .coloured = pictures->channels == 3,
                     .skip_broken = run->spec.pictures.skip_broken,
                     .test_share = run->spec.pictures.test_share},
    };
}

bool checkpoints_save(struct run *run, const char *path, struct error *err)
{
    const struct checkpoint_origin origin = origin_of(run);
    return !meet_is_first(run) ||
           checkpoint_save(run->work.net, path, &run->work.weights, &origin, err);
}

bool checkpoints_write(struct run *run, bool wait, struct error *err)
{
    struct checkpoints *checkpoints = &run->checkpoints;
    struct checkpoint *buffer =
        checkpoints->writer ? checkpoint_writer_take(checkpoints->writer, wait) : NULL;
    bool takes = buffer;
    if (!report_writer(checkpoints, &run->report, false, err))
        return false;
    if (checkpoints->wanted && !meet_share(run, &takes, sizeof takes, err))
        return false;
    if (!takes)
        return true;
    if (!export(run, optimizer_states(&run->spec).count > 0, buffer ? buffer->state : NULL, err))
        return false;
    if (!buffer)
        return true;
    fill_place(run, &buffer->place);
    buffer->origin = origin_of(run);
    weights_copy(run->work.net, &buffer->weights, &run->work.weights);
    weights_release_pages(run->work.net, &run->work.weights);
    checkpoints->last = clock_seconds();
    checkpoint_writer_give(checkpoints->writer, checkpoints->best_steps);
    return true;
}

/* Save the weights of the epoch that was evaluated, if it is the best, and see whether it is the
 * last. */
static bool take_epoch(struct run *run, struct error *err)
{
    struct best *best = &run->best;
    const struct epoch_metrics *epoch = &run->metrics.epoch;
    const double score = metrics_score(epoch);
    best_take(best, score, epoch->epoch);
    if (run->metrics.steps < run->live.total_steps)
        best_decide(best, &run->spec, run->work.evaluated == &run->work.validation, score);
    return !best->newest || !run->spec.save_best ||
           (checkpoints_export(run, err) && checkpoints_save(run, run->spec.save_best, err));
}

bool checkpoints_minutes_are_up(const struct run *run)
{
    const double minutes = run->spec.checkpoint_minutes;
    return minutes > 0 && clock_seconds() - run->checkpoints.last >= 60 * minutes;
}

/* As the first host says. */
static bool minutes_are_up(const struct run *run)
{
    return run->ranks.link ? run->meeting.minutes_are_up : checkpoints_minutes_are_up(run);
}

bool checkpoints_epoch(struct run *run, struct error *err)
{
    struct checkpoints *checkpoints = &run->checkpoints;
    const struct epoch_metrics *epoch = &run->metrics.epoch;
    if (!take_epoch(run, err))
        return false;
    const bool best = run->best.newest;
    bool last = run->metrics.steps >= run->live.total_steps || *run->best.reason;
    long every = run->spec.checkpoint_epochs;
    bool due = (every > 0 && (epoch->epoch % every == 0 || best)) || minutes_are_up(run) || last;
    if (!due)
        return true;
    if (best)
        checkpoints->best_steps = run->metrics.steps;
    return checkpoints_write(run, best || last, err);
}

bool checkpoints_step(struct run *run, struct error *err)
{
    if (!run->checkpoints.wanted || !minutes_are_up(run))
        return true;
    return steps_drain(run, err) && checkpoints_write(run, false, err);
}

bool checkpoints_end(struct run *run, struct error *err)
{
    checkpoint_writer_stop(run->checkpoints.writer);
    return report_writer(&run->checkpoints, &run->report, true, err);
}

void checkpoints_free(struct checkpoints *checkpoints)
{
    checkpoint_free(&checkpoints->resumed);
    checkpoint_writer_free(checkpoints->writer);
    free(checkpoints->recipe);
}
