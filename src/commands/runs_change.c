/* SPDX-License-Identifier: MIT */
#include "commands/runs_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/run_number.h"
#include "client/session.h"
#include "commands/runs_repair.h"
#include "events/status.h"
#include "store/place.h"
#include "store/read.h"

/* The engine writes a moment after it has answered; a full disk may take much longer. */
#define WRITTEN_SECONDS 2.0

static bool change(struct client *client, const char *method, long run, json_t *params,
                   struct error *err)
{
    if (!params || json_object_set_new(params, "run", json_integer(run)) != 0) {
        json_decref(params);
        return error_memory(err, method);
    }
    return client_call(client, method, params, SESSION_SECONDS, NULL, err);
}

static bool enough(const struct invocation *invocation, int least, const char *form,
                   struct error *err)
{
    return invocation->argument_count >= least ||
           error_set(err, ERROR_USAGE, "runs %s: missing %s (see dpartui runs --help)",
                     invocation->arguments[0], form);
}

static bool is_kept(struct store *store, long run)
{
    struct error ignored = ERROR_INIT;
    json_t *object = NULL;
    bool kept = store_head(store, run, &object, &ignored);
    json_decref(object);
    return kept;
}

/* So that a list made right after it lacks the run. */
static void wait_until_gone(long run)
{
    struct error ignored = ERROR_INIT;
    struct store *store = NULL;
    char *path = store_default_path(&ignored);
    double deadline = clock_seconds() + WRITTEN_SECONDS;
    if (path && store_open_reading(path, &store, &ignored))
        while (is_kept(store, run) && clock_seconds() < deadline)
            nanosleep(&(struct timespec){.tv_nsec = 10000000L}, NULL);
    store_close(store);
    free(path);
}

/* Is there such a run, and has it ended? */
static bool check_deletable(struct client *client, long run, struct error *err)
{
    json_t *object = NULL;
    if (!client_call(client, "show", json_pack("{s:I}", "run", (json_int_t)run), SESSION_SECONDS,
                     &object, err))
        return false;
    const enum run_status status = run_status_find(member_text(object, "status"));
    json_decref(object);
    return !run_status_is_live(status) ||
           error_set(err, ERROR_FAILED,
                     "run %ld is %s: only a run that has ended can be deleted; stop it first", run,
                     run_status_name(status));
}

/* All or none. */
static bool check_all_deletable(struct client *client, const long *runs, int count,
                                struct error *err)
{
    for (int i = 0; i < count; i++)
        if (!check_deletable(client, runs[i], err))
            return error_prefix(err, "nothing was deleted");
    return true;
}

/* The numbers that `words` name, each once; false: one is none. */
static bool read_numbers(const char **words, int word_count, long *runs, int *count,
                         struct error *err)
{
    *count = 0;
    for (int i = 0; i < word_count; i++) {
        if (!run_number_parse(words[i], &runs[*count], err))
            return false;
        int known = 0;
        while (runs[known] != runs[*count])
            known++;
        *count += known == *count;
    }
    return true;
}

static bool delete_runs(struct invocation *invocation, struct error *err)
{
    int count = 0;
    struct client *client = NULL;
    if (!enough(invocation, 2, "RUN...", err))
        return false;
    long *runs = calloc((size_t)invocation->argument_count, sizeof *runs);
    bool ok = (runs || error_memory(err, "runs")) &&
              read_numbers(invocation->arguments + 1, invocation->argument_count - 1, runs, &count,
                           err) &&
              (count == 1 || invocation_has(invocation, "yes") ||
               error_set(err, ERROR_USAGE, "to delete %d runs for good takes --yes", count)) &&
              session_open(&invocation->remote, &client, err) &&
              (count == 1 || check_all_deletable(client, runs, count, err));
    for (int i = 0; ok && i < count; i++) {
        ok = change(client, "delete", runs[i], json_object(), err);
        if (ok)
            wait_until_gone(runs[i]);
    }
    client_close(client);
    free(runs);
    return ok;
}

static bool change_one(const struct invocation *invocation, const char *method, json_t *params,
                       struct error *err)
{
    long run;
    struct client *client;
    if (!run_number_parse(invocation->arguments[1], &run, err) ||
        !session_open(&invocation->remote, &client, err)) {
        json_decref(params);
        return false;
    }
    bool ok = change(client, method, run, params, err);
    client_close(client);
    return ok;
}

static bool note_run(struct invocation *invocation, struct error *err)
{
    if (!enough(invocation, 3, "RUN TEXT", err))
        return false;
    if (invocation->argument_count > 3)
        return error_set(err, ERROR_USAGE, "runs note: write the text in quotes");
    json_t *params = json_pack("{s:s}", "text", invocation->arguments[2]);
    return params ? change_one(invocation, "note", params, err)
                  : error_set(err, ERROR_USAGE, "runs note: the text is not UTF-8");
}

static bool tag_run(struct invocation *invocation, struct error *err)
{
    if (!enough(invocation, 3, "RUN [+]WORD|-WORD...", err))
        return false;
    json_t *add = json_array(), *remove = json_array();
    bool ok = add && remove;
    for (int i = 2; ok && i < invocation->argument_count; i++) {
        const char *word = invocation->arguments[i];
        bool sign = word[0] == '+' || word[0] == '-';
        ok = json_array_append_new(word[0] == '-' ? remove : add, json_string(word + sign)) == 0;
    }
    json_t *params = ok ? json_pack("{s:O, s:O}", "add", add, "remove", remove) : NULL;
    json_decref(add);
    json_decref(remove);
    return params ? change_one(invocation, "tag", params, err)
                  : error_set(err, ERROR_USAGE, "runs tag: a word is not UTF-8");
}

runs_change *runs_change_named(const char *word)
{
    static const struct {
        const char *word;
        runs_change *change;
    } changes[] = {
        {"delete", delete_runs}, {"note", note_run}, {"tag", tag_run}, {"repair", runs_repair}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(changes[i].word, word) == 0)
            return changes[i].change;
    return NULL;
}
