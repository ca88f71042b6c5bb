/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/event_text.h"
#include "base/text.h"
#include "command.h"
#include "format.h"
#include "session.h"
#include "table.h"

/* The commands about runs that the engine has: runs, show, stop. */

static void add_run(struct table *table, const json_t *run)
{
    char text[FORMAT_SIZE], devices[60], epochs[2 * FORMAT_SIZE];
    table_cell(table, format_fixed(text, member_number(run, "run"), 0));
    table_cell(table, member_text(run, "status"));
    table_cell(table, member_text(run, "model"));
    table_cell(table, member_text(run, "data"));
    table_cell(table, format_devices(devices, sizeof devices, json_object_get(run, "devices")));
    table_cell(table, format_fixed(text, member_number(run, "batch"), 0));
    table_cell(table, format_general(text, member_number(run, "lr")));
    snprintf(epochs, sizeof epochs, "%.0f/%.0f", member_number(run, "epochs_done"),
             member_number(run, "epochs"));
    table_cell(table, epochs);
    table_cell(table, format_fixed(text, member_number(run, "test_acc"), 3));
    table_cell(table, format_seconds(text, member_number(run, "s_per_epoch")));
    table_cell(table, format_rate(text, member_number(run, "samples_per_s")));
    table_cell(table, member_text(run, "note"));
}

static bool print_runs(const json_t *list, struct error *err)
{
    static const struct column columns[] = {
        {"RUN", true},      {"STATUS", false}, {"MODEL", false},    {"DATA", false},
        {"DEVICES", false}, {"BATCH", true},   {"LR", true},        {"EPOCHS", true},
        {"TEST ACC", true}, {"S/EPOCH", true}, {"SAMPLES/S", true}, {"NOTE", false}};
    struct table table;
    size_t index;
    json_t *run;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(list, index, run)
    {
        add_run(&table, run);
    }
    return table_end(&table, err);
}

static int run_runs(struct invocation *invocation, struct error *err)
{
    struct client *client;
    json_t *list = NULL;
    bool json = invocation_has(invocation, "json");
    if (!session_open_running(&client, err))
        return STATUS_FAILED;
    bool ok = !client || client_call(client, "runs", NULL, SESSION_SECONDS, &list, err);
    if (ok && !list)
        list = json_array();
    if (ok && json)
        print_json(list);
    else if (ok)
        ok = print_runs(list, err);
    if (ok && !client)
        fprintf(stderr, "dpartui: no engine is running, so there are no runs\n");
    json_decref(list);
    client_close(client);
    return ok ? STATUS_DONE : STATUS_FAILED;
}

/* Ask the running engine about the run that the command line names. */
static bool call_about_run(struct invocation *invocation, const char *method, json_t *params,
                           json_t **result, struct error *err)
{
    struct client *client = NULL;
    long number = 0;
    bool ok = params || error_memory(err, method);
    if (ok && !parse_long(invocation->arguments[0], 1, LONG_MAX, &number))
        ok = error_set(err, ERROR_USAGE, "'%.60s' is no number of a run (see dpartui runs)",
                       invocation->arguments[0]);
    ok = ok && session_open_running(&client, err);
    if (ok && !client)
        ok = error_set(err, ERROR_FAILED, "no engine is running, so there is no run %ld", number);
    if (ok) {
        json_object_set_new(params, "run", json_integer(number));
        ok = client_call(client, method, json_incref(params), SESSION_SECONDS, result, err);
    }
    json_decref(params);
    client_close(client);
    return ok;
}

static void print_setting(const json_t *spec, const char *key)
{
    const json_t *value = json_object_get(spec, key);
    char text[FORMAT_TEXT], name[32];
    snprintf(name, sizeof name, "%s", key);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    if (json_is_boolean(value))
        printf("  %-14s%s\n", name, json_is_true(value) ? "yes" : "no");
    else if (json_is_number(value))
        printf("  %-14s%s\n", name, format_general(text, json_number_value(value)));
    else
        printf("  %-14s%s\n", name, format_member(text, spec, key));
}

static bool print_epochs(const json_t *epochs, struct error *err)
{
    static const struct column columns[] = {
        {"EPOCH", true},    {"TRAIN LOSS", true}, {"TRAIN ACC", true}, {"TEST LOSS", true},
        {"TEST ACC", true}, {"SECONDS", true},    {"SAMPLES/S", true}};
    static const char *const losses[] = {"train_loss", "train_acc", "test_loss", "test_acc"};
    struct table table;
    size_t index;
    json_t *epoch;
    char text[FORMAT_SIZE];
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(epochs, index, epoch)
    {
        table_cell(&table, format_fixed(text, member_number(epoch, "epoch"), 0));
        for (size_t i = 0; i < 4; i++)
            table_cell(&table, format_fixed(text, member_number(epoch, losses[i]), i % 2 ? 3 : 4));
        table_cell(&table, format_seconds(text, member_number(epoch, "seconds")));
        table_cell(&table, format_rate(text, member_number(epoch, "samples_per_s")));
    }
    return table_end(&table, err);
}

static void print_retunes(const json_t *retunes)
{
    char text[FORMAT_TEXT];
    size_t index;
    json_t *retune;
    if (json_array_size(retunes) > 0)
        printf("\nchanged on the way\n");
    json_array_foreach(retunes, index, retune)
    {
        printf("  %s\n", event_retune_text(text, sizeof text, retune));
    }
}

static bool print_run(const json_t *run, struct error *err)
{
    char accuracy[FORMAT_SIZE], best[FORMAT_SIZE], time[FORMAT_SIZE], rate[FORMAT_SIZE];
    char devices[400], text[FORMAT_TEXT];
    const char *key;
    json_t *value, *epochs = json_object_get(run, "epochs"), *spec = json_object_get(run, "spec");
    bool stopping = json_is_true(json_object_get(run, "stop_after_epoch"));
    printf("run %.0f: %s%s\n", member_number(run, "run"), format_member(text, run, "status"),
           stopping ? ", stops after this epoch" : "");
    if (json_is_string(json_object_get(run, "note")))
        printf("note: %s\n", format_member(text, run, "note"));
    if (json_is_string(json_object_get(run, "error")))
        printf("error: %s\n", format_member(text, run, "error"));
    printf("test acc %s (best %s), %s s/epoch, %s samples/s on %s\n\nsettings\n",
           format_fixed(accuracy, member_number(run, "test_acc"), 3),
           format_fixed(best, member_number(run, "best_test_acc"), 3),
           format_seconds(time, member_number(run, "s_per_epoch")),
           format_rate(rate, member_number(run, "samples_per_s")),
           format_devices(devices, sizeof devices, json_object_get(run, "devices")));
    json_object_foreach(spec, key, value) print_setting(spec, key);
    print_retunes(json_object_get(run, "retunes"));
    if (json_object_get(run, "epochs_left_out"))
        printf("\n%.0f earlier epochs are left out\n", member_number(run, "epochs_left_out"));
    if (json_array_size(epochs) == 0)
        return true;
    putchar('\n');
    return print_epochs(epochs, err);
}

static int run_show(struct invocation *invocation, struct error *err)
{
    json_t *run = NULL;
    bool ok = call_about_run(invocation, "show", json_object(), &run, err);
    if (ok && invocation_has(invocation, "json"))
        print_json(run);
    else if (ok)
        ok = print_run(run, err);
    json_decref(run);
    return ok ? STATUS_DONE : STATUS_FAILED;
}

static int run_stop(struct invocation *invocation, struct error *err)
{
    bool now = invocation_has(invocation, "now");
    bool after_epoch = invocation_has(invocation, "after-epoch");
    if (now && after_epoch) {
        error_set(err, ERROR_USAGE, "--now and --after-epoch exclude each other");
        return STATUS_USAGE;
    }
    json_t *params = json_pack("{s:s}", "when", now ? "now" : after_epoch ? "epoch" : "step");
    return call_about_run(invocation, "stop", params, NULL, err) ? STATUS_DONE : STATUS_FAILED;
}

static const struct option json_options[] = {OPTION_JSON, OPTIONS_END};
static const struct option stop_options[] = {
    {"after-epoch", OPTION_FLAG, NULL, "finish the epoch at work and evaluate it"},
    {"now", OPTION_FLAG, NULL, "do not wait for the step at work, save nothing"},
    OPTIONS_END,
};

const struct command command_runs = {
    .name = "runs",
    .summary = "List the engine's runs",
    .options = json_options,
    .run = run_runs,
};

const struct command command_show = {
    .name = "show",
    .arguments = "RUN",
    .argument_min = 1,
    .argument_max = 1,
    .summary = "Show a run, epoch by epoch",
    .options = json_options,
    .run = run_show,
};

const struct command command_stop = {
    .name = "stop",
    .arguments = "RUN",
    .argument_min = 1,
    .argument_max = 1,
    .live_run = true,
    .summary = "Stop a run, or take it out of the queue",
    .options = stop_options,
    .run = run_stop,
};
