/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/hosts.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "client/session.h"
#include "commands/follow.h"
#include "commands/list.h"
#include "output/profile.h"
#include "spec/hosts.h"
#include "spec/json.h"
#include "spec/set.h"
#include "spec/text.h"

/* Releases the parameters where it fails. */
static bool add_note(const struct invocation *invocation, json_t *params, struct error *err)
{
    const char *note = invocation_value(invocation, "note");
    if (!note || json_object_set_new(params, "note", json_string(note)) == 0)
        return true;
    json_decref(params);
    return error_set(err, ERROR_USAGE, "note: '%s' is not UTF-8", note);
}

static bool submit(struct client *client, const struct invocation *invocation, long *run,
                   struct error *err)
{
    json_t *result = NULL;
    const struct spec *spec = &invocation->settings.spec;
    json_t *params = spec_given_to_json(spec);
    if (!params)
        return spec_json_failed(spec, err);
    if (!add_note(invocation, params, err))
        return false;
    if (!client_call(client, "submit", params, SUBMIT_SECONDS, &result, err))
        return false;
    *run = (long)json_integer_value(json_object_get(result, "run"));
    json_decref(result);
    return true;
}

/* Only what the command line says: all else is as it was. */
static json_t *changed_settings(const struct invocation *invocation, struct error *err)
{
    json_t *params = json_object();
    for (size_t i = 0; params && invocation->command->options[i].name; i++) {
        const struct option *option = &invocation->command->options[i];
        const char *key = strcmp(option->name, "gpus") == 0         ? "devices"
                          : strcmp(option->name, "hosts-file") == 0 ? "hosts"
                                                                    : option->name;
        const bool stands_for = key != option->name;
        if (!invocation->values[i] || (option->kind == OPTION_VALUE && !stands_for) ||
            option->kind == OPTION_FLAG || option->kind == OPTION_WORD)
            continue;
        char *value = spec_get(&invocation->settings.spec, key, err), name[32];
        snprintf(name, sizeof name, "%s", key);
        for (char *at = name; *at; at++)
            *at = *at == '-' ? '_' : *at;
        params = json_kept_if(value && json_object_set_new(params, name, json_string(value)) == 0,
                              params);
        free(value);
    }
    return params;
}

/* The Slurm job that this is run in: a run that was in another one moves here. */
static bool add_job(const struct invocation *invocation, json_t *params)
{
    const struct spec *spec = &invocation->settings.spec;
    return !invocation->job_hosts ||
           json_object_set_new(
               params, "job",
               json_pack("{s:s, s:s}", "hosts", spec->hosts, "launcher", spec->launcher)) == 0;
}

/* A run over hosts that is resumed in a Slurm job moves to the job's. What is wrong with the run
 * says who is asked to resume it. */
static bool take_job(struct client *client, struct invocation *invocation, long run,
                     struct error *err)
{
    struct error ignored = ERROR_INIT;
    struct spec spec;
    json_t *shown = NULL;
    if (!hosts_are_allocated() ||
        !client_call(client, "show", json_pack("{s:I}", "run", (json_int_t)run), SESSION_SECONDS,
                     &shown, &ignored))
        return true;
    bool ok = spec_from_json(&spec, json_object_get(shown, "spec"), err);
    json_decref(shown);
    if (!ok)
        return false;
    ok = !spec_has_hosts(&spec) || hosts_take_job(invocation, err);
    spec_free(&spec);
    return ok;
}

/* *from: the number of the first event that is new. */
static bool resume(struct client *client, struct invocation *invocation, long *run, long *from,
                   struct error *err)
{
    json_t *result = NULL;
    if (!parse_long(invocation_value(invocation, "resume"), 1, LONG_MAX, run))
        return error_set(err, ERROR_USAGE, "--resume needs the number of a run (see dpartui runs)");
    if (!take_job(client, invocation, *run, err))
        return false;
    json_t *params = changed_settings(invocation, err);
    if (!params || json_object_set_new(params, "resume", json_integer(*run)) != 0 ||
        !add_job(invocation, params) ||
        (invocation_has(invocation, "profile") &&
         json_object_set_new(params, "profile", json_true()) != 0)) {
        json_decref(params);
        return error_memory(err, "settings");
    }
    if (!add_note(invocation, params, err))
        return false;
    bool ok = client_call(client, "submit", params, SUBMIT_SECONDS, &result, err);
    *from = (long)json_integer_value(json_object_get(result, "from"));
    if (ok && json_is_null(json_object_get(result, "resumed_at")) &&
        !invocation_has(invocation, "json") && !invocation_has(invocation, "detach"))
        print("run %ld left no checkpoint: it starts from its beginning\n", *run);
    json_decref(result);
    return ok;
}

/* `from`: the first event that is new; as JSON the events are those of the whole run. */
static bool follow(struct invocation *invocation, struct client *client, long run, long from,
                   struct error *err)
{
    struct follow_result result;
    enum display_kind kind = display_choose(invocation_has(invocation, "json"));
    const char *profile = invocation_value(invocation, "profile");
    const struct follow_options options = {.kind = kind,
                                           .profile = profile_order_of(profile ? profile : ""),
                                           .private_engine =
                                               invocation_has(invocation, "foreground"),
                                           .from = kind == DISPLAY_JSON ? 0 : from};
    if (!follow_run(client, run, &options, &result, err))
        return false;
    if (result.log_error[0])
        print_to(stderr, "dpartui: %s: %s\n", invocation->settings.spec.log, result.log_error);
    return follow_outcome(&result, run, err);
}

/* The number alone, for scripts; a person is told how to see the run again. */
static void print_number(const struct invocation *invocation, long run)
{
    print(invocation_has(invocation, "json") ? "{\"run\":%ld}\n" : "%ld\n", run);
    if (isatty(STDOUT_FILENO))
        print_to(stderr, "dpartui: 'dpartui%s%s follow %ld' shows its progress\n",
                 invocation->remote.host ? " --host " : "",
                 invocation->remote.host ? invocation->remote.host : "", run);
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct client *client;
    long number = 0, from = 0;
    bool foreground = invocation_has(invocation, "foreground");
    bool detach = invocation_has(invocation, "detach");
    if (foreground && detach)
        return error_set(err, ERROR_USAGE, "--foreground and --detach exclude each other");
    if (foreground && invocation->remote.host)
        return error_set(err, ERROR_USAGE,
                         "--foreground and --host exclude each other: a private engine is here");
    if (foreground && invocation_value(invocation, "resume"))
        return error_set(err, ERROR_USAGE,
                         "--resume is for the engine in the background, which has the checkpoints");
    bool profile = invocation_has(invocation, "profile");
    if ((profile && !spec_set(&invocation->settings.spec, "profile", "yes", err)) ||
        !run_spec_finish(invocation, err) ||
        !(foreground ? session_open_private(&invocation->remote, &client, err)
                     : session_open(&invocation->remote, &client, err)))
        return false;
    bool ok = invocation_value(invocation, "resume")
                  ? resume(client, invocation, &number, &from, err)
                  : submit(client, invocation, &number, err);
    if (ok && detach)
        print_number(invocation, number);
    else if (ok)
        ok = follow(invocation, client, number, from, err);
    client_close(client);
    return ok;
}

static const struct option options[] = {
    OPTIONS_SPEC,
    {"resume", OPTION_VALUE, "RUN", "resume a run that has ended, from its newest checkpoint"},
    {"note", OPTION_VALUE, "TEXT", "a line of your own to know the run by"},
    OPTION_PROFILE("show where the time went, operation by operation"),
    {"json", OPTION_FLAG, NULL, "print the events as JSON, one object a line"},
    {"detach", OPTION_FLAG, NULL, "submit the run, print its number and return"},
    {"foreground", OPTION_FLAG, NULL, "train in a private engine that ends with the command"},
    OPTIONS_END,
};

const struct command command_train = {
    .name = "train",
    .summary = "Submit a run and follow it to its end",
    .details =
        "Ctrl-C ends it after the current step; a second one ends it at once. Closing the\n"
        "terminal does not end it. The exit status is 0 when the run is done, 1 when it failed or\n"
        "was stopped, 2 when it is impossible.\n",
    .options = options,
    .run = run,
};
