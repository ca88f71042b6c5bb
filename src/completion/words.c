/* SPDX-License-Identifier: MIT */
#include "completion/words.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/figure.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/print.h"
#include "base/text.h"
#include "client/open.h"
#include "events/device_names.h"
#include "events/status.h"
#include "runs/source.h"
#include "study/file.h"
#include "system/affinity.h"

/* Short enough not to look like a hang at a prompt. */
#define ANSWER_SECONDS 0.5

/* More would not be read; all that still wait or train are among the newest. */
#define RUNS_MAX 1000

/* A shell cannot complete to a name that would be shown escaped. */
static void print_word(const char *word, const char *what)
{
    if (word[0] && !escape_needed(word))
        print("%s\t%s\n", word, what);
}

/* What the running engine answers; NULL: nothing. The caller releases it. */
static json_t *ask(const char *method)
{
    struct client *client;
    struct error ignored = ERROR_INIT;
    json_t *result = NULL;
    /* Without a greeting: members that another version lacks are only missing words. */
    if (!client_connect(&client, &ignored))
        return NULL;
    client_call(client, method, NULL, ANSWER_SECONDS, &result, &ignored);
    client_close(client);
    return result;
}

static void print_run(const json_t *run)
{
    struct figure number, batch;
    char *devices = run_devices_text(run);
    char *what =
        text_format("%s on %s, batch %s, %s", member_text(run, "model"), devices ? devices : "-",
                    figure_whole(&batch, member_number(run, "batch")), member_text(run, "status"));
    print_word(figure_whole(&number, member_number(run, "run")), what ? what : "");
    free(what);
    free(devices);
}

static void print_runs(bool live)
{
    struct run_source source;
    struct error ignored = ERROR_INIT;
    json_t *list = NULL;
    struct store_filter newest = STORE_FILTER_INIT;
    newest.limit = RUNS_MAX;
    run_source_open_quickly(&source, ANSWER_SECONDS);
    run_source_list(&source, &newest, &list, &ignored);
    run_source_close(&source);
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *run = json_array_get(list, i);
        const bool wanted =
            !live || run_status_is_live(run_status_find(member_text(run, "status")));
        if (wanted && json_is_integer(json_object_get(run, "run")))
            print_run(run);
    }
    json_decref(list);
}

static void print_all_runs(void)
{
    print_runs(false);
}

static void print_live_runs(void)
{
    print_runs(true);
}

static void print_comparison(const char *id)
{
    struct study study;
    struct figure title;
    struct error ignored = ERROR_INIT;
    if (!study_load(id, &study, &ignored))
        return;
    print_word(id, study_title(&study, &title));
    study_free(&study);
}

/* The newest first. */
static void print_comparisons(void)
{
    struct error ignored = ERROR_INIT;
    json_t *ids = NULL;
    if (!study_ids(&ids, &ignored))
        return;
    for (size_t i = json_array_size(ids); i-- > 0;) {
        struct figure id;
        print_comparison(figure_whole(&id, json_number_value(json_array_get(ids, i))));
    }
    json_decref(ids);
}

static int core_count(void)
{
    int count = affinity_count();
    return count < SPEC_MAX_DEVICES ? count : SPEC_MAX_DEVICES;
}

static void print_cpus(void)
{
    /* Two on a single core are slow but do what two devices do. */
    int count = core_count() > 2 ? core_count() : 2;
    char word[DEVICE_NAME], what[32];
    for (int i = 0; i < count; i++) {
        device_id_text((struct device_id){.kind = DEVICE_CPU, .index = i}, word);
        print_word(word, "CPU device");
    }
    for (int k = 2; k <= count; k = k < count && 2 * k > count ? count : 2 * k) {
        struct device_list list = {.choice = DEVICES_LISTED, .count = k};
        for (int i = 0; i < k; i++)
            list.id[i] = (struct device_id){.kind = DEVICE_CPU, .index = i};
        char *range = device_list_text(&list);
        snprintf(what, sizeof what, "%d CPU devices", k);
        if (range)
            print_word(range, what);
        free(range);
    }
}

static void print_devices(void)
{
    json_t *list = ask("devices"), *device;
    size_t index;
    int gpus = 0;
    print_cpus();
    json_array_foreach(list, index, device)
    {
        const char *name = member_text(device, "device");
        if (strncmp(name, "cpu:", 4) != 0 && json_is_true(json_object_get(device, "available")))
            print_word(name, member_text(device, "name"));
        gpus +=
            strncmp(name, "cuda:", 5) == 0 && json_is_true(json_object_get(device, "available"));
    }
    for (int k = 1; k <= gpus; k++) {
        char word[16];
        snprintf(word, sizeof word, "free:%d", k);
        print_word(word, k == 1 ? "the least used GPU" : "the least used GPUs");
    }
    json_decref(list);
}

/* NAME for "NAME.conf" in `directory` if that is the one found by its name, else NULL; freed. */
static char *model_name(const char *directory, const char *file)
{
    struct error ignored = ERROR_INIT;
    if (!text_ends_in(file, ".conf"))
        return NULL;
    char *name = strndup(file, strlen(file) - strlen(".conf"));
    char *path = path_join(directory, file);
    char *found = name && path ? paths_find_model(name, &ignored) : NULL;
    bool same = found && strcmp(found, path) == 0;
    free(found);
    free(path);
    if (same)
        return name;
    free(name);
    return NULL;
}

/* Two ways may lead to one directory; each model is one word. */
static bool is_new(struct text *seen, const char *name)
{
    char *line = text_format("\n%s\n", name);
    const char *before = text_cstr(seen);
    bool known = line && before && strstr(before, line);
    if (!known && line)
        text_puts(seen, line);
    free(line);
    return !known;
}

static bool print_models_in(const char *directory, void *context)
{
    struct text *seen = context;
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char *name = model_name(directory, entries[i]->d_name);
        if (name && is_new(seen, name))
            print_word(name, directory);
        free(name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return false;
}

static void print_models(void)
{
    struct text seen = TEXT_INIT;
    paths_visit_models(print_models_in, &seen);
    text_free(&seen);
}

static void print_hosts(const struct settings *settings)
{
    for (char *const *host = settings->hosts; host && *host; host++)
        print_word(*host, "of the configuration");
    print_word("local", "this machine");
}

/* Runs and devices are those of this machine, but DPARTUI_HOST names another one. */
static bool is_far(const char *source)
{
    const char *host = getenv("DPARTUI_HOST");
    return host && *host && strcmp(host, "local") != 0 && strcmp(source, WORDS_MODELS) != 0;
}

bool words_print(const char *source, const struct settings *settings)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } sources[] = {{WORDS_COMPARISONS, print_comparisons},
                   {WORDS_DEVICES, print_devices},
                   {WORDS_LIVE_RUNS, print_live_runs},
                   {WORDS_MODELS, print_models},
                   {WORDS_RUNS, print_all_runs}};
    if (strcmp(source, WORDS_HOSTS) == 0) {
        print_hosts(settings);
        return true;
    }
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(sources[i].name, source) == 0) {
            if (!is_far(source))
                sources[i].print();
            return true;
        }
    return false;
}
