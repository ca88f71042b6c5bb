/* SPDX-License-Identifier: MIT */
#include "ui/state/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ui/state/read.h"

/* What a run's curve is made of: epochs, points between them, and changes from outside. */

bool curve_add_point(struct epoch_point **points, int *count, int *capacity, int most,
                     const struct epoch_point *point, struct error *err)
{
    int at = *count;
    while (at > 0 && (*points)[at - 1].epoch >= point->epoch)
        at--;
    if (at < *count && (*points)[at].epoch == point->epoch) {
        (*points)[at] = *point;
        return true;
    }
    if (*count >= most)
        return true;
    struct epoch_point *moved = array_grow(*points, *count, capacity, sizeof *moved);
    if (!moved)
        return error_memory(err, "a curve");
    *points = moved;
    memmove(&moved[at + 1], &moved[at], (size_t)(*count - at) * sizeof *moved);
    moved[at] = *point;
    ++*count;
    return true;
}

bool curve_add_epoch(struct state_run *run, const struct epoch_point *point, struct error *err)
{
    return curve_add_point(&run->points, &run->point_count, &run->point_capacity, STATE_MAX_POINTS,
                           point, err);
}

/* Half as many, as the engine does when there are too many: each is the later one of two. */
static void thin_out(struct state_run *run)
{
    for (int i = 0; i < run->fine_count / 2; i++)
        run->fine[i] = run->fine[2 * i + 1];
    run->fine_count /= 2;
}

bool curve_add_measure(struct state_run *run, const json_t *event, struct error *err)
{
    return run->measure.count >= STATE_MAX_POINTS || measure_add(&run->measure, event, err);
}

bool curve_add_fine(struct state_run *run, const json_t *event, struct error *err)
{
    struct epoch_point point;
    if (!read_epoch(event, &point))
        return true;
    if (run->fine_count == STATE_MAX_FINE)
        thin_out(run);
    return curve_add_point(&run->fine, &run->fine_count, &run->fine_capacity, STATE_MAX_FINE,
                           &point, err);
}

bool curve_add_retune(struct state_run *run, const json_t *event, struct error *err)
{
    struct retune retune;
    int at = run->retune_count;
    if (!read_retune(event, &retune))
        return true;
    while (at > 0 && run->retunes[at - 1].step > retune.step)
        at--;
    /* The same change heard twice: from `show` and as it happened. */
    for (int i = at; i > 0 && run->retunes[i - 1].step == retune.step; i--)
        if (strcmp(run->retunes[i - 1].what, retune.what) == 0 &&
            (run->retunes[i - 1].to == retune.to || isnan(retune.to)))
            return true;
    if (run->retune_count >= STATE_MAX_RETUNES)
        return true;
    struct retune *moved =
        array_grow(run->retunes, run->retune_count, &run->retune_capacity, sizeof *moved);
    if (!moved)
        return error_memory(err, "a curve");
    run->retunes = moved;
    memmove(&moved[at + 1], &moved[at], (size_t)(run->retune_count - at) * sizeof *moved);
    moved[at] = retune;
    run->retune_count++;
    return true;
}

bool curve_read(struct state_run *run, const json_t *show, struct error *err)
{
    const json_t *epochs = json_object_get(show, "epochs");
    const json_t *points = json_object_get(show, "points");
    const json_t *retunes = json_object_get(show, "retunes");
    for (size_t i = 0; i < json_array_size(epochs); i++) {
        struct epoch_point point;
        const json_t *event = json_array_get(epochs, i);
        if (read_epoch(event, &point) &&
            !(curve_add_epoch(run, &point, err) && curve_add_measure(run, event, err)))
            return false;
    }
    for (size_t i = 0; i < json_array_size(points); i++)
        if (!curve_add_fine(run, json_array_get(points, i), err))
            return false;
    for (size_t i = 0; i < json_array_size(retunes); i++)
        if (!curve_add_retune(run, json_array_get(retunes, i), err))
            return false;
    return true;
}

void curve_move(struct state_run *to, struct state_run *from)
{
    to->points = from->points;
    to->point_count = from->point_count;
    to->point_capacity = from->point_capacity;
    to->fine = from->fine;
    to->fine_count = from->fine_count;
    to->fine_capacity = from->fine_capacity;
    to->retunes = from->retunes;
    to->retune_count = from->retune_count;
    to->retune_capacity = from->retune_capacity;
    if (to->setting.digest == 0)
        to->setting = from->setting;
    to->measure = from->measure;
    to->curve_known = from->curve_known;
    to->curve_used = from->curve_used;
    from->points = from->fine = NULL;
    from->retunes = NULL;
    from->measure = (struct measure){.count = 0};
}

void curve_free(struct state_run *run)
{
    free(run->points);
    free(run->fine);
    free(run->retunes);
    measure_free(&run->measure);
    run->points = run->fine = NULL;
    run->retunes = NULL;
    run->point_count = run->point_capacity = run->fine_count = run->fine_capacity = 0;
    run->retune_count = run->retune_capacity = 0;
}

/* What was known when the engine was lost stays, too. */
static void drop_oldest(struct state *state)
{
    struct state_run *oldest = NULL;
    int known = 0;
    for (int i = 0; i < state->run_count; i++) {
        struct state_run *run = &state->runs[i];
        if (!run->curve_known && !run->points && !run->fine)
            continue;
        known++;
        if (!oldest || run->curve_used < oldest->curve_used)
            oldest = run;
    }
    if (known > STATE_MAX_CURVES) {
        curve_free(oldest);
        oldest->curve_known = false;
    }
}

bool state_use_curve(struct state *state, struct state_run *run)
{
    run->curve_used = ++state->curve_uses;
    /* A run that waits has none. */
    if (run->curve_known || run->status == RUN_QUEUED)
        return false;
    run->curve_known = true;
    drop_oldest(state);
    return true;
}
