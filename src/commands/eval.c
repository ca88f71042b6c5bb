/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/saved.h"
#include "client/session.h"
#include "commands/display.h"
#include "commands/list.h"
#include "events/device_names.h"
#include "output/bar.h"
#include "output/confusion.h"
#include "spec/json.h"

/* In an engine of the command's own, so that it leaves no run. */
struct evaluation {
    struct client *client;
    long id;        /* of the request */
    json_t *result; /* its answer */
    bool draws;     /* standard output is a terminal */
    struct bar_line line;
};

static bool request(struct evaluation *evaluation, const struct spec *spec, bool confusion,
                    struct error *err)
{
    json_t *params = spec_to_json(spec);
    if (!params)
        return spec_json_failed(spec, err);
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
    bar_add(&bar, 1, "%s of %s row%s", figure_whole(&f[0], done), figure_whole(&f[1], all),
            plural(all));
    bar_draw(&evaluation->line, &bar);
    fflush(stdout);
}

/* session_notified */
static bool take_progress(void *context, const char *method, const json_t *params,
                          struct error *err)
{
    struct evaluation *evaluation = context;
    (void)err;
    if (evaluation->draws && strcmp(method, "evaluate") == 0)
        show_progress(evaluation, params);
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
    print("test acc %s, loss %s, %.0f row%s in %s s on %s: %s on %s\n",
          figure_fixed(&accuracy, member_number(result, "test_acc"), 4),
          figure_fixed(&loss, member_number(result, "test_loss"), 4),
          member_number(result, "test_rows"), plural(member_number(result, "test_rows")),
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

static bool run(struct invocation *invocation, struct error *err)
{
    struct evaluation evaluation = {.client = NULL};
    const struct spec *spec = &invocation->settings.spec;
    const char *file = invocation->argument_count > 0 ? invocation->arguments[0] : NULL;
    json_t *which = saved_which(invocation, file, err);
    if (!which)
        return false;
    if (!session_open_private(&invocation->remote, &evaluation.client, err)) {
        json_decref(which);
        return false;
    }
    bool confusion =
        invocation_has(invocation, "confusion") || invocation_has(invocation, "matrix");
    evaluation.draws = display_choose(invocation_has(invocation, "json")) == DISPLAY_TERMINAL;
    /* Ctrl-C ends us, and with the connection the evaluation. */
    bool ok = saved_take(evaluation.client, invocation, which, err) &&
              request(&evaluation, spec, confusion, err) &&
              session_wait(evaluation.client, evaluation.id, take_progress, &evaluation,
                           &evaluation.result, err);
    bar_clear(&evaluation.line);
    ok = ok && show(invocation, evaluation.result, err);
    json_decref(evaluation.result);
    client_close(evaluation.client);
    return ok;
}

static const struct option options[] = {
    {"run", OPTION_VALUE, "RUN", "the newest checkpoint of this run instead of a file"},
    {"best", OPTION_FLAG, NULL, "with --run: the checkpoint of its best epoch"},
    {"model", OPTION_SETTING, "NAME|FILE", "network; weights that dpartui saved know theirs"},
    {"data", OPTION_SETTING, "NAME|DIR", "whose test rows; weights that dpartui saved know theirs"},
    OPTION_DATA_DIR,
    OPTIONS_PICTURES,
    OPTION_DEVICES,
    OPTION_GPUS,
    OPTION_CPU_THREADS,
    {"seed", OPTION_SETTING, "N", "of made data; weights that dpartui saved know theirs"},
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
    .details =
        "FILE is a .safetensors file with the names PyTorch gives. One that --save has written\n"
        "and a run's checkpoint know their network and data.\n",
    .options = options,
    .run = run,
};
