/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "client/session.h"
#include "commands/list.h"
#include "events/device_names.h"
#include "spec/json.h"
#include "spec/set.h"

/* Reading weights, data's headers and the checks of a run, from a disk that may be slow. */
#define READ_SECONDS 300.0

/* A run of no epochs in an engine of the command's own: it tests its initial weights, and leaves
 * no run. */
struct evaluation {
    struct client *client;
    json_t *begin, *end; /* the "run" and the "end" event */
    double begin_s, seconds;
};

/* What says how to train must not get in the way of a run that does not. */
static bool leave_training_out(struct spec *spec, struct error *err)
{
    static const char *const values[][2] = {
        {"epochs", "0"},     {"checkpoint-every", "off"}, {"save", ""},       {"log", ""},
        {"train-rows", "0"}, {"max-steps", "0"},          {"split", "chunk"}, {"sync", "allreduce"},
        {"augment", "none"}, {"sync-bn", "no"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!spec_set(spec, values[i][0], values[i][1], err))
            return false;
    return true;
}

/* What to evaluate, as the params of `weights`; NULL: *err. */
static json_t *weights_params(const struct invocation *invocation, struct error *err)
{
    const char *run = invocation_value(invocation, "run");
    bool best = invocation_has(invocation, "best");
    long number = 0;
    if ((run != NULL) == (invocation->argument_count > 0))
        error_set(err, ERROR_USAGE, "eval needs a file of weights, or --run with a run's number");
    else if (best && !run)
        error_set(err, ERROR_USAGE, "--best is for --run");
    else if (run && !parse_long(run, 1, LONG_MAX, &number))
        error_set(err, ERROR_USAGE, "--run needs the number of a run (see dpartui runs)");
    if (err->kind != ERROR_NONE)
        return NULL;
    if (run)
        return json_pack("{s:I, s:b}", "run", (json_int_t)number, "best", best);
    char *path = run_spec_absolute_path(invocation->arguments[0], err);
    if (!path)
        return NULL;
    json_t *name = json_string(path);
    if (!name)
        error_set(err, ERROR_USAGE, "%s: the name is not UTF-8", path);
    free(path);
    return name ? json_pack("{s:o}", "file", name) : NULL;
}

/* What the weights say of themselves; the command line has the last word. */
static bool take_origin(const struct invocation *invocation, struct spec *spec, const json_t *note,
                        struct error *err)
{
    static const char *const members[][2] = {
        {"model", "model"}, {"data", "data"}, {"data_dir", "data-dir"}};
    bool own_data = invocation_value(invocation, "data") != NULL;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *value = NULL;
        if (!json_get_string(note, members[i][0], &value, err))
            return false;
        /* Where the run's data lay says nothing of others. */
        bool other = i == 2 && own_data;
        if (value && !other && !invocation_value(invocation, members[i][1]) &&
            !spec_set(spec, members[i][1], value, err))
            return false;
    }
    const json_t *seed = json_object_get(note, "seed");
    if (json_is_integer(seed) && !invocation_value(invocation, "seed"))
        spec->seed = (uint64_t)json_integer_value(seed);
    if (own_data || invocation_value(invocation, "test-rows"))
        return true;
    return json_get_long(note, "test_rows", 0, LONG_MAX, &spec->test_rows, err);
}

/* Find the weights, and make the spec of their evaluation. */
static bool prepare(struct evaluation *evaluation, struct invocation *invocation, json_t *which,
                    struct error *err)
{
    struct spec *spec = &invocation->settings.spec;
    json_t *note = NULL;
    if (!leave_training_out(spec, err)) {
        json_decref(which);
        return false;
    }
    bool ok = client_call(evaluation->client, "weights", which, READ_SECONDS, &note, err);
    const char *file = json_string_value(json_object_get(note, "file"));
    if (ok && !file)
        ok = error_set(err, ERROR_FAILED, "the engine does not say which file it found");
    ok = ok && take_origin(invocation, spec, note, err);
    char *copy = ok ? strdup(file) : NULL;
    json_decref(note);
    if (!copy)
        return !ok ? false : error_memory(err, "evaluation");
    free(spec->init_file);
    spec->init = INIT_FILE;
    spec->init_file = copy;
    return run_spec_finish(invocation, err);
}

static bool submit(struct evaluation *evaluation, const struct spec *spec, struct error *err)
{
    json_t *result = NULL, *params = spec_to_json(spec);
    if (!params)
        return error_set(err, ERROR_USAGE, "a name or path among the settings is not UTF-8");
    if (!client_call(evaluation->client, "submit", params, READ_SECONDS, &result, err))
        return false;
    json_t *run = json_incref(json_object_get(result, "run"));
    json_decref(result);
    return client_call(evaluation->client, "follow", json_pack("{s:o}", "run", run),
                       SESSION_SECONDS, NULL, err);
}

static void take_event(struct evaluation *evaluation, json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    if (name && strcmp(name, "run") == 0 && !evaluation->begin) {
        evaluation->begin = json_incref(event);
        evaluation->begin_s = clock_seconds();
    } else if (name && strcmp(name, "warning") == 0) {
        print_to(stderr, "dpartui: %s\n", member_text(event, "text"));
    } else if (name && strcmp(name, "end") == 0 && !evaluation->end) {
        evaluation->end = json_incref(event);
        evaluation->seconds = clock_seconds() - evaluation->begin_s;
    }
}

static bool await_end(struct evaluation *evaluation, struct error *err)
{
    while (!evaluation->end) {
        json_t *message;
        if (!client_next(evaluation->client, &message, err))
            return false;
        if (message) {
            take_event(evaluation, json_object_get(message, "params"));
            json_decref(message);
            continue;
        }
        struct pollfd wait = {
            .fd = client_fd(evaluation->client),
            .events = (short)(POLLIN | (client_wants_write(evaluation->client) ? POLLOUT : 0))};
        if (poll(&wait, 1, -1) < 0 && errno != EINTR)
            return error_errno(err, "cannot wait for the engine");
    }
    const char *error = json_string_value(json_object_get(evaluation->end, "error"));
    if (strcmp(member_text(evaluation->end, "status"), "done") != 0 || !evaluation->begin)
        return error_set(err, ERROR_FAILED, "%s", error ? error : "the evaluation was stopped");
    return true;
}

static void print_result(const struct evaluation *evaluation)
{
    struct figure accuracy, loss, seconds;
    char devices[400];
    print(
        "test acc %s, loss %s, %.0f rows in %s s on %s: %s on %s\n",
        figure_fixed(&accuracy, member_number(evaluation->end, "test_acc"), 4),
        figure_fixed(&loss, member_number(evaluation->end, "test_loss"), 4),
        member_number(evaluation->begin, "test_rows"),
        figure_seconds(&seconds, evaluation->seconds),
        device_names_short(devices, sizeof devices, json_object_get(evaluation->begin, "devices")),
        member_text(evaluation->begin, "model"), member_text(evaluation->begin, "data"));
}

static bool print_object(const struct evaluation *evaluation, const char *file, struct error *err)
{
    static const char *const of_begin[] = {"model", "data", "devices", "test_rows", "dtype"};
    static const char *const of_end[] = {"test_acc", "test_loss"};
    json_t *object =
        json_pack("{s:o, s:f}", "file", json_any_text(file), "seconds", evaluation->seconds);
    bool ok = object;
    for (size_t i = 0; ok && i < sizeof of_begin / sizeof *of_begin; i++)
        ok = json_object_set(object, of_begin[i],
                             json_object_get(evaluation->begin, of_begin[i])) == 0;
    for (size_t i = 0; ok && i < sizeof of_end / sizeof *of_end; i++)
        ok = json_object_set(object, of_end[i], json_object_get(evaluation->end, of_end[i])) == 0;
    if (ok)
        print_json(object);
    json_decref(object);
    return ok || error_memory(err, "result");
}

static int run(struct invocation *invocation, struct error *err)
{
    struct evaluation evaluation = {.client = NULL};
    struct spec *spec = &invocation->settings.spec;
    json_t *which = weights_params(invocation, err);
    if (!which)
        return STATUS_USAGE;
    if (!session_open_private(&evaluation.client, err)) {
        json_decref(which);
        return STATUS_FAILED;
    }
    bool ok = prepare(&evaluation, invocation, which, err) && submit(&evaluation, spec, err) &&
              await_end(&evaluation, err);
    if (ok && invocation_has(invocation, "json"))
        ok = print_object(&evaluation, spec->init_file, err);
    else if (ok)
        print_result(&evaluation);
    json_decref(evaluation.begin);
    json_decref(evaluation.end);
    client_close(evaluation.client);
    return ok ? STATUS_DONE : STATUS_FAILED;
}

static const struct option options[] = {
    {"run", OPTION_VALUE, "RUN", "the newest checkpoint of this run instead of a file"},
    {"best", OPTION_FLAG, NULL, "with --run: the checkpoint of its best test accuracy"},
    {"model", OPTION_SETTING, "NAME|FILE", "network; a checkpoint knows its own"},
    {"data", OPTION_SETTING, "NAME|DIR", "whose test rows; a checkpoint knows its own"},
    OPTION_DATA_DIR,
    OPTION_DEVICES,
    OPTION_GPUS,
    OPTION_CPU_THREADS,
    {"seed", OPTION_SETTING, "N", "of made data; a checkpoint knows its own"},
    {"batch", OPTION_SETTING, "N", "rows at a time, over all devices"},
    OPTION_DTYPE,
    OPTION_TEST_ROWS,
    OPTION_JSON,
    OPTIONS_END,
};

const struct command command_eval = {
    .name = "eval",
    .arguments = "FILE",
    .argument_max = 1,
    .summary = "Test saved weights: accuracy and loss on the test rows",
    .details = "FILE is a .safetensors file with the names PyTorch gives, as --save writes it, or\n"
               "a run's checkpoint, which knows its network and data.\n",
    .options = options,
    .run = run,
};
