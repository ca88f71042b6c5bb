/* SPDX-License-Identifier: MIT */
#include "engine/train/checkpoint/checkpoint.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "engine/train/checkpoint/place.h"
#include "engine/weights/file.h"
#include "engine/weights/safetensors.h"

bool checkpoint_create(const struct net *net, const struct state_arrays *arrays,
                       struct checkpoint *out, struct error *err)
{
    *out = (struct checkpoint){
        .place = {
            .val_loss = NAN, .val_acc = NAN, .test_loss = NAN, .test_acc = NAN, .best_acc = NAN}};
    if (!weights_create(net, &out->weights, err))
        return false;
    out->arrays = *arrays;
    if (arrays->count == 0)
        return true;
    out->state = calloc((size_t)arrays->count * net->value_count, sizeof *out->state);
    if (out->state)
        return true;
    weights_free(&out->weights);
    return error_memory(err, "checkpoint");
}

void checkpoint_free(struct checkpoint *checkpoint)
{
    weights_free(&checkpoint->weights);
    free(checkpoint->state);
    checkpoint->state = NULL;
}

static bool write_state(const struct net *net, const char *folder,
                        const struct checkpoint *checkpoint, struct error *err)
{
    if (checkpoint->arrays.count == 0)
        return true;
    char *path = checkpoint_state_path(folder, checkpoint->place.steps);
    bool ok = path ? state_write(net, path, &checkpoint->arrays, checkpoint->state, err)
                   : error_memory(err, "checkpoint");
    free(path);
    return ok;
}

static bool write_weights(const struct net *net, const char *folder,
                          const struct checkpoint *checkpoint, struct error *err)
{
    char *path = checkpoint_path(folder, checkpoint->place.steps);
    char *note = checkpoint_place_text(checkpoint);
    bool ok = path && note ? weights_write(net, path, &checkpoint->weights, note, err)
                           : error_memory(err, "checkpoint");
    free(path);
    free(note);
    return ok;
}

bool checkpoint_write(const struct net *net, const char *folder,
                      const struct checkpoint *checkpoint, const struct checkpoint_kept *kept,
                      struct error *err)
{
    return make_directories(folder, 0700, err) && write_state(net, folder, checkpoint, err) &&
           write_weights(net, folder, checkpoint, err) &&
           checkpoint_remove_older(folder, checkpoint->place.steps, kept, err);
}

bool checkpoint_save(const struct net *net, const char *path, const struct weights *weights,
                     const struct checkpoint_origin *origin, struct error *err)
{
    char *note = checkpoint_origin_text(origin);
    bool ok = note ? weights_write(net, path, weights, note, err)
                   : error_memory(err, "what the weights are of");
    free(note);
    return ok;
}

bool checkpoint_note(const char *path, json_t **note, struct error *err)
{
    char *text = NULL;
    *note = NULL;
    if (weights_read_note(path, &text, err)) {
        *note = json_read(text, strlen(text), 0, NULL);
    } else if (err->kind == ERROR_ABSENT) {
        *err = (struct error)ERROR_INIT;
        *note = json_object();
    } else {
        return false;
    }
    free(text);
    if (json_is_object(*note))
        return true;
    json_decref(*note);
    *note = NULL;
    return error_set(err, ERROR_FAILED, "%s: its place in the run cannot be read", path);
}

/* The validation or test accuracy of these weights, NAN: they were not evaluated, or cannot be
 * read. */
static double accuracy_of(const char *folder, long steps)
{
    struct error ignored = ERROR_INIT;
    json_t *note = NULL;
    char *path = checkpoint_path(folder, steps);
    double accuracy = NAN;
    if (path && checkpoint_note(path, &note, &ignored) && checkpoint_place_evaluated(note))
        accuracy = member_number(
            note, json_is_number(json_object_get(note, "val_acc")) ? "val_acc" : "test_acc");
    json_decref(note);
    free(path);
    return accuracy;
}

bool checkpoint_find_best(const char *folder, long most_steps, long *steps, struct error *err)
{
    long *all;
    size_t count;
    double best = NAN;
    *steps = -1;
    if (!checkpoint_list(folder, &all, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        double accuracy = all[i] <= most_steps ? accuracy_of(folder, all[i]) : NAN;
        bool equal = accuracy == best && all[i] < *steps;
        if (!isnan(accuracy) && (isnan(best) || accuracy > best || equal)) {
            best = accuracy;
            *steps = all[i];
        }
    }
    free(all);
    return *steps >= 0 ||
           checkpoint_find_before(folder, most_steps < LONG_MAX ? most_steps + 1 : most_steps,
                                  steps, err);
}

static bool read_state(const struct net *net, const char *folder, long steps,
                       struct checkpoint *checkpoint, bool found[STATE_ARRAYS], struct error *err)
{
    char *path = checkpoint_state_path(folder, steps);
    bool ok = path ? state_read(net, path, &checkpoint->arrays, checkpoint->state, found, err)
                   : error_memory(err, "checkpoint");
    free(path);
    return ok;
}

/* What a run with this optimizer would have before its first step. */
static void begin_state(const struct net *net, struct checkpoint *checkpoint, int array)
{
    float *values = checkpoint->state + (size_t)array * net->value_count;
    if (strcmp(checkpoint->arrays.names[array], STATE_UNAVERAGED) == 0) {
        memcpy(values, checkpoint->weights.values, net->value_count * sizeof *values);
        return;
    }
    memset(values, 0, net->value_count * sizeof *values);
    checkpoint->place.state_from = checkpoint->place.steps;
}

bool checkpoint_read(const struct net *net, const char *folder, long steps,
                     struct checkpoint *checkpoint, struct error *err)
{
    char *note = NULL, *path = checkpoint_path(folder, steps);
    bool has_state, found[STATE_ARRAYS] = {false};
    bool ok = path ? weights_read(net, path, &checkpoint->weights, err) &&
                         weights_read_note(path, &note, err) &&
                         checkpoint_place_parse(path, note, &checkpoint->place, &has_state, err)
                   : error_memory(err, "checkpoint");
    if (ok && checkpoint->arrays.count > 0 && has_state)
        ok = read_state(net, folder, steps, checkpoint, found, err);
    for (int i = 0; ok && i < checkpoint->arrays.count; i++)
        if (!found[i])
            begin_state(net, checkpoint, i);
    if (!ok && err->kind == ERROR_ABSENT)
        err->kind = ERROR_FAILED;
    free(note);
    free(path);
    return ok;
}

bool checkpoint_read_place(const char *folder, long steps, struct checkpoint_place *place,
                           struct error *err)
{
    char *note = NULL, *path = checkpoint_path(folder, steps);
    bool has_state;
    bool ok = path ? weights_read_note(path, &note, err) &&
                         checkpoint_place_parse(path, note, place, &has_state, err)
                   : error_memory(err, "checkpoint");
    if (!ok && err->kind == ERROR_ABSENT)
        err->kind = ERROR_FAILED;
    free(note);
    free(path);
    return ok;
}

/* The whole of a file: header, all tensors, and the place if it has one, which goes to *note. */
static bool verify_file(const char *path, char **note, struct error *err)
{
    struct safetensors file = SAFETENSORS_INIT;
    struct checkpoint_place place;
    bool has_state;
    *note = NULL;
    bool ok = safetensors_open(&file, path, err) && safetensors_verify(&file, err);
    safetensors_close(&file);
    if (!ok)
        return false;
    if (!weights_read_note(path, note, err)) {
        if (err->kind != ERROR_ABSENT)
            return false;
        *err = (struct error)ERROR_INIT;
        return true;
    }
    return !checkpoint_place_is(*note) ||
           checkpoint_place_parse(path, *note, &place, &has_state, err);
}

bool checkpoint_verify(const char *path, struct error *err)
{
    char *note;
    bool ok = verify_file(path, &note, err);
    free(note);
    return ok;
}

bool checkpoint_verify_steps(const char *folder, long steps, struct error *err)
{
    struct checkpoint_place place;
    bool has_state;
    char *path = checkpoint_path(folder, steps);
    char *state_path = checkpoint_state_path(folder, steps), *note = NULL;
    bool ok = path && state_path ? verify_file(path, &note, err) : error_memory(err, folder);
    if (ok && !note)
        ok = error_set(err, ERROR_FAILED, "%s: was not written as a checkpoint", path);
    ok = ok && checkpoint_place_parse(path, note, &place, &has_state, err) &&
         (place.steps == steps ||
          error_set(err, ERROR_FAILED, "%s: is the checkpoint of step %ld", path, place.steps)) &&
         (!has_state || checkpoint_verify(state_path, err));
    free(note);
    free(state_path);
    free(path);
    return ok;
}

bool checkpoint_find_whole(const char *folder, long *steps, struct error *damage, struct error *err)
{
    *damage = (struct error)ERROR_INIT;
    for (*steps = LONG_MAX; checkpoint_find_before(folder, *steps, steps, err);) {
        struct error first = ERROR_INIT, second = ERROR_INIT;
        /* Twice: a moment without memory or descriptors is no damage. */
        if (checkpoint_verify_steps(folder, *steps, &first) ||
            checkpoint_verify_steps(folder, *steps, &second))
            return true;
        if (damage->kind == ERROR_NONE)
            *damage = second;
    }
    if (err->kind != ERROR_ABSENT || damage->kind == ERROR_NONE)
        return false;
    *err = *damage;
    return error_prefix(err, "no checkpoint is whole");
}
