/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "run_spec.h"
#include "ui/workbench.h"

static int run(struct invocation *invocation, struct error *err)
{
    struct settings *settings = &invocation->settings;
    const char *charset = invocation_value(invocation, "charset");
    if (!run_spec_finish(invocation, err) ||
        (charset && !settings_set_charset(settings, charset, err)))
        return STATUS_FAILED;
    struct workbench_options options = {
        .spec = settings->spec,
        .charset = settings->charset,
        .colour = settings->colour && !invocation_has(invocation, "mono"),
        .keys = &settings->keys,
        .start_run = invocation_has(invocation, "start"),
    };
    return workbench_run(&options, err) ? STATUS_DONE : STATUS_FAILED;
}

static const struct option options[] = {
    OPTIONS_SPEC,
    {"start", OPTION_FLAG, NULL, "submit that run at once, unless one goes on"},
    {"charset", OPTION_VALUE, "CHARSET", "auto (by the locale), utf8 or ascii"},
    {"mono", OPTION_FLAG, NULL, "no colours"},
    OPTIONS_END,
};

const struct command command_workbench = {
    .summary = "The workbench on this terminal",
    .options = options,
    .run = run,
};
