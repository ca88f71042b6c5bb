/* SPDX-License-Identifier: MIT */
#include "cli/saved.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/run_spec.h"
#include "spec/set.h"

/* Reading weights, data's headers and the checks of a run, from a disk that may be slow. */
#define READ_SECONDS 300.0

json_t *saved_which(const struct invocation *invocation, const char *file, struct error *err)
{
    const char *run = invocation_value(invocation, "run");
    bool best = invocation_has(invocation, "best");
    long number = 0;
    if ((run != NULL) == (file != NULL))
        error_set(err, ERROR_USAGE, "%s needs a file of weights, or --run with a run's number",
                  invocation->command->name);
    else if (best && !run)
        error_set(err, ERROR_USAGE, "--best is for --run");
    else if (run && !parse_long(run, 1, LONG_MAX, &number))
        error_set(err, ERROR_USAGE, "--run needs the number of a run (see dpartui runs)");
    if (err->kind != ERROR_NONE)
        return NULL;
    if (run)
        return json_pack("{s:I, s:b}", "run", (json_int_t)number, "best", best);
    char *path = run_spec_absolute_path(file, &invocation->remote, err);
    if (!path)
        return NULL;
    json_t *name = json_string(path);
    if (!name)
        error_set(err, ERROR_USAGE, "%s: the name is not UTF-8", path);
    free(path);
    return name ? json_pack("{s:o}", "file", name) : NULL;
}

/* A setting that the weights know, unless the command line has it. */
static bool take_text(const struct invocation *invocation, struct spec *spec, const json_t *note,
                      const char *member, const char *option, struct error *err)
{
    const char *value = NULL;
    return json_get_string(note, member, &value, err) &&
           (!value || invocation_value(invocation, option) || spec_set(spec, option, value, err));
}

/* What is said of the data, where they are the same. */
static bool take_data(const struct invocation *invocation, struct spec *spec, const json_t *note,
                      struct error *err)
{
    struct picture_settings *pictures = &spec->pictures;
    if (invocation_value(invocation, "data"))
        return true;
    return take_text(invocation, spec, note, "data", "data", err) &&
           take_text(invocation, spec, note, "data_dir", "data-dir", err) &&
           (invocation_value(invocation, "test-share") ||
            json_get_double(note, "test_share", 0.001, 0.9, &pictures->test_share, err)) &&
           (invocation_value(invocation, "skip-broken") ||
            json_get_bool(note, "skip_broken", &pictures->skip_broken, err)) &&
           (invocation_value(invocation, "test-rows") ||
            json_get_long(note, "test_rows", 0, LONG_MAX, &spec->test_rows, err));
}

static bool take_origin(const struct invocation *invocation, struct spec *spec, const json_t *note,
                        struct error *err)
{
    const json_t *seed = json_object_get(note, "seed");
    if (json_is_integer(seed) && !invocation_value(invocation, "seed"))
        spec->seed = (uint64_t)json_integer_value(seed);
    return take_text(invocation, spec, note, "model", "model", err) &&
           take_text(invocation, spec, note, "image_size", "image-size", err) &&
           take_text(invocation, spec, note, "image_colour", "image-colour", err) &&
           take_data(invocation, spec, note, err);
}

bool saved_take(struct client *client, struct invocation *invocation, json_t *which,
                struct error *err)
{
    struct spec *spec = &invocation->settings.spec;
    json_t *note = NULL;
    if (!spec_leave_training_out(spec, err)) {
        json_decref(which);
        return false;
    }
    bool ok = client_call(client, "weights", which, READ_SECONDS, &note, err);
    const char *file = json_string_value(json_object_get(note, "file"));
    if (ok && !file)
        ok = error_set(err, ERROR_FAILED, "the engine does not say which file it found");
    ok = ok && take_origin(invocation, spec, note, err);
    if (ok && !spec->model)
        ok = error_set(err, ERROR_USAGE,
                       "%s: does not say which model its weights are of: --model names it", file);
    char *copy = ok ? strdup(file) : NULL;
    json_decref(note);
    if (!copy)
        return !ok ? false : error_memory(err, invocation->command->name);
    free(spec->init_file);
    spec->init = INIT_FILE;
    spec->init_file = copy;
    return run_spec_finish(invocation, err);
}
