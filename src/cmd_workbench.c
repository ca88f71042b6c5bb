/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "run_spec.h"
#include "ui/workbench.h"

/* The options that are preferences, by their names. */
static bool take_preferences(const struct invocation *invocation, struct preferences *preferences,
                             struct error *err)
{
    static const char *const names[] = {"charset", "palette", "background", "canvas"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = invocation_value(invocation, names[i]);
        if (value && !preferences_set(preferences, names[i], value, err))
            return error_prefix(err, "--%s", names[i]);
    }
    if (invocation_has(invocation, "mono"))
        preferences->colour = false;
    return true;
}

static int run(struct invocation *invocation, struct error *err)
{
    struct settings *settings = &invocation->settings;
    if (!run_spec_finish(invocation, err) ||
        !take_preferences(invocation, &settings->preferences, err))
        return STATUS_FAILED;
    struct workbench_options options = {
        .spec = settings->spec,
        .preferences = settings->preferences,
        .keys = &settings->keys,
        .record = invocation_value(invocation, "record"),
        .start_run = invocation_has(invocation, "start"),
    };
    return workbench_run(&options, err) ? STATUS_DONE : STATUS_FAILED;
}

static const struct option options[] = {
    OPTIONS_SPEC,
    {"start", OPTION_FLAG, NULL, "submit that run at once, unless one goes on"},
    {"charset", OPTION_VALUE, "CHARSET", "auto (by the locale), utf8 or ascii"},
    {"palette", OPTION_VALUE, "PALETTE", "colours: default or colour-blind"},
    {"background", OPTION_VALUE, "SHADE", "of the terminal: auto, dark or light"},
    {"canvas", OPTION_VALUE, "KIND", "of curves: auto, braille, quadrant or ascii"},
    {"mono", OPTION_FLAG, NULL, "no colours"},
    {"record", OPTION_VALUE, "FILE", "write down the session for `dpartui screen --replay`"},
    OPTIONS_END,
};

const struct command command_workbench = {
    .summary = "The workbench on this terminal",
    .options = options,
    .run = run,
};
