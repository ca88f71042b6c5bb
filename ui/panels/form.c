/* SPDX-License-Identifier: MIT */
#include "ui/panels/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/form/devices.h"

enum { LABEL_WIDTH = 10, HIDDEN_TEXT = 512, LONGEST_VALUE = 24 };

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

static void draw_heading(const struct ui *ui, struct surface *surface, struct rect area, int first,
                         int visible)
{
    char problem[160], lines[32];
    int x = area.x +
            surface_text(surface, area.y, area.x, area.w,
                         panel_focused(ui, PANEL_FORM) ? STYLE_FOCUS : STYLE_STRONG, "Next run") +
            2;
    if (form_problem(&ui->form, &ui->state, &ui->check, problem, sizeof problem)) {
        surface_format(surface, area.y, x, area.x + area.w - x, STYLE_WARNING, "! %s", problem);
    } else if (visible < form_lines(&ui->form)) {
        snprintf(lines, sizeof lines, "%d-%d of %d", first + 1, first + visible,
                 form_lines(&ui->form));
        surface_text(surface, area.y, x, area.x + area.w - x, STYLE_LABEL, lines);
    }
}

static void draw_value(const struct ui *ui, struct surface *surface, struct rect line,
                       enum form_field field)
{
    char *text = form_text(&ui->form, field);
    char *devices = NULL;
    const char *stands_for = field == FORM_MODEL  ? ui->check.model
                             : field == FORM_DATA ? ui->check.data
                                                  : "";
    char origin[80];
    bool given = !form_origin(&ui->form, field, &ui->check, origin, sizeof origin) &&
                 form_in_use(&ui->form, field);
    int x = line.x + LABEL_WIDTH, w = line.w - LABEL_WIDTH, y = line.y;
    if (field == FORM_DEVICES && ui->form.spec.devices.choice != DEVICES_LISTED)
        devices = chosen_devices(ui);
    if (devices && ui->form.spec.devices.choice == DEVICES_DEFAULT)
        surface_text(surface, y, x, w, STYLE_LABEL, devices);
    else if (devices)
        surface_format(surface, y, x, w, STYLE_NORMAL, "%s (%s)", devices, text ? text : "");
    else if ((!text || text[0] == '\0') && stands_for[0] != '\0')
        surface_text(surface, y, x, w, STYLE_LABEL, stands_for);
    else if (!text || text[0] == '\0')
        surface_text(surface, y, x, w, STYLE_LABEL, "default");
    else
        surface_text(surface, y, x, w, given ? STYLE_NORMAL : STYLE_LABEL, text);
    free(devices);
    free(text);
}

static void draw_field(const struct ui *ui, struct surface *surface, struct rect line,
                       enum form_field field, bool typed)
{
    surface_text(surface, line.y, line.x, line.w < LABEL_WIDTH ? line.w : LABEL_WIDTH - 1,
                 STYLE_LABEL, form_label(field));
    if (typed)
        editor_draw(&ui->editor, surface, line.y, line.x + LABEL_WIDTH, line.w - LABEL_WIDTH);
    else
        draw_value(ui, surface, line, field);
}

/* The end of a long one says more, as of a path. */
static const char *end_of(const char *value)
{
    size_t length = strlen(value);
    const char *end = length > LONGEST_VALUE + 2 ? value + length - LONGEST_VALUE : value;
    while ((*end & 0xc0) == 0x80)
        end++;
    return end;
}

/* Is the field out of sight, although the start would use what it has been given? */
static bool is_hidden(const struct ui *ui, int field, int first, int visible)
{
    const bool folded = !ui->form.unfolded && field >= FORM_COMMON;
    return (folded || field < first || field >= first + visible) &&
           form_changed(&ui->form, (enum form_field)field);
}

/* "also rows 512, save ..me/weights.safetensors, 2 more": as many as fit into `rows` lines; returns
 * how many do not. */
static int describe_hidden(const struct ui *ui, int first, int visible, int rows, int columns,
                           char *buffer)
{
    char longer[HIDDEN_TEXT], measured[HIDDEN_TEXT + 16];
    int more = 0;
    buffer[0] = '\0';
    for (int i = 0; i < FORM_FIELDS; i++) {
        if (!is_hidden(ui, i, first, visible))
            continue;
        char *value = form_text(&ui->form, (enum form_field)i);
        const char *end = value ? end_of(value) : "";
        snprintf(longer, sizeof longer, "%s%s%s %s%s", buffer, buffer[0] != '\0' ? ", " : "also ",
                 form_label((enum form_field)i), end == value ? "" : "..", end);
        free(value);
        snprintf(measured, sizeof measured, "%s, 9 more", longer);
        if (more > 0 || paragraph_rows(measured, columns) > rows)
            more++;
        else
            memcpy(buffer, longer, sizeof longer);
    }
    if (more > 0)
        snprintf(buffer + strlen(buffer), HIDDEN_TEXT - strlen(buffer), "%s%d more",
                 buffer[0] != '\0' ? ", " : "also ", more);
    return more;
}

/* In the last lines of the panel, as few as they need; returns how many these are. */
static int draw_hidden(const struct ui *ui, struct surface *surface, struct rect area)
{
    char text[HIDDEN_TEXT] = "";
    int rows = 0, visible = area.h - 1, most = visible / 3 < 4 ? visible / 3 : 4;
    for (int more = 1; more > 0 && rows <= most; rows++) {
        /* Its lines hide some more. */
        int first = list_scroll((int)ui->form.field, form_lines(&ui->form), visible - rows);
        more = describe_hidden(ui, first, visible - rows, rows, area.w, text);
    }
    rows--;
    surface_paragraph(surface, (struct rect){area.y + area.h - rows, area.x, rows, area.w},
                      STYLE_STRONG, text);
    return rows;
}

bool panel_form(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    bool focused = panel_focused(ui, PANEL_FORM);
    int visible = area.h - 1 - draw_hidden(ui, surface, area);
    int lines = form_lines(&ui->form);
    int first = list_scroll((int)ui->form.field, lines, visible);
    (void)err;
    draw_heading(ui, surface, area, first, visible);
    for (int i = first; i < lines && i < first + visible; i++) {
        struct rect line = {area.y + 1 + i - first, area.x, 1, area.w};
        bool here = focused && i == (int)ui->form.field;
        surface_mark_line(surface, line.y, line.x, line.w, i);
        if (!ui->form.unfolded && i == FORM_COMMON)
            surface_format(surface, line.y, line.x, line.w, STYLE_LABEL, "more...   %d settings",
                           FORM_FIELDS - FORM_COMMON);
        else
            draw_field(ui, surface, line, (enum form_field)i, here && prompt_in_view(ui));
        if (here && !prompt_in_view(ui))
            surface_restyle(surface, line.y, line.x, line.w, STYLE_CURSOR);
    }
    return true;
}
