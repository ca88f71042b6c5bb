/* SPDX-License-Identifier: MIT */
#include "commands/runs_repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/print.h"

#include "base/json.h"
#include "base/text.h"
#include "store/place.h"
#include "store/rescue/check.h"
#include "store/rescue/repair.h"

static void print_saved(const struct store_salvaged *saved)
{
    print("%ld run%s and %ld epoch%s were saved\n", saved->runs, plural(saved->runs), saved->epochs,
          plural(saved->epochs));
    if (saved->rebuilt > 0)
        print("%ld of the runs lost their settings: what is left of them says so\n",
              saved->rebuilt);
    if (saved->lost_epochs > 0)
        print("%ld epoch%s of these runs %s lost\n", saved->lost_epochs, plural(saved->lost_epochs),
              saved->lost_epochs == 1 ? "is" : "are");
}

static bool print_result(const struct store_repaired *repaired, const char *file, bool json,
                         struct error *err)
{
    const struct store_salvaged *saved = &repaired->saved;
    if (json)
        return print_json_made(
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "runs", (json_int_t)saved->runs,
                      "epochs", (json_int_t)saved->epochs, "rebuilt", (json_int_t)saved->rebuilt,
                      "lost_epochs", (json_int_t)saved->lost_epochs, "added",
                      (json_int_t)repaired->added, "present", (json_int_t)repaired->present,
                      "renumbered", (json_int_t)repaired->renumbered, "kept", repaired->kept),
            "result", err);
    print_saved(saved);
    if (file)
        print("%ld run%s added, %ld of them under new numbers; %ld %s there already\n",
              repaired->added, repaired->added == 1 ? " was" : "s were", repaired->renumbered,
              repaired->present, repaired->present == 1 ? "was" : "were");
    else
        print("the damaged store is kept as %s\n", repaired->kept);
    return true;
}

static void count_problem(void *context, const char *problem)
{
    (void)problem;
    ++*(long *)context;
}

static void show_nothing(void *context, const char *what)
{
    (void)context;
    (void)what;
}

/* *whole: there is nothing to repair. */
static bool is_whole(const char *path, bool *whole, struct error *err)
{
    long problems = 0;
    struct store_check check = {count_problem, show_nothing, &problems, 0};
    if (!store_check(path, &check, err))
        return false;
    *whole = problems == 0;
    return true;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static bool repair(const char *path, const char *file, bool json, struct error *err)
{
    struct store_repaired repaired;
    bool whole = false;
    if (file && is_same_file(path, file))
        file = NULL;
    if (!file && !is_whole(path, &whole, err))
        return false;
    if (whole) {
        print_to(stderr, "dpartui: %s: is whole: there is nothing to repair\n", path);
        return true;
    }
    bool ok =
        file ? store_repair_from(path, file, &repaired, err) : store_repair(path, &repaired, err);
    /* Also after a failure: a damaged store may have been set aside before. */
    if (*repaired.notice)
        print_to(stderr, "dpartui: %s\n", repaired.notice);
    return ok && print_result(&repaired, file, json, err);
}

bool runs_repair(struct invocation *invocation, struct error *err)
{
    if (invocation->argument_count > 2)
        return error_set(err, ERROR_USAGE, "runs repair: takes one FILE at most");
    char *path = store_default_path(err);
    bool ok = path && repair(path, invocation->argument_count > 1 ? invocation->arguments[1] : NULL,
                             invocation_has(invocation, "json"), err);
    free(path);
    return ok;
}
