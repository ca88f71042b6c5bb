/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command.h"
#include "run_spec.h"
#include "ui/workbench.h"

static bool choose_charset(const char *name, enum charset *charset, struct error *err)
{
    if (!name)
        return true;
    if (strcmp(name, "utf8") == 0)
        *charset = CHARSET_UTF8;
    else if (strcmp(name, "ascii") == 0)
        *charset = CHARSET_ASCII;
    else if (strcmp(name, "auto") == 0)
        *charset = CHARSET_AUTO;
    else
        return error_set(err, ERROR_USAGE, "--charset '%.60s' is none of auto, utf8, ascii", name);
    return true;
}

static int run(struct invocation *invocation, struct error *err)
{
    struct settings *settings = &invocation->settings;
    if (!run_spec_finish(invocation, err) ||
        !choose_charset(invocation_value(invocation, "charset"), &settings->charset, err))
        return STATUS_FAILED;
    struct workbench_options options = {
        .spec = settings->spec,
        .charset = settings->charset,
        .colour = settings->colour && !invocation_has(invocation, "mono"),
        .start_run = invocation_has(invocation, "start"),
    };
    return workbench_run(&options, err) ? STATUS_DONE : STATUS_FAILED;
}

static const struct option options[] = {
    OPTIONS_SPEC,
    {"start", OPTION_FLAG, NULL, "submit that run at once, unless one goes on"},
    {"charset", OPTION_VALUE, "NAME", "auto (by the locale), utf8 or ascii"},
    {"mono", OPTION_FLAG, NULL, "no colours"},
    OPTIONS_END,
};

const struct command command_workbench = {
    .summary = "The workbench on this terminal",
    .options = options,
    .run = run,
};
