/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "commands/check_checkpoints.h"
#include "commands/display.h"
#include "commands/list.h"
#include "engine/train/checkpoint/folder.h"
#include "store/place.h"
#include "store/rescue/check.h"

/* Are the run store and the checkpoints whole? Reads only, with or without an engine. */

struct checking {
    enum display_kind kind;
    struct bar_line line;
    bool json;
    long problems;
    json_t *list; /* of the problems of what is being checked */
};

static void put_problem(struct checking *c, const char *of, const char *problem)
{
    c->problems++;
    bar_clear(&c->line);
    if (c->json)
        json_array_append_new(c->list, json_any_text(problem));
    else
        print("%s: %s\n", of, problem);
}

static void found_in_store(void *context, const char *problem)
{
    put_problem(context, "run store", problem);
}

static void found_in_checkpoints(void *context, const char *problem)
{
    put_problem(context, "checkpoints", problem);
}

static void draw(struct checking *c, const char *what, const char *which, double share)
{
    struct bar bar = {.share = share};
    if (c->kind != DISPLAY_TERMINAL)
        return;
    snprintf(bar.left, sizeof bar.left, "%s", what);
    bar_add(&bar, 1, "%.50s", which);
    bar_draw(&c->line, &bar);
    fflush(stdout);
}

static void show_store(void *context, const char *what)
{
    draw(context, "run store", what, NAN);
}

static void show_checkpoints(void *context, const char *file, double share)
{
    draw(context, "checkpoints", file, share);
}

static bool check_the_store(struct checking *c, const char *path, json_t *result, struct error *err)
{
    struct store_check check = {found_in_store, show_store, c, 0};
    long before = c->problems;
    c->list = json_array();
    bool ok = store_check(path, &check, err);
    bool absent = !ok && err->kind == ERROR_ABSENT;
    if (absent)
        *err = (struct error)ERROR_INIT;
    bar_clear(&c->line);
    json_object_set_new(result, "store",
                        json_pack("{s:o, s:b, s:I, s:o}", "path", json_any_text(path), "exists",
                                  !absent, "runs", (json_int_t)check.runs, "problems", c->list));
    if (!c->json && absent)
        print("run store: there is none yet\n");
    else if (!c->json && ok && c->problems == before)
        print("run store: whole, %ld run%s\n", check.runs, plural(check.runs));
    else if (!c->json && ok)
        print("run store: to save what can be read: dpartui engine stop; dpartui runs repair\n");
    return ok || absent;
}

static bool check_the_checkpoints(struct checking *c, const char *folder, const char *store,
                                  json_t *result, struct error *err)
{
    struct check_checkpoints check = {
        .found = found_in_checkpoints, .progress = show_checkpoints, .context = c};
    long before = c->problems;
    c->list = json_array();
    bool ok = check_checkpoints(folder, store, &check, err);
    bar_clear(&c->line);
    json_object_set_new(result, "checkpoints",
                        json_pack("{s:o, s:I, s:I, s:o, s:O}", "path", json_any_text(folder),
                                  "files", (json_int_t)check.files, "runs", (json_int_t)check.runs,
                                  "problems", c->list, "notes", check.notes));
    for (size_t i = 0; !c->json && i < json_array_size(check.notes); i++)
        print("checkpoints: %s\n", json_string_value(json_array_get(check.notes, i)));
    if (!c->json && ok && c->problems == before)
        print("checkpoints: whole, %ld file%s of %ld run%s\n", check.files, plural(check.files),
              check.runs, plural(check.runs));
    else if (!c->json && ok)
        print(
            "checkpoints: a run resumes from its newest whole one; replace damaged ones by a copy, "
            "or remove them\n");
    json_decref(check.notes);
    return ok;
}

/* Damaged stores next to the one that is used, which may hold runs that nothing else has. */
static void list_set_aside(struct checking *c, const char *path, json_t *result)
{
    json_t *list = json_array();
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        *slash = '\0';
    DIR *directory = slash ? opendir(folder) : NULL;
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *name = entry->d_name, *base = slash + 1;
        size_t length = strlen(base);
        if (text_ends_in(name, "-wal") || text_ends_in(name, "-shm") ||
            strncmp(name, base, length) != 0 ||
            strncmp(name + length, ".damaged-", strlen(".damaged-")) != 0)
            continue;
        char *file = path_join(folder, name);
        if (file && !c->json)
            print("set aside: %s: 'dpartui runs repair' with this file adds its runs\n", file);
        if (file)
            json_array_append_new(list, json_any_text(file));
        free(file);
    }
    if (directory)
        closedir(directory);
    free(folder);
    json_object_set_new(result, "set_aside", list);
}

static bool check_all(struct checking *c, json_t *result, struct error *err)
{
    char *store = store_default_path(err);
    char *folder = store ? checkpoint_default_folder(err) : NULL;
    bool ok = folder && check_the_store(c, store, result, err);
    if (ok) {
        list_set_aside(c, store, result);
        ok = check_the_checkpoints(c, folder, store, result, err);
    }
    free(store);
    free(folder);
    return ok;
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct checking c = {.json = invocation_has(invocation, "json")};
    json_t *result = json_object();
    c.kind = display_choose(c.json);
    bool ok = result ? check_all(&c, result, err) : error_memory(err, "check");
    if (ok && c.json) {
        json_object_set_new(result, "whole", json_boolean(c.problems == 0));
        print_json(result);
    }
    json_decref(result);
    if (ok && c.problems > 0)
        return error_set(err, ERROR_FAILED, "%ld problem%s found", c.problems,
                         c.problems == 1 ? " was" : "s were");
    return ok;
}

static const struct option options[] = {
    OPTION_JSON,
    OPTIONS_END,
};

const struct command command_check = {
    .name = "check",
    .place = PLACE_THERE_TERMINAL,
    .summary = "Check whether the run store and all checkpoints are whole",
    .details =
        "Everything is read, nothing is changed, also while an engine works. Exit status 1:\n"
        "something is damaged; what would repair it is said.\n",
    .options = options,
    .run = run,
};
