/* SPDX-License-Identifier: MIT */
#include "engine/train/checkpoint/place.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* By the names and words of the options that say so. */
static bool add_pictures(json_t *note, const struct checkpoint_origin *origin)
{
    char size[32];
    if (origin->pictures.width == 0)
        return true;
    snprintf(size, sizeof size, "%dx%d", origin->pictures.width, origin->pictures.height);
    json_t *more =
        json_pack("{s:s, s:s, s:f, s:b}", "image_size", size, "image_colour",
                  origin->pictures.coloured ? "colour" : "grey", "test_share",
                  origin->pictures.test_share, "skip_broken", origin->pictures.skip_broken);
    bool ok = more && json_object_update(note, more) == 0;
    json_decref(more);
    return ok;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_any_text(text) : json_null();
}

static bool add_origin(json_t *note, const struct checkpoint_origin *origin)
{
    const char *recipe = origin->recipe;
    json_t *more =
        json_pack("{s:o, s:o, s:o, s:I, s:o*}", "model", text_or_null(origin->model), "data",
                  text_or_null(origin->data), "data_dir", text_or_null(origin->data_dir),
                  "test_rows", (json_int_t)origin->test_rows, "recipe",
                  recipe ? json_read(recipe, strlen(recipe), 0, NULL) : NULL);
    bool ok = more && json_object_update(note, more) == 0;
    json_decref(more);
    return ok && add_pictures(note, origin);
}

static bool add_cuts(json_t *note, const struct checkpoint_place *place)
{
    json_t *cuts = place->cuts > 0 ? json_array() : NULL;
    bool ok = cuts || place->cuts == 0;
    for (int i = 0; ok && i < place->cuts; i++)
        ok = json_array_append_new(cuts, json_integer(place->cut[i])) == 0;
    if (ok && cuts)
        return json_object_set_new(note, "cuts", cuts) == 0;
    json_decref(cuts);
    return ok;
}

static bool add_times(json_t *note, const struct checkpoint_place *place)
{
    json_t *times = json_array();
    bool ok = times != NULL;
    for (int i = 0; ok && i < place->time_count; i++)
        ok = json_array_append_new(times, json_real(place->times[i])) == 0;
    if (ok)
        return json_object_set_new(note, "times", times) == 0;
    json_decref(times);
    return false;
}

/* All digits: a run that resumes must find the same numbers. Releases the note; NULL: memory ran
 * out. */
static char *note_text(json_t *note, bool ok)
{
    char *text = ok ? json_to_text(note, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(note);
    return text;
}

char *checkpoint_origin_text(const struct checkpoint_origin *origin)
{
    json_t *note = json_pack("{s:o}", "seed", json_integer((json_int_t)origin->seed));
    return note_text(note, note && add_origin(note, origin));
}

bool checkpoint_place_is(const char *text)
{
    json_t *object = json_read(text, strlen(text), 0, NULL);
    const bool is = !object || json_object_get(object, "version");
    json_decref(object);
    return is;
}

char *checkpoint_place_text(const struct checkpoint *checkpoint)
{
    const struct checkpoint_place *p = &checkpoint->place;
    json_t *object = json_pack(
        "{s:i, s:I, s:I, s:I, s:f, s:{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f}, s:f, s:f, s:o, s:o, "
        "s:b, s:o, s:b, s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:I}",
        "version", 1, "epochs", (json_int_t)p->epochs, "steps", (json_int_t)p->steps, "rows",
        (json_int_t)p->rows, "lr", p->lr, "epoch", "steps", (json_int_t)p->epoch.steps, "rows",
        (json_int_t)p->epoch.rows, "correct", (json_int_t)p->epoch.correct, "loss_sum",
        p->epoch.loss_sum, "seconds", p->epoch.seconds, "compute_s", p->epoch.compute_s, "sync_s",
        p->epoch.sync_s, "reduce_s", p->epoch.reduce_s, "train_s", p->train_s, "eval_s", p->eval_s,
        "test_loss", json_finite(p->test_loss), "test_acc", json_finite(p->test_acc), "evaluated",
        p->evaluated, "best_acc", json_finite(p->best_acc), "momentum",
        checkpoint->arrays.count > 0, "batch", (json_int_t)p->batch, "train_rows",
        (json_int_t)p->train_rows, "seed", json_integer((json_int_t)p->seed), "val_loss",
        json_finite(p->val_loss), "val_acc", json_finite(p->val_acc), "best_epoch",
        (json_int_t)p->best_epoch, "since_best", (json_int_t)p->since_best, "noise_signal",
        p->noise_signal, "noise_variance", p->noise_variance, "before_train_s", p->before_train_s,
        "before_eval_s", p->before_eval_s, "state_from", (json_int_t)p->state_from);
    return note_text(object, object && add_cuts(object, p) && add_times(object, p) &&
                                 add_origin(object, &checkpoint->origin));
}

/* Has it all the numbers that a run needs to resume? Those of an evaluation may be null. */
static bool is_whole(const json_t *object)
{
    static const char *const keys[] = {"epochs",     "steps", "rows",    "lr",    "batch",
                                       "train_rows", "seed",  "train_s", "eval_s"};
    static const char *const epoch_keys[] = {"steps", "rows", "correct", "loss_sum", "seconds"};
    const json_t *epoch = json_object_get(object, "epoch");
    bool whole = json_is_object(object);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        whole = whole && json_is_number(json_object_get(object, keys[i]));
    for (size_t i = 0; i < sizeof epoch_keys / sizeof *epoch_keys; i++)
        whole = whole && json_is_number(json_object_get(epoch, epoch_keys[i]));
    return whole;
}

static bool parse_counts(const json_t *object, struct checkpoint_place *p, struct error *err)
{
    const json_t *epoch = json_object_get(object, "epoch");
    const long most = 1L << 53;
    return json_get_long(object, "epochs", 0, most, &p->epochs, err) &&
           json_get_long(object, "steps", 0, most, &p->steps, err) &&
           json_get_long(object, "rows", 0, most, &p->rows, err) &&
           json_get_double(object, "lr", 0, SPEC_MAX_LR, &p->lr, err) &&
           json_get_long(object, "batch", 1, most, &p->batch, err) &&
           json_get_long(object, "train_rows", 1, most, &p->train_rows, err) &&
           json_get_long(epoch, "steps", 0, p->steps, &p->epoch.steps, err) &&
           json_get_long(epoch, "rows", 0, p->rows, &p->epoch.rows, err) &&
           json_get_long(epoch, "correct", 0, p->epoch.rows, &p->epoch.correct, err) &&
           json_get_double(epoch, "loss_sum", -INFINITY, INFINITY, &p->epoch.loss_sum, err) &&
           json_get_double(epoch, "seconds", 0, INFINITY, &p->epoch.seconds, err) &&
           json_get_double(epoch, "compute_s", 0, INFINITY, &p->epoch.compute_s, err) &&
           json_get_double(epoch, "sync_s", 0, INFINITY, &p->epoch.sync_s, err) &&
           json_get_double(epoch, "reduce_s", 0, INFINITY, &p->epoch.reduce_s, err) &&
           json_get_double(object, "train_s", 0, INFINITY, &p->train_s, err) &&
           json_get_double(object, "noise_signal", -INFINITY, INFINITY, &p->noise_signal, err) &&
           json_get_double(object, "noise_variance", -INFINITY, INFINITY, &p->noise_variance,
                           err) &&
           json_get_double(object, "eval_s", 0, INFINITY, &p->eval_s, err) &&
           json_get_double(object, "before_train_s", 0, INFINITY, &p->before_train_s, err) &&
           json_get_double(object, "before_eval_s", 0, INFINITY, &p->before_eval_s, err) &&
           json_get_long(object, "state_from", 0, p->steps, &p->state_from, err);
}

/* Whether they are places for cuts is for the network to say. */
static void parse_cuts(const json_t *object, struct checkpoint_place *p)
{
    const json_t *list = json_object_get(object, "cuts"), *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        const json_int_t cut = json_integer_value(item);
        if (p->cuts < SPEC_MAX_DEVICES)
            p->cut[p->cuts++] = cut >= 0 && cut < INT_MAX ? (int)cut : -1;
    }
}

static void parse_times(const json_t *object, struct checkpoint_place *p)
{
    const json_t *list = json_object_get(object, "times"), *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        if (p->time_count < CHECKPOINT_TIMES && json_is_number(item))
            p->times[p->time_count++] = json_number_value(item);
    }
}

/* Older checkpoints do not say; they were evaluated between epochs. */
bool checkpoint_place_evaluated(const json_t *object)
{
    const json_t *evaluated = json_object_get(object, "evaluated");
    return evaluated
               ? json_is_true(evaluated)
               : json_integer_value(json_object_get(json_object_get(object, "epoch"), "steps")) ==
                     0;
}

bool checkpoint_place_parse(const char *path, const char *text, struct checkpoint_place *p,
                            bool *has_state, struct error *err)
{
    json_error_t where;
    json_t *object = json_read(text, strlen(text), 0, &where);
    *p = (struct checkpoint_place){0};
    bool ok = json_is_object(object);
    if (ok && json_integer_value(json_object_get(object, "version")) != 1)
        ok = error_set(err, ERROR_FAILED, "%s: was written by another version of dpartui", path);
    else if (!is_whole(object))
        ok = error_set(err, ERROR_FAILED, "%s: its place in the run cannot be read", path);
    else
        ok = parse_counts(object, p, err) || error_prefix(err, "%s", path);
    if (ok) {
        p->seed = (uint64_t)json_integer_value(json_object_get(object, "seed"));
        p->val_loss = member_number(object, "val_loss");
        p->val_acc = member_number(object, "val_acc");
        p->best_epoch = (long)json_integer_value(json_object_get(object, "best_epoch"));
        p->since_best = (long)json_integer_value(json_object_get(object, "since_best"));
        p->test_loss = member_number(object, "test_loss");
        p->test_acc = member_number(object, "test_acc");
        p->best_acc = member_number(object, "best_acc");
        p->evaluated = checkpoint_place_evaluated(object);
        parse_cuts(object, p);
        parse_times(object, p);
        *has_state = !json_is_false(json_object_get(object, "momentum"));
    }
    json_decref(object);
    return ok;
}
