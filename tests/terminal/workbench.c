/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/set.h"
#include "ui/app/workbench.h"

/*
 * The workbench alone, for tests/terminal/screen.py: `workbench [utf8|ascii] [mono] [start]
 * [KEY=VALUE]...`, where KEY=VALUE sets a preference or a field of the form.
 */
static bool take_argument(struct workbench_options *options, char *argument, struct error *err)
{
    char *value = strchr(argument, '=');
    if (value) {
        *value++ = '\0';
        if (preferences_words(argument))
            return preferences_set(&options->preferences, argument, value, err);
        return spec_set(&options->spec, argument, value, err);
    }
    if (strcmp(argument, "utf8") == 0)
        options->preferences.charset = CHARSET_UTF8;
    else if (strcmp(argument, "ascii") == 0)
        options->preferences.charset = CHARSET_ASCII;
    else if (strcmp(argument, "mono") == 0)
        options->preferences.colour = false;
    else if (strcmp(argument, "start") == 0)
        options->start_run = true;
    else
        return error_set(err, ERROR_USAGE, "what is '%s'?", argument);
    return true;
}

int main(int argc, char **argv)
{
    struct workbench_options options = {.start_run = false};
    struct error err = ERROR_INIT;
    bool ok = true;
    preferences_init(&options.preferences);
    spec_init(&options.spec);
    for (int i = 1; i < argc && ok; i++)
        ok = take_argument(&options, argv[i], &err);
    ok = ok && workbench_run(&options, &err);
    spec_free(&options.spec);
    if (!ok)
        fprintf(stderr, "workbench: %s\n", err.text);
    return ok ? 0 : err.kind == ERROR_USAGE ? 2 : 1;
}
