/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/*
 * The possible values of an argument, for completion in a shell. The name that
 * --help gives an argument is its kind ("RUN", "FILE", "start|stop|status"), and the parser's own
 * tables know the fixed words of a setting, so that nothing is said twice.
 */

#define ARGUMENT_WORDS 16

struct argument {
    char name[32];      /* as --help calls it */
    const char *source; /* of words_print(): words that only this machine knows; NULL: none */
    const char *files;  /* NULL: none; "*": any, "/": folders, else what their names end in */
    bool list;          /* several of the source, with commas between */
    size_t count;
    const char *words[ARGUMENT_WORDS]; /* fixed ones, of a list: instead of it; "word:" is only a
                                          beginning */
    char storage[80];                  /* of words that came from the name */
};

/* Nothing is offered for it. */
static inline bool argument_is_free(const struct argument *argument)
{
    return !argument->source && !argument->count && !argument->files;
}

/* The argument of an option; false when it takes none. For one that
 * stands alone it is the one after '='. */
bool argument_of_option(const struct option *option, struct argument *out);

/* The argument at `index` of a command, from 0; false when there is none. */
bool argument_of_command(const struct command *command, size_t index, struct argument *out);
