/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/train/resolve/resolve.h"
#include "engine/train/run/run.h"
#include "spec/set.h"
#include "tests/gpu/absent.h"

/*
 * What `dpartui train --foreground --json` does, without the workbench, the server and the
 * libraries that they need: for tests/gpu/run.
 *     gpu-train train [--foreground] [--json] [--OPTION VALUE]...
 */

static void print_event(void *context, json_t *event)
{
    bool *ok = context;
    char *line = json_dumps(event, JSON_LINE);
    *ok = *ok && line && puts(line) >= 0 && fflush(stdout) == 0;
    free(line);
}

static void ignore_progress(void *context, const struct run_progress *progress)
{
    (void)context;
    (void)progress;
}

/* --key value, --key=value, and a switch alone at the end or before another option. */
static bool take_options(struct spec *spec, int count, char **words, struct error *err)
{
    for (int i = 0; i < count; i++) {
        if (strncmp(words[i], "--", 2) != 0)
            return error_set(err, ERROR_USAGE, "'%s' is no option", words[i]);
        const char *key = words[i] + 2;
        if (strcmp(key, "foreground") == 0 || strcmp(key, "json") == 0)
            continue;
        bool alone = i + 1 == count || strncmp(words[i + 1], "--", 2) == 0;
        if (!spec_set(spec, key, alone ? "yes" : words[++i], err))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct spec spec;
    struct error err = ERROR_INIT;
    struct run_control control;
    bool printed = true;
    const struct run_sink sink = {
        .event = print_event, .progress = ignore_progress, .context = &printed};
    if (argc < 2 || strcmp(argv[1], "train") != 0) {
        fprintf(stderr, "usage: %s train [--OPTION VALUE]...\n", argv[0]);
        return 2;
    }
    spec_init(&spec);
    run_control_init(&control);
    bool ok = take_options(&spec, argc - 2, argv + 2, &err) && spec_validate(&spec, &err) &&
              resolve_spec(&spec, NULL, &err) && run_train(&spec, 1, NULL, &control, &sink, &err);
    spec_free(&spec);
    if (ok && !printed)
        ok = error_set(&err, ERROR_FAILED, "cannot write the events");
    if (!ok)
        fprintf(stderr, "gpu-train: %s\n", err.text);
    if (!ok && gpu_absent())
        return GPU_ABSENT;
    return ok ? 0 : err.kind == ERROR_USAGE ? 2 : 1;
}
