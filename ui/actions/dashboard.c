/* SPDX-License-Identifier: MIT */
#include "ui/actions/dashboard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "ui/actions/chart.h"
#include "ui/actions/views.h"
#include "ui/form/devices.h"
#include "ui/form/suggestion.h"
#include "ui/keys/walk.h"

/* What keys do in the dashboard's lists and form. */

enum { PAGE = 10 };

static bool accept_field(struct ui *ui, const char *text)
{
    struct error err = ERROR_INIT;
    return form_set(&ui->form, ui->form.field, text, &err) || ui_say(ui, true, "%s", err.text);
}

static const struct prompt field_prompt = {.accept = accept_field};

static void begin_edit(struct ui *ui)
{
    if (form_on_fold(&ui->form)) {
        form_unfold(&ui->form);
        return;
    }
    char *text = form_text(&ui->form, ui->form.field);
    ui_prompt(ui, &field_prompt, 0, text ? text : "");
    free(text);
}

static void scale(struct ui *ui)
{
    struct form_suggestion suggestion;
    struct error err = ERROR_INIT;
    char batch[32], lr[32], text[120];
    if (!form_suggest(&ui->form, &ui->state, &ui->check, &suggestion))
        return;
    const bool grows = suggestion.lr > ui->form.spec.lr;
    snprintf(batch, sizeof batch, "%ld", suggestion.batch);
    snprintf(lr, sizeof lr, isfinite(suggestion.noise) ? "%.3g" : "%.6g", suggestion.lr);
    form_suggestion_text(&suggestion, text, sizeof text);
    if (!form_set(&ui->form, FORM_BATCH, batch, &err) || !form_set(&ui->form, FORM_LR, lr, &err))
        ui_say(ui, true, "%s", err.text);
    else
        ui_say(ui, false, "%s%s", text,
               grows && lr_begins_highest(&ui->form.spec.schedule)
                   ? "; for a larger lr try a warmup of 1 epoch"
                   : "");
}

/* Above the first run lies "none": only the run in front is on the chart then. */
static void move_in_runs(struct ui *ui, enum action action)
{
    int line = ui_line_of_run(ui, ui->selected_run);
    if (line <= 0 && action == ACTION_UP) {
        ui->selected_run = 0;
        return;
    }
    const struct state_run *run =
        ui_run_line(ui, list_move(line, ui->state.run_count, PAGE, action));
    ui->selected_run = run ? run->run : 0;
}

static void move(struct ui *ui, enum action action)
{
    struct form_device devices[FORM_MAX_DEVICES];
    switch (ui->focus) {
    case PANEL_DEVICES:
        ui->device_line =
            list_move(ui->device_line, form_devices(&ui->form, &ui->state, devices), PAGE, action);
        break;
    case PANEL_FORM:
        ui->form.field =
            (enum form_field)list_move((int)ui->form.field, form_lines(&ui->form), PAGE, action);
        break;
    case PANEL_RUNS:
        move_in_runs(ui, action);
        break;
    default:
        break;
    }
}

static void toggle(struct ui *ui)
{
    struct form_device devices[FORM_MAX_DEVICES];
    struct error err = ERROR_INIT;
    if (ui->device_line < form_devices(&ui->form, &ui->state, devices) &&
        !form_toggle(&ui->form, &ui->state, devices[ui->device_line].id, &err))
        ui_say(ui, true, "%s", err.text);
}

/* Add or take away a CPU device, and keep the cursor on the list's last line. */
static void change_cpus(struct ui *ui, bool add)
{
    struct form_device devices[FORM_MAX_DEVICES];
    struct error err = ERROR_INIT;
    if (add ? form_add_cpu(&ui->form, &ui->state, &err)
            : form_remove_cpu(&ui->form, &ui->state, &err)) {
        int count = form_devices(&ui->form, &ui->state, devices);
        if (add || ui->device_line >= count)
            ui->device_line = count - 1;
    } else {
        ui_say(ui, true, "%s", err.text);
    }
}

static void step(struct ui *ui, int direction)
{
    struct error err = ERROR_INIT;
    if (form_on_fold(&ui->form))
        form_unfold(&ui->form);
    else if (!form_step(&ui->form, ui->form.field, direction, &err))
        ui_say(ui, true, "%s", err.text);
}

bool dashboard_can(const struct ui *ui, enum action action)
{
    struct form_device devices[FORM_MAX_DEVICES];
    struct form_suggestion suggestion;
    switch (action) {
    case ACTION_SCALE:
        return form_suggest(&ui->form, &ui->state, &ui->check, &suggestion);
    case ACTION_TOGGLE:
    case ACTION_DEVICE:
        return form_devices(&ui->form, &ui->state, devices) > 0;
    case ACTION_MORE:
    case ACTION_LESS:
        return form_on_fold(&ui->form) || form_steps(ui->form.field);
    default:
        return chart_can(ui, action);
    }
}

bool dashboard_act(struct ui *ui, enum action action)
{
    if (chart_act(ui, action))
        return true;
    if (action_walks(action)) {
        move(ui, action);
        return true;
    }
    switch (action) {
    case ACTION_SCALE:
        scale(ui);
        return true;
    case ACTION_TOGGLE:
        toggle(ui);
        return true;
    case ACTION_DEVICE:
        ui_show_view(ui, VIEW_DEVICE);
        return true;
    case ACTION_ADD:
    case ACTION_REMOVE:
        change_cpus(ui, action == ACTION_ADD);
        return true;
    case ACTION_LOAD_STYLE:
        ui->preferences.load = (enum load_style)((ui->preferences.load + 1) % LOAD_STYLES);
        return true;
    case ACTION_EDIT:
        begin_edit(ui);
        return true;
    case ACTION_MORE:
    case ACTION_LESS:
        step(ui, action == ACTION_MORE ? 1 : -1);
        return true;
    case ACTION_NEXT_PANEL:
        ui->focus = (enum panel)((ui->focus + 1) % PANEL_COUNT);
        return true;
    case ACTION_PREVIOUS_PANEL:
        ui->focus = (enum panel)((ui->focus + PANEL_COUNT - 1) % PANEL_COUNT);
        return true;
    default:
        return false;
    }
}

/* Of the panel in focus. */
void dashboard_pick(struct ui *ui, int line)
{
    const struct state_run *run = ui_run_line(ui, line);
    if (ui->focus == PANEL_DEVICES)
        ui->device_line = line;
    else if (ui->focus == PANEL_FORM && line < form_lines(&ui->form))
        ui->form.field = (enum form_field)line;
    else if (ui->focus == PANEL_RUNS && run)
        ui->selected_run = run->run;
}
