/* SPDX-License-Identifier: MIT */
#include "commands/check_checkpoints.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "store/list.h"
#include "store/store.h"

#define STEP     "step-"
#define WEIGHTS  ".safetensors"
#define MOMENTUM ".momentum.safetensors"

static int take_checkpoint(const struct dirent *entry)
{
    return strncmp(entry->d_name, STEP, strlen(STEP)) == 0 && text_ends_in(entry->d_name, WEIGHTS);
}

static int take_run(const struct dirent *entry)
{
    long number;
    return parse_long(entry->d_name, 1, LONG_MAX, &number);
}

static void free_entries(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static void note(struct check_checkpoints *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note(struct check_checkpoints *check, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_array_append_new(check->notes, json_any_text(text));
}

/* The weights come last when a checkpoint is written: without them it is not a checkpoint. */
static bool has_weights(const char *path)
{
    size_t stem = strlen(path) - strlen(MOMENTUM);
    char *weights = text_format("%.*s" WEIGHTS, (int)stem, path);
    bool has = !weights || access(weights, F_OK) == 0 || errno != ENOENT;
    free(weights);
    return has;
}

/* A run has no use for whole weights that are of another step, or whose state is not there. Twice,
 * as a running engine removes older ones meanwhile. A damaged state is told of by itself. */
static bool is_of_use(const char *folder, const char *name, struct error *damage)
{
    const long steps = strtol(name + strlen(STEP), NULL, 10);
    struct error first = ERROR_INIT, state_damage = ERROR_INIT;
    char *state = checkpoint_state_path(folder, steps);
    const bool of_use =
        checkpoint_verify_steps(folder, steps, &first) ||
        checkpoint_verify_steps(folder, steps, damage) ||
        (state && access(state, F_OK) == 0 && !checkpoint_verify(state, &state_damage));
    free(state);
    return of_use;
}

/* Would a run look for it? */
static bool is_named(const char *folder, const char *path, const char *name)
{
    char *named = checkpoint_path(folder, strtol(name + strlen(STEP), NULL, 10));
    const bool is = named && strcmp(named, path) == 0;
    free(named);
    return is;
}

static bool verify(struct check_checkpoints *check, const char *folder, const char *name,
                   struct error *err)
{
    struct error damage = ERROR_INIT;
    char *path = path_join(folder, name);
    if (!path)
        return error_memory(err, folder);
    check->files++;
    const bool is_state = text_ends_in(name, MOMENTUM);
    const bool whole = checkpoint_verify(path, &damage) &&
                       (!is_named(folder, path, name) || is_of_use(folder, name, &damage));
    if (!whole && access(path, F_OK) == 0)
        check->found(check->context, damage.text);
    if (is_state && !has_weights(path))
        note(check, "%s: momentum without weights, of no use: it can be removed", path);
    free(path);
    return true;
}

static bool verify_run(struct check_checkpoints *check, const char *folder, double done,
                       double share, struct error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, take_checkpoint, alphasort);
    if (count < 0)
        return errno == ENOENT || error_errno(err, "%s: cannot be read", folder);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        check->progress(check->context, entries[i]->d_name, done + share * i / count);
        ok = verify(check, folder, entries[i]->d_name, err);
    }
    check->runs += count > 0;
    free_entries(entries, count);
    return ok;
}

/* Does the store, if it can be read, lack the run? */
static bool is_orphan(struct store *store, long run)
{
    struct error err = ERROR_INIT;
    bool has = true;
    return store && store_has_run(store, run, &has, &err) && !has;
}

static bool verify_all(struct check_checkpoints *check, const char *folder, struct store *store,
                       struct dirent **runs, int count, struct error *err)
{
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        char *path = path_join(folder, runs[i]->d_name);
        ok = path ? verify_run(check, path, (double)i / count, 1.0 / count, err)
                  : error_memory(err, folder);
        if (ok && is_orphan(store, strtol(runs[i]->d_name, NULL, 10)))
            note(check,
                 "%s: of a run that the store does not have: 'dpartui runs repair' with a store "
                 "that was set aside may bring the run back; otherwise it can be removed",
                 path);
        free(path);
    }
    return ok;
}

bool check_checkpoints(const char *folder, const char *store, struct check_checkpoints *check,
                       struct error *err)
{
    struct dirent **runs = NULL;
    struct error ignored = ERROR_INIT;
    struct store *open = NULL;
    int version;
    check->files = check->runs = 0;
    check->notes = json_array();
    if (!check->notes)
        return error_memory(err, folder);
    int count = scandir(folder, &runs, take_run, versionsort);
    if (count < 0)
        return errno == ENOENT || error_errno(err, "%s: cannot be read", folder);
    if (!store_open_as_is(store, &open, &version, &ignored))
        open = NULL;
    bool ok = verify_all(check, folder, open, runs, count, err);
    store_close(open);
    free_entries(runs, count);
    return ok;
}
