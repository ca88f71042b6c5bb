/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

#include <stdio.h>

#include "ui/format.h"

/* The line for a question, an answer, or a word about what is in focus; most pressing first. */

static void draw_retune(const struct ui *ui, struct surface *surface, struct rect area)
{
    int x = area.x, end = area.x + area.w;
    int width = ui->editor.length < 12 ? 13 : ui->editor.length + 1;

    x += surface_format(surface, area.y, x, end - x, STYLE_STRONG,
                        "Learning rate of run %ld: ", ui->asked_run);
    width = width > end - x ? end - x : width;
    surface_fill(surface, (struct rect){area.y, x, 1, width}, STYLE_EDIT);
    surface_text(surface, area.y, x, width, STYLE_EDIT, ui->editor.text);
    surface->cursor_y = area.y;
    surface->cursor_x = x + (ui->editor.cursor < width ? ui->editor.cursor : width - 1);
    x += width + 2;
    surface_text(surface, area.y, x, end - x, ui->message.bad ? STYLE_BAD : STYLE_LABEL,
                 ui->message.text[0] != '\0' ? ui->message.text : "from the next step on");
}

static void run_hint(const struct ui *ui, char *buffer, size_t size)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);

    if (run == NULL)
        snprintf(buffer, size, "Up and Down mark a run in the chart");
    else if (run->error[0] != '\0')
        snprintf(buffer, size, "run %ld %s: %s", run->run, run_status_name(run->status),
                 run->error);
    else
        snprintf(buffer, size, "run %ld: %s on %s, %s, %s", run->run, run->model, run->data,
                 run->split[0] != '\0' ? run->split : "-", run->sync[0] != '\0' ? run->sync : "-");
}

static void device_hint(const struct ui *ui, char *buffer, size_t size)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int count = form_devices(&ui->form, &ui->state, devices);
    char name[16];

    buffer[0] = '\0';
    if (ui->device_line >= count)
        return;
    const struct form_device *device = &devices[ui->device_line];
    device_id_text(device->id, name);
    if (device->known != NULL && device->known->reason[0] != '\0')
        snprintf(buffer, size, "%s: %s", name, device->known->reason);
    else if (device->known != NULL)
        snprintf(buffer, size, "%s: %s", name, device->known->name);
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    struct form_suggestion suggestion;
    struct figure lr;

    if (ui->link == LINK_LOST || ui->link == LINK_NO_ENGINE)
        snprintf(buffer, size, "%s", ui->link_advice);
    else if (form_suggest(&ui->form, &ui->state, &suggestion))
        snprintf(buffer, size, "%d device%s: batch %ld, lr %s? press g", suggestion.devices,
                 suggestion.devices == 1 ? "" : "s", suggestion.batch,
                 figure_short(&lr, suggestion.lr));
    else if (ui->focus == PANEL_FORM)
        snprintf(buffer, size, "%s: %s", form_label(ui->form.field), form_hint(ui->form.field));
    else if (ui->focus == PANEL_RUNS)
        run_hint(ui, buffer, size);
    else
        device_hint(ui, buffer, size);
}

bool view_status(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    char buffer[640];

    (void)err;
    if (ui->mode == MODE_RETUNE) {
        draw_retune(ui, surface, area);
    } else if (ui->mode == MODE_CONFIRM_STOP) {
        surface_format(surface, area.y, area.x, area.w, STYLE_WARNING,
                       ui->asked_run == ui->state.live.run ? "Stop run %ld after this step?"
                                                           : "Take run %ld out of the queue?",
                       ui->asked_run);
    } else if (ui->message.text[0] != '\0') {
        surface_text(surface, area.y, area.x, area.w, ui->message.bad ? STYLE_BAD : STYLE_NORMAL,
                     ui->message.text);
    } else {
        bool lost = ui->link == LINK_LOST || ui->link == LINK_NO_ENGINE;

        hint(ui, buffer, sizeof buffer);
        surface_text(surface, area.y, area.x, area.w, lost ? STYLE_WARNING : STYLE_LABEL, buffer);
    }
    return true;
}
