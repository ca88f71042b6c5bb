/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "client/session.h"
#include "commands/display.h"
#include "commands/list.h"
#include "events/device_names.h"
#include "output/bar.h"
#include "output/confusion.h"
#include "spec/json.h"
#include "spec/set.h"

/* Reading weights, data's headers and the checks of a run, from a disk that may be slow. */
#define READ_SECONDS 300.0

/* In an engine of the command's own, so that it leaves no run. */
struct evaluation {
    struct client *client;
    long id;        /* of the request */
    json_t *result; /* its answer */
    bool draws;     /* standard output is a terminal */
    struct bar_line line;
};

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
    if (!spec_leave_training_out(spec, err)) {
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

static bool request(struct evaluation *evaluation, const struct spec *spec, bool confusion,
                    struct error *err)
{
    json_t *params = spec_to_json(spec);
    if (!params)
        return error_set(err, ERROR_USAGE, "a name or path among the settings is not UTF-8");
    if (json_object_set_new(params, "confusion", json_boolean(confusion)) != 0) {
        json_decref(params);
        return error_memory(err, "evaluation");
    }
    return client_send(evaluation->client, "evaluate", params, &evaluation->id, err);
}

static void show_progress(struct evaluation *evaluation, const json_t *progress)
{
    double done = member_number(progress, "done"), all = member_number(progress, "total");
    const char *phase = member_text(progress, "phase");
    struct bar bar = {.share = all > 0 ? done / all : NAN};
    struct figure f[2];
    snprintf(bar.left, sizeof bar.left, "%.20s", phase);
    bar_add(&bar, 1, "%s of %s rows", figure_whole(&f[0], done), figure_whole(&f[1], all));
    bar_draw(&evaluation->line, &bar);
    fflush(stdout);
}

static bool take_message(struct evaluation *evaluation, const json_t *message, struct error *err)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    if (evaluation->draws && method && strcmp(method, "evaluate") == 0)
        show_progress(evaluation, json_object_get(message, "params"));
    if (method || json_integer_value(json_object_get(message, "id")) != evaluation->id)
        return true;
    json_t *result;
    bool ok = client_response(message, &result, err);
    evaluation->result = ok ? json_incref(result) : NULL;
    return ok;
}

/* Ctrl-C ends us, and with the connection the evaluation. */
static bool await_result(struct evaluation *evaluation, struct error *err)
{
    while (!evaluation->result) {
        json_t *message;
        if (!client_next(evaluation->client, &message, err))
            return false;
        if (message) {
            bool ok = take_message(evaluation, message, err);
            json_decref(message);
            if (!ok)
                return false;
            continue;
        }
        struct pollfd wait = {
            .fd = client_fd(evaluation->client),
            .events = (short)(POLLIN | (client_wants_write(evaluation->client) ? POLLOUT : 0))};
        if (poll(&wait, 1, -1) < 0 && errno != EINTR)
            return error_errno(err, "cannot wait for the engine");
    }
    return true;
}

static void print_warnings(const json_t *result)
{
    size_t i;
    const json_t *text;
    json_array_foreach(json_object_get(result, "warnings"), i, text)
        print_to(stderr, "dpartui: %s\n", json_string_value(text) ? json_string_value(text) : "-");
}

static void print_result(const json_t *result)
{
    struct figure accuracy, loss, seconds;
    char devices[400];
    print("test acc %s, loss %s, %.0f rows in %s s on %s: %s on %s\n",
          figure_fixed(&accuracy, member_number(result, "test_acc"), 4),
          figure_fixed(&loss, member_number(result, "test_loss"), 4),
          member_number(result, "test_rows"),
          figure_seconds(&seconds, member_number(result, "seconds")),
          device_names_short(devices, sizeof devices, json_object_get(result, "devices")),
          member_text(result, "model"), member_text(result, "data"));
}

static bool show(const struct invocation *invocation, json_t *result, struct error *err)
{
    bool whole = invocation_has(invocation, "matrix");
    print_warnings(result);
    json_object_del(result, "warnings");
    if (invocation_has(invocation, "json")) {
        print_json(result);
        return true;
    }
    print_result(result);
    return !(whole || invocation_has(invocation, "confusion")) ||
           confusion_print(result, whole, err);
}

static int run(struct invocation *invocation, struct error *err)
{
    struct evaluation evaluation = {.client = NULL};
    const struct spec *spec = &invocation->settings.spec;
    json_t *which = weights_params(invocation, err);
    if (!which)
        return STATUS_USAGE;
    if (!session_open_private(&evaluation.client, err)) {
        json_decref(which);
        return STATUS_FAILED;
    }
    bool confusion =
        invocation_has(invocation, "confusion") || invocation_has(invocation, "matrix");
    evaluation.draws = display_choose(invocation_has(invocation, "json")) == DISPLAY_TERMINAL;
    bool ok = prepare(&evaluation, invocation, which, err) &&
              request(&evaluation, spec, confusion, err) && await_result(&evaluation, err);
    bar_clear(&evaluation.line);
    ok = ok && show(invocation, evaluation.result, err);
    json_decref(evaluation.result);
    client_close(evaluation.client);
    return ok ? STATUS_DONE : STATUS_FAILED;
}

static const struct option options[] = {
    {"run", OPTION_VALUE, "RUN", "the newest checkpoint of this run instead of a file"},
    {"best", OPTION_FLAG, NULL, "with --run: the checkpoint of its best epoch"},
    {"model", OPTION_SETTING, "NAME|FILE", "network; a checkpoint knows its own"},
    {"data", OPTION_SETTING, "NAME|DIR", "whose test rows; a checkpoint knows its own"},
    OPTION_DATA_DIR,
    OPTIONS_PICTURES,
    OPTION_DEVICES,
    OPTION_GPUS,
    OPTION_CPU_THREADS,
    {"seed", OPTION_SETTING, "N", "of made data; a checkpoint knows its own"},
    {"batch", OPTION_SETTING, "N", "rows at a time, over all devices"},
    OPTION_DTYPE,
    OPTION_TEST_ROWS,
    {"confusion", OPTION_FLAG, NULL,
     "what is taken for what: accuracy and precision of each class"},
    {"matrix", OPTION_FLAG, NULL, "the same with the confusion matrix, however wide it is"},
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
