/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "completion/argument.h"
#include "completion/words.h"
#include "events/status.h"
#include "runs/metric.h"
#include "runs/pick.h"
#include "spec/set.h"
#include "ui/session/view.h"

/* Once: "data|pipeline" may be the words that the setting has, too. */
static void add_word(struct argument *argument, const char *word)
{
    for (size_t i = 0; i < argument->count; i++)
        if (strcmp(argument->words[i], word) == 0)
            return;
    if (argument->count < ARGUMENT_WORDS)
        argument->words[argument->count++] = word;
}

static void add_data_names(struct argument *argument, bool fetched)
{
    for (const struct data_name *data = data_names; data->name; data++)
        if (data->fetched || !fetched)
            add_word(argument, data->name);
}

/* "start|stop|status": words to be written as they stand, unlike "NAME|FILE". */
static void add_choices(struct argument *argument)
{
    char *rest = argument->storage;
    snprintf(argument->storage, sizeof argument->storage, "%s", argument->name);
    for (char *word; (word = strsep(&rest, "|"));)
        add_word(argument, word);
}

/* A name that is not known here (N, X, URL, ...) is for what cannot be guessed. */
static void find(struct argument *argument, bool live_run)
{
    const char *name = argument->name;
    if (islower((unsigned char)name[0]) && strchr(name, '|')) {
        add_choices(argument);
    } else if (strcmp(name, "NAME|FILE") == 0) {
        argument->source = WORDS_MODELS;
        argument->files = ".conf";
    } else if (strcmp(name, "NAME|DIR") == 0) {
        add_data_names(argument, false);
        add_word(argument, "random:");
        argument->files = "/";
    } else if (strcmp(name, "RULE|FILE") == 0) {
        argument->files = ".safetensors";
    } else if (strcmp(name, "DIR") == 0) {
        argument->files = "/";
    } else if (strcmp(name, "FILE") == 0 || strcmp(name, "WEIGHTS") == 0) {
        argument->files = "*";
    } else if (strcmp(name, "LIST") == 0) {
        argument->source = WORDS_DEVICES;
        argument->list = true;
        add_word(argument, "all");
    } else if (strcmp(name, "data,pipeline,tensor,mixed") == 0) {
        add_word(argument, argument->name);
    } else if (strcmp(name, "RUN") == 0) {
        argument->source = live_run ? WORDS_LIVE_RUNS : WORDS_RUNS;
    } else if (strcmp(name, option_host.argument) == 0) {
        argument->source = WORDS_HOSTS;
    } else if (strcmp(name, "ID") == 0) {
        argument->source = WORDS_COMPARISONS;
    } else if (strcmp(name, "VIEW") == 0) {
        for (int i = 0; i < VIEW_COUNT; i++)
            add_word(argument, view_name((enum view_id)i));
    } else if (strcmp(name, "KEY") == 0) {
        for (size_t i = 0; run_pick_key(i); i++)
            add_word(argument, run_pick_key(i));
    } else if (strcmp(name, "STATUS") == 0) {
        for (enum run_status i = RUN_QUEUED; i <= RUN_INTERRUPTED; i++)
            add_word(argument, run_status_name(i));
    } else if (strcmp(name, "METRIC") == 0) {
        for (size_t i = 0; run_metric(i); i++)
            add_word(argument, run_metric(i)->name);
    } else if (strcmp(name, "DATASET") == 0) {
        add_data_names(argument, true);
    }
}

bool argument_of_option(const struct option *option, struct argument *out)
{
    *out = (struct argument){.count = 0};
    if (option->kind == OPTION_FLAG)
        return false;
    snprintf(out->name, sizeof out->name, "%s", option->argument ? option->argument : "yes|no");
    const char *const *words = preferences_words(option->name);
    for (size_t i = 0; option->kind == OPTION_VALUE && words && words[i]; i++)
        add_word(out, words[i]);
    bool setting = option->kind == OPTION_SETTING || option->kind == OPTION_SWITCH;
    for (size_t i = 0; setting && spec_word(option->name, i); i++)
        add_word(out, spec_word(option->name, i));
    if (option->kind != OPTION_SWITCH)
        find(out, false);
    return true;
}

/* "RUN..." means many: how many of them are offered. */
#define REPEATED 8

bool argument_of_command(const struct command *command, size_t index, struct argument *out)
{
    const char *at = command->forms ? command->forms : command->arguments;
    size_t left = index;
    *out = (struct argument){.count = 0};
    while (at && left > 0 && strchr(at, ' ')) {
        at = strchr(at, ' ') + 1;
        left--;
    }
    size_t length = at ? strcspn(at, " ") : 0;
    bool many = length > 3 && strncmp(at + length - 3, "...", 3) == 0;
    if (!at || (left > 0 && !(many && index < REPEATED && index < (size_t)command->argument_max)))
        return false;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(many ? length - 3 : length), at);
    find(out, command->live_run);
    return true;
}
