/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "ui/control.h"

/* What keys do in the lists and the form (part of ui/ui.h). */

static void begin_edit(struct ui *ui)
{
    char *text = form_text(&ui->form, ui->form.field);

    ui->mode = MODE_EDIT;
    editor_begin(&ui->editor, text != NULL ? text : "");
    free(text);
}

void control_accept_edit(struct ui *ui)
{
    struct error err = ERROR_INIT;

    /* A refused value stays in the line to be mended. */
    if (!form_set(&ui->form, ui->form.field, ui->editor.text, &err))
        ui_say(ui, true, "%s", err.text);
    else
        ui->mode = MODE_PANELS;
}

static void scale(struct ui *ui)
{
    struct form_suggestion suggestion;
    struct error err = ERROR_INIT;
    char batch[32], lr[32];

    if (!form_suggest(&ui->form, &ui->state, &suggestion))
        return;
    snprintf(batch, sizeof batch, "%ld", suggestion.batch);
    snprintf(lr, sizeof lr, "%.6g", suggestion.lr);
    if (!form_set(&ui->form, FORM_BATCH, batch, &err) || !form_set(&ui->form, FORM_LR, lr, &err))
        ui_say(ui, true, "%s", err.text);
    else
        ui_say(ui, false, "batch %s and lr %s for %d devices", batch, lr, suggestion.devices);
}

/* Keep a line number inside a list. */
static int moved(int line, int count, enum action action)
{
    switch (action) {
    case ACTION_UP:
        line--;
        break;
    case ACTION_DOWN:
        line++;
        break;
    case ACTION_FIRST:
        line = 0;
        break;
    default:
        line = count - 1;
        break;
    }
    line = line >= count ? count - 1 : line;
    return line < 0 ? 0 : line;
}

/* Above the first run lies "none": only the run in front is on the chart then. */
static void move_in_runs(struct ui *ui, enum action action)
{
    int line = -1;

    for (int i = 0; ui->selected_run != 0 && i < ui->state.run_count; i++)
        if (ui_run_line(ui, i)->run == ui->selected_run)
            line = i;
    if (line <= 0 && action == ACTION_UP) {
        ui->selected_run = 0;
        return;
    }
    const struct state_run *run = ui_run_line(ui, moved(line, ui->state.run_count, action));
    ui->selected_run = run != NULL ? run->run : 0;
}

void control_move(struct ui *ui, enum action action)
{
    struct form_device devices[FORM_MAX_DEVICES];
    size_t actions;

    if (ui->mode == MODE_HELP) {
        actions_table(&actions);
        ui->help_line = moved(ui->help_line, (int)actions, action);
        return;
    }
    switch (ui->focus) {
    case PANEL_DEVICES:
        ui->device_line =
            moved(ui->device_line, form_devices(&ui->form, &ui->state, devices), action);
        break;
    case PANEL_FORM:
        ui->form.field = (enum form_field)moved((int)ui->form.field, FORM_FIELDS, action);
        break;
    default:
        move_in_runs(ui, action);
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

    if (!form_step(&ui->form, ui->form.field, direction, &err))
        ui_say(ui, true, "%s", err.text);
}

bool control_form(struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_SCALE:
        scale(ui);
        return true;
    case ACTION_TOGGLE:
        toggle(ui);
        return true;
    case ACTION_ADD:
    case ACTION_REMOVE:
        change_cpus(ui, action == ACTION_ADD);
        return true;
    case ACTION_EDIT:
        begin_edit(ui);
        return true;
    case ACTION_MORE:
    case ACTION_LESS:
        step(ui, action == ACTION_MORE ? 1 : -1);
        return true;
    default:
        return false;
    }
}
