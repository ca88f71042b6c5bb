/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/event_text.h"
#include "base/text.h"
#include "command.h"
#include "format.h"
#include "profile_print.h"
#include "run_number.h"
#include "run_source.h"
#include "table.h"

/* A run with all that defines it, where it ran, and all that it gave. */

static void print_setting(const json_t *spec, const char *key)
{
    const json_t *value = json_object_get(spec, key);
    char text[FORMAT_TEXT], name[32];
    snprintf(name, sizeof name, "%s", key);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    if (json_is_boolean(value))
        printf("  %-18s%s\n", name, json_is_true(value) ? "yes" : "no");
    else if (json_is_number(value))
        printf("  %-18s%s\n", name, format_general(text, json_number_value(value)));
    else
        printf("  %-18s%s\n", name, format_member(text, spec, key));
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
        table_cell(&table, format_count(text, member_number(epoch, "samples_per_s")));
    }
    return table_end(&table, err);
}

/* Text from outside on a line of its own. */
static void print_line(const char *text)
{
    char line[FORMAT_TEXT];
    snprintf(line, sizeof line, "%s", text);
    text_replace_controls(line);
    printf("  %s\n", line);
}

static void print_changes(const json_t *run)
{
    char text[FORMAT_TEXT];
    const json_t *retunes = json_object_get(run, "retunes"),
                 *events = json_object_get(run, "events");
    bool begun = json_array_size(retunes) > 0;
    size_t index;
    const json_t *event;
    if (begun)
        printf("\nchanged on the way\n");
    json_array_foreach(retunes, index, event)
    {
        printf("  %s\n", event_retune_text(text, sizeof text, event));
    }
    json_array_foreach(events, index, event)
    {
        if (strcmp(member_text(event, "event"), "shares") != 0)
            continue;
        if (!begun)
            printf("\nchanged on the way\n");
        begun = true;
        printf("  %s\n", event_shares_text(text, sizeof text, event));
    }
}

static void print_warnings(const json_t *warnings)
{
    if (json_array_size(warnings) > 0)
        printf("\nwarnings\n");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *text = json_string_value(json_array_get(warnings, i));
        print_line(text ? text : "?");
    }
}

static void print_device(const json_t *device)
{
    char name[FORMAT_TEXT], what[FORMAT_TEXT], memory[FORMAT_SIZE];
    double cores = member_number(device, "cores");
    printf("  %-18s%s", format_member(name, device, "device"), format_member(what, device, "name"));
    if (isfinite(cores))
        printf(", %.0f cores", cores);
    printf(", %s\n", format_bytes(memory, member_number(device, "memory_total")));
}

static void print_environment(const json_t *environment)
{
    static const char *const keys[] = {"host", "system", "version"};
    char text[FORMAT_TEXT];
    const json_t *devices = json_object_get(environment, "devices");
    const json_t *libraries = json_object_get(environment, "libraries");
    if (!json_is_object(environment))
        return;
    printf("\nenvironment\n");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        printf("  %-18s%s\n", keys[i], format_member(text, environment, keys[i]));
    for (size_t i = 0; i < json_array_size(libraries); i++) {
        const char *library = json_string_value(json_array_get(libraries, i));
        if (library)
            printf("  %-18s%s\n", i == 0 ? "libraries" : "", library);
    }
    for (size_t i = 0; i < json_array_size(devices); i++)
        print_device(json_array_get(devices, i));
}

static void print_time(const json_t *run, const char *key, const char *what)
{
    char date[FORMAT_SIZE];
    if (isfinite(member_number(run, key)))
        printf("  %-18s%s\n", what, format_date(date, member_number(run, key)));
}

static void print_tags(const json_t *tags)
{
    char text[FORMAT_TEXT];
    if (json_array_size(tags) > 0)
        printf("tags:");
    for (size_t i = 0; i < json_array_size(tags); i++) {
        const char *tag = json_string_value(json_array_get(tags, i));
        snprintf(text, sizeof text, "%s", tag ? tag : "?");
        text_replace_controls(text);
        printf(" %s", text);
    }
    if (json_array_size(tags) > 0)
        putchar('\n');
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
    print_tags(json_object_get(run, "tags"));
    if (json_is_string(json_object_get(run, "error")))
        printf("error: %s\n", format_member(text, run, "error"));
    printf("test acc %s (best %s), %s s/epoch, %s samples/s on %s\n\nsettings\n",
           format_fixed(accuracy, member_number(run, "test_acc"), 3),
           format_fixed(best, member_number(run, "best_test_acc"), 3),
           format_seconds(time, member_number(run, "s_per_epoch")),
           format_count(rate, member_number(run, "samples_per_s")),
           format_devices(devices, sizeof devices, run));
    json_object_foreach(spec, key, value) print_setting(spec, key);
    printf("\ntimes\n");
    print_time(run, "submitted_at", "submitted");
    print_time(run, "started_at", "started");
    print_time(run, "ended_at", "ended");
    print_environment(json_object_get(run, "environment"));
    print_warnings(json_object_get(run, "warnings"));
    print_changes(run);
    if (json_object_get(run, "epochs_left_out"))
        printf("\n%.0f earlier epochs are left out\n", member_number(run, "epochs_left_out"));
    if (json_array_size(epochs) == 0)
        return true;
    putchar('\n');
    return print_epochs(epochs, err);
}

/* Of a run that was trained with --profile. */
static bool print_profile(const json_t *run, const struct invocation *invocation, struct error *err)
{
    const json_t *profile = json_object_get(run, "profile");
    if (!profile)
        return error_set(err, ERROR_FAILED, "run %.0f has no profile: train with --profile",
                         member_number(run, "run"));
    if (!invocation_has(invocation, "json"))
        return profile_print(profile, profile_order_of(invocation_value(invocation, "profile")),
                             err);
    print_json(profile);
    return true;
}

static int run(struct invocation *invocation, struct error *err)
{
    struct run_source source;
    json_t *run = NULL;
    long number;
    if (!run_number_parse(invocation->arguments[0], &number, err) || !run_source_open(&source, err))
        return STATUS_FAILED;
    bool ok = run_source_show(&source, number, &run, err);
    run_source_close(&source);
    if (ok && invocation_has(invocation, "profile"))
        ok = print_profile(run, invocation, err);
    else if (ok && invocation_has(invocation, "json"))
        print_json(run);
    else if (ok)
        ok = print_run(run, err);
    json_decref(run);
    return ok ? STATUS_DONE : STATUS_FAILED;
}

static const struct option options[] = {
    OPTION_PROFILE("only where the time went, if it was trained with --profile"), OPTION_JSON,
    OPTIONS_END};

const struct command command_show = {
    .name = "show",
    .arguments = "RUN",
    .argument_min = 1,
    .argument_max = 1,
    .summary = "Show a run, epoch by epoch",
    .options = options,
    .run = run,
};
