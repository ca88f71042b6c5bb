/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

#include "ui/views/compare.h"
#include "ui/views/dashboard.h"
#include "ui/views/device.h"
#include "ui/views/help.h"
#include "ui/views/log.h"
#include "ui/views/run.h"
#include "ui/views/runs.h"
#include "ui/views/settings.h"

const struct view *view_of(enum view_id id)
{
    static const struct view *const views[VIEW_COUNT] = {
        [VIEW_DASHBOARD] = &view_dashboard,
        [VIEW_RUNS] = &view_runs,
        [VIEW_RUN] = &view_run,
        [VIEW_COMPARE] = &view_compare,
        [VIEW_LOG] = &view_log,
        [VIEW_SETTINGS] = &view_settings,
        [VIEW_DEVICE] = &view_device,
        [VIEW_HELP] = &view_help,
    };
    return views[id];
}
