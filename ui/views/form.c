/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 10 };

/* What "default", "all" and the like come to on this machine; NULL: nothing, or out of memory. */
static char *chosen_devices(const struct ui *ui)
{
    struct form_device devices[FORM_MAX_DEVICES];
    struct device_list list = {.choice = DEVICES_LISTED};
    int count = form_devices(&ui->form, &ui->state, devices);

    for (int i = 0; i < count && list.count < SPEC_MAX_DEVICES; i++)
        if (devices[i].chosen)
            list.id[list.count++] = devices[i].id;
    return list.count > 0 ? device_list_text(&list) : NULL;
}

static void draw_value(const struct ui *ui, struct surface *surface, struct rect area, int y,
                       enum form_field field)
{
    char *text = form_text(&ui->form, field);
    char *devices = NULL;
    int x = area.x + LABEL_WIDTH, w = area.w - LABEL_WIDTH;

    if (field == FORM_DEVICES && ui->form.spec.devices.choice != DEVICES_LISTED)
        devices = chosen_devices(ui);
    if (devices != NULL)
        surface_format(surface, y, x, w, STYLE_NORMAL, "%s (%s)", devices,
                       text != NULL ? text : "");
    else if (text == NULL || text[0] == '\0')
        surface_text(surface, y, x, w, STYLE_LABEL, "default");
    else
        surface_text(surface, y, x, w, STYLE_NORMAL, text);
    free(devices);
    free(text);
}

/* The text being typed, with its cursor always in sight. */
static void draw_editor(const struct editor *editor, struct surface *surface, int y, int x, int w)
{
    const char *text = editor->text;
    char before[sizeof editor->text];

    memcpy(before, editor->text, (size_t)editor->cursor);
    before[editor->cursor] = '\0';
    int cursor = text_columns(before);
    for (; cursor >= w && *text != '\0'; cursor--)
        text_next(&text);
    surface_fill(surface, (struct rect){y, x, 1, w}, STYLE_EDIT);
    surface_text(surface, y, x, w, STYLE_EDIT, text);
    surface->cursor_y = y;
    surface->cursor_x = x + cursor;
}

bool view_form(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    bool focused = view_focused(ui, PANEL_FORM);
    int visible = area.h - 1;
    int first = view_scroll((int)ui->form.field, FORM_FIELDS, visible);

    (void)err;
    surface_text(surface, area.y, area.x, area.w, focused ? STYLE_FOCUS : STYLE_STRONG, "Next run");
    for (int i = first; i < FORM_FIELDS && i < first + visible; i++) {
        enum form_field field = (enum form_field)i;
        int y = area.y + 1 + i - first;
        bool here = focused && field == ui->form.field;

        surface_text(surface, y, area.x, LABEL_WIDTH - 1, STYLE_LABEL, form_label(field));
        if (here && ui->mode == MODE_EDIT) {
            draw_editor(&ui->editor, surface, y, area.x + LABEL_WIDTH, area.w - LABEL_WIDTH);
            continue;
        }
        draw_value(ui, surface, area, y, field);
        if (here)
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
    return true;
}
