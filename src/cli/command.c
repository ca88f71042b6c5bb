/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/print.h"
#include "spec/set.h"
#include "spec/text.h"
#include "spec/values.h"

const struct option option_host = {"host", OPTION_VALUE, "USER@HOST",
                                   "the engine of another host, by ssh; local: of this one"};

const char *invocation_value(const struct invocation *invocation, const char *option)
{
    const struct option *options = invocation->command->options;
    for (size_t i = 0; options[i].name; i++)
        if (strcmp(options[i].name, option) == 0)
            return invocation->values[i];
    return NULL;
}

bool invocation_has(const struct invocation *invocation, const char *option)
{
    return invocation_value(invocation, option) != NULL;
}

static bool unknown_option(const struct command *command, const char *name, struct error *err)
{
    const char *names[OPTIONS_MAX + 3] = {"help", "version", "host"};
    size_t count = 3;
    for (size_t i = 0; command->options[i].name; i++)
        names[count++] = command->options[i].name;
    const char *near = nearest_name(name, names, count);
    const char *space = command->name ? " " : "", *after = command->name ? command->name : "";
    if (near)
        return error_set(err, ERROR_USAGE,
                         "there is no option --%.60s: did you mean --%s? (see dpartui%s%s --help)",
                         name, near, space, after);
    return error_set(err, ERROR_USAGE, "there is no option --%.60s (see dpartui%s%s --help)", name,
                     space, after);
}

/* One of an OPTION_WORD's words; "" means the first. */
static bool take_word(const struct option *option, const char *value, const char **word,
                      struct error *err)
{
    const char *at = option->argument;
    *word = value ? value : "";
    while (value && *at) {
        size_t length = strcspn(at, "|");
        if (strlen(value) == length && strncmp(at, value, length) == 0)
            return true;
        at += length + (at[length] == '|');
    }
    return !value || error_set(err, ERROR_USAGE, "--%s '%.60s' is not one of %s", option->name,
                               value, option->argument);
}

/* "--name" or "--name=value"; *used says whether `next` was the value. */
static bool take_option(struct invocation *invocation, const char *text, const char *next,
                        bool *used, struct error *err)
{
    const struct option *options = invocation->command->options;
    size_t length = strcspn(text, "="), index = 0;
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    while (options[index].name && strcmp(options[index].name, name) != 0)
        index++;
    const struct option *option = &options[index];
    *used = false;
    if (!option->name)
        return unknown_option(invocation->command, name, err);
    if (option->kind == OPTION_FLAG && value)
        return error_set(err, ERROR_USAGE, "--%s takes no argument", name);
    if (option->kind == OPTION_WORD) {
        if (!take_word(option, value, &value, err))
            return false;
    } else if (option->kind == OPTION_FLAG || (option->kind == OPTION_SWITCH && !value)) {
        value = option->kind == OPTION_FLAG ? "" : "yes";
    } else if (!value) {
        if (!next)
            return error_set(err, ERROR_USAGE, "--%s needs an argument: --%s %s", name, name,
                             option->argument);
        value = next;
        *used = true;
    }
    invocation->values[index] = value;
    if ((option->kind == OPTION_SETTING || option->kind == OPTION_SWITCH) &&
        !(invocation->command->lists && spec_is_list(name, value)))
        return spec_set(&invocation->settings.spec, name, value, err);
    return true;
}

/* *words: how many it takes; 0: it is another option. */
static bool take_host(struct invocation *invocation, int at, int argc, char *const *argv,
                      int *words, struct error *err)
{
    static const char name[] = "--host";
    const size_t length = sizeof name - 1;
    const char *text = argv[at];
    *words = 0;
    if (strncmp(text, name, length) != 0 || (text[length] != '=' && text[length] != '\0'))
        return true;
    if (text[length] == '\0' && at + 1 >= argc)
        return error_set(err, ERROR_USAGE, "--host needs an argument: --host USER@HOST");
    *words = text[length] == '=' ? 1 : 2;
    if (invocation->host_words > 0)
        return error_set(err, ERROR_USAGE, "--host is there twice");
    invocation->host = *words == 1 ? text + length + 1 : argv[at + 1];
    invocation->host_at = at;
    invocation->host_words = *words;
    return true;
}

enum command_place invocation_place(const struct invocation *invocation)
{
    const struct command *command = invocation->command;
    const bool here = command->place_here && invocation->argument_count > 0 &&
                      strcmp(invocation->arguments[0], command->place_here) == 0;
    return here ? PLACE_HERE : command->place;
}

bool invocation_find_host(struct invocation *invocation, struct error *err)
{
    const char *host = invocation->host ? invocation->host : getenv("DPARTUI_HOST");
    const bool here = invocation_place(invocation) == PLACE_HERE;
    invocation->remote = (struct remote){.ssh = invocation->settings.ssh};
    if (!host || !host[0] || strcmp(host, "local") == 0 || (here && !invocation->host))
        return true;
    if (here)
        return error_set(err, ERROR_USAGE, "--host: '%s%s%s' is about this machine only",
                         invocation->command->name, invocation->argument_count ? " " : "",
                         invocation->argument_count ? invocation->arguments[0] : "");
    if (!remote_check(host, err))
        return error_prefix(err, "%s", invocation->host ? "--host" : "DPARTUI_HOST");
    invocation->remote.host = host;
    return invocation_value(invocation, "data-dir") ||
           spec_set(&invocation->settings.spec, "data-dir", "", err);
}

static bool check_arguments(const struct invocation *invocation, struct error *err)
{
    const struct command *command = invocation->command;
    if (invocation->argument_count < command->argument_min)
        return error_set(err, ERROR_USAGE, "%s: missing %s (see dpartui %s --help)", command->name,
                         command->arguments, command->name);
    return true;
}

bool command_parse(const struct command *command, int argc, char *const *argv,
                   struct invocation *invocation, bool *help, struct error *err)
{
    bool options_end = false;
    invocation->command = command;
    invocation->argument_count = invocation->host_words = 0;
    memset(invocation->values, 0, sizeof invocation->values);
    *help = false;
    for (int i = 0; i < argc; i++) {
        const char *text = argv[i];
        bool used;
        int words;
        bool dash_word =
            command->dash_words && text[0] == '-' && text[1] != '-' && strcmp(text, "-h") != 0;
        if (options_end || dash_word || text[0] != '-' || text[1] == '\0') {
            if (invocation->argument_count == command->argument_max)
                return error_set(err, ERROR_USAGE,
                                 "'%.60s' is one argument too many (see dpartui%s%s --help)", text,
                                 command->name ? " " : "", command->name ? command->name : "");
            invocation->arguments[invocation->argument_count++] = text;
        } else if (strcmp(text, "--") == 0) {
            options_end = true;
        } else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
            *help = true;
            return true;
        } else if (!take_host(invocation, i, argc, argv, &words, err)) {
            return false;
        } else if (words > 0) {
            i += words - 1;
        } else if (text[1] != '-') {
            return error_set(err, ERROR_USAGE, "there is no option %.60s: options begin with --",
                             text);
        } else if (take_option(invocation, text + 2, i + 1 < argc ? argv[i + 1] : NULL, &used,
                               err)) {
            i += used;
        } else {
            return false;
        }
    }
    return check_arguments(invocation, err);
}

/* The built-in value of a setting, "" where there is nothing to show. */
static void print_default(const struct option *option)
{
    struct spec spec;
    struct error ignored = ERROR_INIT;
    if (option->kind != OPTION_SETTING)
        return;
    spec_init(&spec);
    char *value = spec_get(&spec, option->name, &ignored);
    if (value && value[0] && strcmp(value, "0") != 0 && strcmp(value, "default") != 0)
        print(" [%s]", value);
    free(value);
    spec_free(&spec);
}

/* What stands around an option's argument. */
static const char *before_argument(const struct option *option)
{
    return !option->argument ? "" : option->kind == OPTION_WORD ? "[=" : " ";
}

static const char *after_argument(const struct option *option)
{
    return option->kind == OPTION_WORD ? "]" : "";
}

static int option_width(const struct option *option)
{
    size_t width = strlen(option->name) + strlen(before_argument(option)) +
                   strlen(after_argument(option)) +
                   (option->argument ? strlen(option->argument) : 0);
    return (int)width;
}

static void print_option(const struct option *option, int width)
{
    print("  --%s%s%s%s%*s  %s", option->name, before_argument(option),
          option->argument ? option->argument : "", after_argument(option),
          width - option_width(option), "", option->help);
    print_default(option);
    putchar('\n');
}

void command_print_options(const struct command *command)
{
    const struct option *options = command->options;
    int width = option_width(&option_host);
    for (const struct option *option = options; option->name; option++)
        if (option_width(option) > width)
            width = option_width(option);
    print("\nOptions:\n");
    for (const struct option *option = options; option->name; option++)
        print_option(option, width);
    print_option(&option_host, width);
    print("  --%-*s  show this help\n", width, "help");
    print("  --%-*s  show the version\n", width, "version");
}

void command_print_help(const struct command *command)
{
    print("Usage: dpartui%s%s [option ...]%s%s\n\n%s.\n", command->name ? " " : "",
          command->name ? command->name : "", command->arguments ? " " : "",
          command->arguments ? command->arguments : "", command->summary);
    if (command->details) {
        putchar('\n');
        fputs(command->details, stdout);
    }
    command_print_options(command);
}
