/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "remote/host.h"
#include "settings/settings.h"

/*
 * The command line as data: a table of commands, each with a table of options. Parsing, --help and
 * the hints for mistyped names all read these tables.
 */

enum option_kind {
    OPTION_FLAG,    /* no argument; its value is "" when given */
    OPTION_VALUE,   /* an argument the command looks at itself */
    OPTION_SETTING, /* an argument for spec_set() under the option's name */
    OPTION_SWITCH,  /* a setting that is yes or no: without an argument it is yes */
    OPTION_WORD,    /* one of the words that the argument consists of ("time|order"), or without an
                       argument the first of them; the command looks at it */
};

struct option {
    const char *name; /* without dashes */
    enum option_kind kind;
    const char *argument; /* as --help calls it, which argument.h understands; NULL for none */
    const char *help;
};

/* --host, which all commands have. */
extern const struct option option_host;

#define COMMANDS_MAX  32
#define OPTIONS_MAX   96
#define ARGUMENTS_ANY INT_MAX /* as many as the system lets through */

/* What --host means for a command. */
enum command_place {
    PLACE_ENGINE,         /* it runs here and speaks to the engine there */
    PLACE_THERE,          /* it runs there: it reads the store or looks at processes */
    PLACE_THERE_TERMINAL, /* and has a terminal there, if there is one here */
    PLACE_HERE,           /* nothing: it is about this machine */
};

struct command;

/* A parsed command line. */
struct invocation {
    const struct command *command;
    struct settings settings; /* files, environment, then the command line */
    struct remote remote;     /* where its engine is */
    const char *host;         /* as --host has it; NULL: it was not given */
    int host_at, host_words;  /* where in argv, and how many words of it; 0: not there */
    const char *values[OPTIONS_MAX];
    bool job_hosts; /* its hosts are those of the Slurm job that it is in: hosts.h */
    int argument_count;
    const char **arguments; /* what is no option; the caller's, with room for all of argv */
};

struct command {
    const char *name;      /* NULL: the program without a command */
    const char *arguments; /* "RUN", "NAME|FILE", "RUN..." or NULL; argument.h understands them */
    const char *forms;     /* what else it takes, in the same words, for completion; or NULL */
    int argument_min, argument_max;
    enum command_place place;
    const char *place_here; /* the first argument with which it is PLACE_HERE; or NULL */
    bool live_run;          /* its RUN is one that has not ended */
    bool dash_words;        /* "-word" is an argument; options begin with two dashes */
    bool lists;             /* it looks itself at settings that have several values */
    const char *summary;    /* one line for the list of commands */
    const char *details;    /* lines below it in the command's own help, or NULL */
    const struct option
        *options; /* ends with a NULL name; --help, --version and --host are understood */
    /* False, with an error or without one: it failed. */
    bool (*run)(struct invocation *invocation, struct error *err);
};

/* Is an option complete without an argument, so that one must follow '=' directly? */
static inline bool option_stands_alone(const struct option *option)
{
    return option->kind == OPTION_SWITCH || option->kind == OPTION_WORD;
}

/* The value of an option, NULL when it was not given. */
const char *invocation_value(const struct invocation *invocation, const char *option);
/* Is there an OPTION_FLAG? */
bool invocation_has(const struct invocation *invocation, const char *option);

/*
 * Set `remote` from what --host and DPARTUI_HOST say, once the command line is parsed. Of another
 * host the folder of the data is the one that is usual there, unless the command line has one: what
 * the configuration here names is a folder here.
 */
bool invocation_find_host(struct invocation *invocation, struct error *err);
/* Where the command runs, by its arguments. */
enum command_place invocation_place(const struct invocation *invocation);

/*
 * Parse a command line. `argv` begins after the command's name and must outlive the
 * invocation. *help is set when --help was given (the rest is not looked at then).
 */
bool command_parse(const struct command *command, int argc, char *const *argv,
                   struct invocation *invocation, bool *help, struct error *err);

void command_print_help(const struct command *command);
void command_print_options(const struct command *command);
