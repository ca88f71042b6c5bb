/* SPDX-License-Identifier: MIT */
#include "engine/train/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"

#define WEIGHTS_SUFFIX  ".safetensors"
#define MOMENTUM_SUFFIX ".momentum.safetensors"

char *checkpoint_default_folder(struct error *err)
{
    char *home = paths_data_home(err);
    char *folder = home ? path_join(home, "checkpoints") : NULL;
    if (home && !folder)
        error_memory(err, "checkpoints");
    free(home);
    return folder;
}

bool checkpoint_create(const struct net *net, bool momentum, struct checkpoint *out,
                       struct error *err)
{
    *out = (struct checkpoint){.place = {.test_loss = NAN, .test_acc = NAN, .best_acc = NAN}};
    if (!weights_create(net, &out->weights, err))
        return false;
    if (!momentum)
        return true;
    out->momentum = calloc(net->value_count, sizeof *out->momentum);
    if (out->momentum)
        return true;
    weights_free(&out->weights);
    return error_memory(err, "checkpoint");
}

void checkpoint_free(struct checkpoint *checkpoint)
{
    weights_free(&checkpoint->weights);
    free(checkpoint->momentum);
    checkpoint->momentum = NULL;
}

static char *path_of(const char *folder, long steps, const char *suffix)
{
    return text_format("%s/step-%08ld%s", folder, steps, suffix);
}

char *checkpoint_path(const char *folder, long steps)
{
    return path_of(folder, steps, WEIGHTS_SUFFIX);
}

static bool add_origin(json_t *note, const struct checkpoint_origin *origin)
{
    json_t *more = json_pack("{s:o, s:o, s:o, s:I}", "model",
                             origin->model ? json_any_text(origin->model) : json_null(), "data",
                             origin->data ? json_any_text(origin->data) : json_null(), "data_dir",
                             origin->data_dir ? json_any_text(origin->data_dir) : json_null(),
                             "test_rows", (json_int_t)origin->test_rows);
    bool ok = more && json_object_update(note, more) == 0;
    json_decref(more);
    return ok;
}

/* All digits: a run that goes on must find the very numbers. */
static char *note_text(const struct checkpoint *checkpoint)
{
    const struct checkpoint_place *p = &checkpoint->place;
    json_t *object = json_pack(
        "{s:i, s:I, s:I, s:I, s:f, s:{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f}, s:f, s:f, s:o, s:o, "
        "s:b, s:o, s:b, s:I, s:I, s:o}",
        "version", 1, "epochs", (json_int_t)p->epochs, "steps", (json_int_t)p->steps, "rows",
        (json_int_t)p->rows, "lr", p->lr, "epoch", "steps", (json_int_t)p->epoch.steps, "rows",
        (json_int_t)p->epoch.rows, "correct", (json_int_t)p->epoch.correct, "loss_sum",
        p->epoch.loss_sum, "seconds", p->epoch.seconds, "compute_s", p->epoch.compute_s, "sync_s",
        p->epoch.sync_s, "reduce_s", p->epoch.reduce_s, "train_s", p->train_s, "eval_s", p->eval_s,
        "test_loss", json_finite(p->test_loss), "test_acc", json_finite(p->test_acc), "evaluated",
        p->evaluated, "best_acc", json_finite(p->best_acc), "momentum",
        checkpoint->momentum != NULL, "batch", (json_int_t)p->batch, "train_rows",
        (json_int_t)p->train_rows, "seed", json_integer((json_int_t)p->seed));
    bool ok = object && add_origin(object, &checkpoint->origin);
    char *text = ok ? json_to_text(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return text;
}

static double number_or_nan(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Has it all the numbers that a run needs to go on? Those of an evaluation may be null. */
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
           json_get_double(object, "lr", 0, 1e6, &p->lr, err) &&
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
           json_get_double(object, "eval_s", 0, INFINITY, &p->eval_s, err);
}

/* Is the test accuracy that of the very weights? Older checkpoints do not say; they were evaluated
 * between epochs. */
static bool is_evaluated(const json_t *object)
{
    const json_t *evaluated = json_object_get(object, "evaluated");
    return evaluated
               ? json_is_true(evaluated)
               : json_integer_value(json_object_get(json_object_get(object, "epoch"), "steps")) ==
                     0;
}

/* *momentum: the optimizer's is there as well. Without a word about it, it is expected. */
static bool parse_place(const char *path, const char *text, struct checkpoint_place *p,
                        bool *momentum, struct error *err)
{
    json_error_t where;
    json_t *object = json_loads(text, 0, &where);
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
        p->test_loss = number_or_nan(object, "test_loss");
        p->test_acc = number_or_nan(object, "test_acc");
        p->best_acc = number_or_nan(object, "best_acc");
        p->evaluated = is_evaluated(object);
        *momentum = !json_is_false(json_object_get(object, "momentum"));
    }
    json_decref(object);
    return ok;
}

/* Is this what file_writer_open puts behind the name of a file while it is written: .PID-TIME? */
static bool is_temporary(const char *rest)
{
    size_t first = *rest == '.' ? strspn(rest + 1, "0123456789abcdef") : 0;
    const char *second = rest + 1 + first;
    return first > 0 && *second == '-' && second[1] != '\0' &&
           second[1 + strspn(second + 1, "0123456789abcdef")] == '\0';
}

/* A file of ours: its steps, whether it holds weights; temporary ones are what a writer left. */
struct found {
    long steps;
    bool weights, temporary;
};

static bool look_at(const char *name, struct found *found)
{
    char *end;
    if (strncmp(name, "step-", 5) != 0)
        return false;
    errno = 0;
    found->steps = strtol(name + 5, &end, 10);
    if (errno != 0 || end == name + 5 || found->steps < 0)
        return false;
    bool momentum = strncmp(end, MOMENTUM_SUFFIX, strlen(MOMENTUM_SUFFIX)) == 0;
    const char *suffix = momentum ? MOMENTUM_SUFFIX : WEIGHTS_SUFFIX;
    if (strncmp(end, suffix, strlen(suffix)) != 0)
        return false;
    found->weights = !momentum;
    found->temporary = is_temporary(end + strlen(suffix));
    return found->temporary || end[strlen(suffix)] == '\0';
}

/* Call `visit` for each file of ours in the folder; a missing folder has none. */
static bool visit(const char *folder,
                  bool (*look)(const char *folder, const char *name, const struct found *found,
                               void *context, struct error *err),
                  void *context, struct error *err)
{
    struct found found;
    DIR *directory = opendir(folder);
    if (!directory)
        return errno == ENOENT || error_errno(err, "%s: cannot be read", folder);
    bool ok = true;
    for (const struct dirent *entry; ok && (entry = readdir(directory));)
        if (look_at(entry->d_name, &found))
            ok = look(folder, entry->d_name, &found, context, err);
    closedir(directory);
    return ok;
}

struct keeping {
    long newest, best; /* of which steps; -1: none */
};

static bool remove_others(const char *folder, const char *name, const struct found *found,
                          void *context, struct error *err)
{
    const struct keeping *keep = context;
    if (!found->temporary && (found->steps == keep->newest || found->steps == keep->best))
        return true;
    char *path = path_join(folder, name);
    if (!path)
        return error_memory(err, folder);
    bool ok =
        unlink(path) == 0 || errno == ENOENT || error_errno(err, "%s: cannot be removed", path);
    free(path);
    return ok;
}

static bool note_newest(const char *folder, const char *name, const struct found *found,
                        void *context, struct error *err)
{
    long *newest = context;
    (void)folder;
    (void)name;
    (void)err;
    if (found->weights && !found->temporary && found->steps > *newest)
        *newest = found->steps;
    return true;
}

static bool write_momentum(const struct net *net, const char *folder,
                           const struct checkpoint *checkpoint, struct error *err)
{
    if (!checkpoint->momentum)
        return true;
    char *path = path_of(folder, checkpoint->place.steps, MOMENTUM_SUFFIX);
    bool ok = path ? momentum_write(net, path, checkpoint->momentum, err)
                   : error_memory(err, "checkpoint");
    free(path);
    return ok;
}

static bool write_weights(const struct net *net, const char *folder,
                          const struct checkpoint *checkpoint, struct error *err)
{
    char *path = checkpoint_path(folder, checkpoint->place.steps);
    char *note = note_text(checkpoint);
    bool ok = path && note ? weights_write_noted(net, path, &checkpoint->weights, note, err)
                           : error_memory(err, "checkpoint");
    free(path);
    free(note);
    return ok;
}

bool checkpoint_write(const struct net *net, const char *folder,
                      const struct checkpoint *checkpoint, long best_steps, struct error *err)
{
    struct keeping keep = {checkpoint->place.steps, best_steps};
    return make_directories(folder, 0700, err) && write_momentum(net, folder, checkpoint, err) &&
           write_weights(net, folder, checkpoint, err) && visit(folder, remove_others, &keep, err);
}

bool checkpoint_find(const char *folder, long *steps, struct error *err)
{
    *steps = -1;
    if (!visit(folder, note_newest, steps, err))
        return false;
    return *steps >= 0 || error_set(err, ERROR_ABSENT, "%s: there is no checkpoint", folder);
}

bool checkpoint_note(const char *path, json_t **note, struct error *err)
{
    char *text = NULL;
    *note = NULL;
    if (weights_read_note(path, &text, err)) {
        *note = json_loads(text, 0, NULL);
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

/* The test accuracy of the very weights, NAN: they were not evaluated, or cannot be read. */
static double accuracy_of(const char *folder, long steps)
{
    struct error ignored = ERROR_INIT;
    json_t *note = NULL;
    char *path = checkpoint_path(folder, steps);
    double accuracy = NAN;
    if (path && checkpoint_note(path, &note, &ignored) && is_evaluated(note))
        accuracy = number_or_nan(note, "test_acc");
    json_decref(note);
    free(path);
    return accuracy;
}

struct best {
    long steps;
    double accuracy;
};

static bool note_best(const char *folder, const char *name, const struct found *found,
                      void *context, struct error *err)
{
    struct best *best = context;
    (void)name;
    (void)err;
    if (!found->weights || found->temporary)
        return true;
    double accuracy = accuracy_of(folder, found->steps);
    bool equal = accuracy == best->accuracy && found->steps < best->steps;
    if (!isnan(accuracy) && (isnan(best->accuracy) || accuracy > best->accuracy || equal))
        *best = (struct best){found->steps, accuracy};
    return true;
}

bool checkpoint_find_best(const char *folder, long *steps, struct error *err)
{
    struct best best = {-1, NAN};
    if (!visit(folder, note_best, &best, err))
        return false;
    *steps = best.steps;
    return best.steps >= 0 || checkpoint_find(folder, steps, err);
}

static bool read_momentum(const struct net *net, const char *folder, long steps, float *momentum,
                          struct error *err)
{
    char *path = path_of(folder, steps, MOMENTUM_SUFFIX);
    bool ok = path ? momentum_read(net, path, momentum, err) : error_memory(err, "checkpoint");
    free(path);
    return ok;
}

bool checkpoint_read(const struct net *net, const char *folder, long steps,
                     struct checkpoint *checkpoint, struct error *err)
{
    char *note = NULL, *path = checkpoint_path(folder, steps);
    bool momentum;
    bool ok = path ? weights_read(net, path, &checkpoint->weights, err) &&
                         weights_read_note(path, &note, err) &&
                         parse_place(path, note, &checkpoint->place, &momentum, err)
                   : error_memory(err, "checkpoint");
    if (ok && checkpoint->momentum && momentum)
        ok = read_momentum(net, folder, steps, checkpoint->momentum, err);
    else if (ok && checkpoint->momentum)
        memset(checkpoint->momentum, 0, net->value_count * sizeof *checkpoint->momentum);
    if (!ok && err->kind == ERROR_ABSENT)
        err->kind = ERROR_FAILED;
    free(note);
    free(path);
    return ok;
}

bool checkpoint_lr(const char *folder, long steps, double *lr, struct error *err)
{
    char *path = checkpoint_path(folder, steps);
    json_t *note = NULL;
    bool ok = path ? checkpoint_note(path, &note, err) : error_memory(err, "checkpoint");
    *lr = ok ? number_or_nan(note, "lr") : NAN;
    if (ok && !isfinite(*lr))
        ok = error_set(err, ERROR_FAILED, "%s: its place in the run cannot be read", path);
    json_decref(note);
    free(path);
    return ok;
}

static bool remove_temporary(const char *folder, const char *name, const struct found *found,
                             void *context, struct error *err)
{
    return !found->temporary || remove_others(folder, name, found, context, err);
}

static void tidy_run(const char *folder, const char *name)
{
    struct error ignored = ERROR_INIT;
    struct keeping keep = {-1, -1};
    char *path = path_join(folder, name);
    if (path)
        visit(path, remove_temporary, &keep, &ignored);
    free(path);
}

bool checkpoint_tidy(const char *folder, long *run, struct error *err)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return errno == ENOENT || error_errno(err, "%s: cannot be read", folder);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        long number;
        if (!parse_long(entry->d_name, 1, LONG_MAX / 2, &number))
            continue;
        *run = number > *run ? number : *run;
        tidy_run(folder, entry->d_name);
    }
    closedir(directory);
    return true;
}

bool checkpoint_remove_all(const char *folder, struct error *err)
{
    struct keeping keep = {-1, -1};
    if (!visit(folder, remove_others, &keep, err))
        return false;
    return rmdir(folder) == 0 || errno == ENOENT || errno == ENOTEMPTY ||
           error_errno(err, "%s: cannot be removed", folder);
}
