/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "follow.h"
#include "run_spec.h"
#include "session.h"

/* Checking a run reads its data's headers, which may lie on a slow disk. */
#define SUBMIT_SECONDS 300.0

static bool submit(struct client *client, const struct spec *spec, const char *note, long *run,
                   struct error *err)
{
    json_t *result = NULL;
    json_t *params = spec_to_json(spec);
    if (params && note && json_object_set_new(params, "note", json_string(note)) != 0) {
        json_decref(params);
        params = NULL;
    }
    if (!params)
        return error_set(err, ERROR_USAGE,
                         "the note, or a name or path among the settings, is not UTF-8");
    if (!client_call(client, "submit", params, SUBMIT_SECONDS, &result, err))
        return false;
    *run = (long)json_integer_value(json_object_get(result, "run"));
    json_decref(result);
    return true;
}

static int print_number(long run, bool json)
{
    printf(json ? "{\"run\":%ld}\n" : "%ld\n", run);
    return STATUS_DONE;
}

static int follow(struct invocation *invocation, struct client *client, long run, struct error *err)
{
    struct follow_result result;
    enum view_kind kind = view_choose(invocation_has(invocation, "json"));
    bool private_engine = invocation_has(invocation, "foreground");
    if (!follow_run(client, run, private_engine, kind, &result, err))
        return STATUS_FAILED;
    if (result.log_error[0])
        fprintf(stderr, "dpartui: %s: %s\n", invocation->settings.spec.log, result.log_error);
    if (strcmp(result.status, "done") == 0)
        return STATUS_DONE;
    if (strcmp(result.status, "failed") == 0)
        error_set(err, ERROR_FAILED, "run %ld failed: %s", run, result.error);
    else if (strcmp(result.status, "stopped") == 0)
        error_set(err, ERROR_FAILED, "run %ld was stopped", run);
    return STATUS_FAILED;
}

static int run(struct invocation *invocation, struct error *err)
{
    struct client *client;
    long number = 0;
    bool foreground = invocation_has(invocation, "foreground");
    bool detach = invocation_has(invocation, "detach");
    if (foreground && detach) {
        error_set(err, ERROR_USAGE, "--foreground and --detach exclude each other");
        return STATUS_USAGE;
    }
    if (!run_spec_finish(invocation, err) ||
        !(foreground ? session_open_private(&client, err) : session_open(&client, err)))
        return STATUS_FAILED;
    int status = STATUS_FAILED;
    if (submit(client, &invocation->settings.spec, invocation_value(invocation, "note"), &number,
               err))
        status = detach ? print_number(number, invocation_has(invocation, "json"))
                        : follow(invocation, client, number, err);
    client_close(client);
    return status;
}

static const struct option options[] = {
    OPTIONS_SPEC,
    {"note", OPTION_VALUE, "TEXT", "a line of your own to know the run by"},
    {"json", OPTION_FLAG, NULL, "print the events as JSON, one object a line"},
    {"detach", OPTION_FLAG, NULL, "submit the run, print its number and return"},
    {"foreground", OPTION_FLAG, NULL, "train in a private engine that ends with the command"},
    OPTIONS_END,
};

const struct command command_train = {
    .name = "train",
    .summary = "Submit a run and follow it to its end",
    .details = "Ctrl-C once ends it after the step at work, twice at once. Closing the terminal\n"
               "does not end it. The exit status is 0 when the run is done, 1 when it failed or\n"
               "was stopped, 2 when it is impossible.\n",
    .options = options,
    .run = run,
};
