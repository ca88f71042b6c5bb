/* SPDX-License-Identifier: MIT */
#include "ui/actions/run_details.h"

#include <string.h>

#include "ui/actions/pages.h"
#include "ui/views/run.h"

/* What keys and events do in the details of a run. */

void run_details_ask(struct ui *ui)
{
    ui_select_any_run(ui);
    struct state_run *run = state_run(&ui->state, ui->selected_run);
    if (ui->details.run != ui->selected_run)
        details_begin(&ui->details, ui->selected_run);
    if (run && ui->link == LINK_UP && ui_request_run(ui, REQUEST_SHOW, run->run))
        run->curve_known = true;
}

void run_details_event(struct ui *ui, const char *method, const json_t *params)
{
    const char *event = json_string_value(json_object_get(params, "event"));
    struct error err = ERROR_INIT;
    if (strcmp(method, "event") != 0 || !event || ui->details.run == 0 ||
        json_integer_value(json_object_get(params, "run")) != ui->details.run)
        return;
    if (strcmp(event, "epoch") == 0 && !details_epoch(&ui->details, params, &err))
        ui_say(ui, true, "%s", err.text);
    if (strcmp(event, "timeline") == 0 && !details_timeline(&ui->details, params, &err))
        ui_say(ui, true, "%s", err.text);
    /* Only then is its error known, and what was left open is resolved. */
    if ((strcmp(event, "end") == 0 || strcmp(event, "run") == 0) && ui->view == VIEW_RUN)
        run_details_ask(ui);
}

bool run_details_act(struct ui *ui, enum action action)
{
    return walk_page(ui, run_view_last_line(ui), action);
}
