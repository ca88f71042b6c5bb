/* SPDX-License-Identifier: MIT */
#include "ui/app/workbench.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "client/store_wait.h"
#include "commands/list.h"
#include "runs/csv.h"
#include "settings/saved.h"

static bool run_workbench(struct invocation *invocation, struct saved_settings *saved,
                          struct error *err)
{
    struct settings *settings = &invocation->settings;
    /* The page shows names as they were given; the form and the engine have absolute ones. */
    if (!saved_settings_open(saved, settings, err) || !run_spec_finish(invocation, err))
        return false;
    struct workbench_options options = {
        .spec = settings->spec,
        .remote = invocation->remote,
        .hosts = settings->hosts,
        .preferences = settings->preferences,
        .keys = &settings->keys,
        .record = invocation_value(invocation, "record"),
        .settings_source = &saved->source,
        .write_runs = run_csv_write,
        .start_run = invocation_has(invocation, "start"),
    };
    if (!invocation->remote.host)
        store_wait();
    return workbench_run(&options, err);
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct saved_settings saved;
    if (!run_preferences_take(invocation, err))
        return false;
    bool ok = run_workbench(invocation, &saved, err);
    saved_settings_close(&saved);
    return ok;
}

static const struct option options[] = {
    OPTIONS_SPEC,
    {"start", OPTION_FLAG, NULL, "submit that run at once, unless one is running"},
    OPTIONS_SCREEN,
    {"mono", OPTION_FLAG, NULL, "no colours"},
    {"record", OPTION_VALUE, "FILE", "write down the session for `dpartui screen --replay`"},
    OPTIONS_END,
};

const struct command command_workbench = {
    .summary = "The workbench on this terminal",
    .options = options,
    .run = run,
};
