/* SPDX-License-Identifier: MIT */
#include "ui/actions/views.h"

#include "ui/actions/chosen/differences.h"
#include "ui/actions/columns.h"
#include "ui/actions/compare.h"
#include "ui/actions/confusion.h"
#include "ui/actions/dashboard.h"
#include "ui/actions/log.h"
#include "ui/actions/pages.h"
#include "ui/actions/run_details.h"
#include "ui/actions/run_list.h"
#include "ui/actions/settings.h"

const struct view_actions *view_actions(enum view_id view)
{
    static const struct view_actions table[VIEW_COUNT] = {
        [VIEW_DASHBOARD] = {dashboard_can, dashboard_act, dashboard_pick, NULL, NULL},
        [VIEW_RUNS] = {run_list_can, run_list_act, run_list_pick, run_list_refresh, NULL},
        [VIEW_RUN] = {NULL, run_details_act, NULL, run_details_ask, NULL},
        [VIEW_CONFUSION] = {confusion_can, confusion_act, NULL, confusion_opened, NULL},
        [VIEW_DIFFERENCES] = {NULL, differences_act, NULL, differences_opened, NULL},
        [VIEW_COMPARE] = {compare_can, compare_act, compare_pick, compare_opened, NULL},
        [VIEW_LOG] = {NULL, log_act, NULL, log_opened, NULL},
        [VIEW_SETTINGS] = {settings_can, settings_act, NULL, settings_opened, settings_left},
        [VIEW_HOSTS] = {hosts_can, hosts_act, NULL, hosts_opened, hosts_left},
        [VIEW_COLUMNS] = {columns_can, columns_act, NULL, NULL, settings_left},
        [VIEW_DEVICE] = {NULL, device_act, NULL, NULL, NULL},
        [VIEW_HELP] = {NULL, help_act, NULL, NULL, NULL},
    };
    return &table[view];
}

/* Coming back from these leads to where they were opened; from the others to the dashboard. */
static bool is_nested(enum view_id view)
{
    return view == VIEW_RUN || view == VIEW_CONFUSION || view == VIEW_DIFFERENCES ||
           view == VIEW_DEVICE || view == VIEW_HELP || view == VIEW_COLUMNS;
}

static void show(struct ui *ui, enum view_id view)
{
    const struct view_actions *before = view_actions(ui->view), *now = view_actions(view);
    ui->view = view;
    ui->line = 0;
    if (before->left)
        before->left(ui);
    if (now->opened)
        now->opened(ui);
}

void ui_show_view(struct ui *ui, enum view_id view)
{
    if (view == ui->view)
        return;
    overlay_close(ui);
    /* One that is opened from the view that it led to keeps its way back. */
    if (!is_nested(view) || ui->back[ui->view] != view)
        ui->back[view] = is_nested(view) ? ui->view : VIEW_DASHBOARD;
    show(ui, view);
}

void ui_go_back(struct ui *ui)
{
    show(ui, ui->back[ui->view]);
}
