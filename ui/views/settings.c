/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

#include <stdio.h>
#include <string.h>

#include "ui/form/field.h"
#include "ui/session/settings.h"

/* All settings in their groups: value, where it comes from, what it means. */

enum { NAME, VALUE, SOURCE, HELP, COLUMNS };
enum { SIGN = 2 }; /* columns for the sign of what is not saved */

static const struct list_column columns[COLUMNS] = {
    [NAME] = {"", 13, 13, false, 0},
    [VALUE] = {"value", 16, 28, false, 0},
    [SOURCE] = {"from", 12, 12, false, 1},
    [HELP] = {"what it means", 30, 76, false, 2},
};

static const char *source_name(enum setting_origin source)
{
    static const char *const names[] = {
        [SOURCE_BUILT_IN] = "built in",       [SOURCE_SYSTEM] = "the system's",
        [SOURCE_USER] = "dpartui.conf",       [SOURCE_SAVED] = "saved",
        [SOURCE_ENVIRONMENT] = "environment", [SOURCE_COMMAND_LINE] = "command line",
    };
    return names[source];
}

/* Group headings take a row each, so that a setting's row lies below its place. */
static int headings_down_to(const struct ui *ui, int line)
{
    struct setting setting;
    const char *group = "";
    int headings = 0;
    for (int i = 0; i <= line && settings_look(ui, i, &setting); i++)
        if (strncmp(group, setting.name, (size_t)(setting.member - setting.name)) != 0) {
            group = setting.name;
            headings++;
        }
    return headings;
}

static void draw_heading(struct surface *surface, struct rect row, const struct setting *setting,
                         const struct column_place *places)
{
    surface_text(surface, row.y, row.x - SIGN, row.w, STYLE_STRONG,
                 settings_of_screen(setting) ? "Screen" : "What a run starts from");
    for (int i = settings_of_screen(setting) ? VALUE : COLUMNS; i < COLUMNS; i++)
        list_cell(surface, row, row.y, &columns[i], &places[i], STYLE_LABEL, columns[i].title);
}

static void draw_setting(const struct ui *ui, struct surface *surface, struct rect row, int line,
                         const struct column_place *places)
{
    struct setting setting;
    if (!settings_look(ui, line, &setting))
        return;
    bool here = line == ui->line;
    const struct field *field = field_find(setting.member);
    enum style style = setting.unsaved ? STYLE_WARNING : STYLE_NORMAL;
    surface_mark_line(surface, row.y, row.x, row.w, line);
    if (setting.unsaved)
        surface_put(surface, row.y, row.x - SIGN, '*', STYLE_WARNING);
    list_cell(surface, row, row.y, &columns[NAME], &places[NAME], STYLE_NORMAL, setting.member);
    list_cell(surface, row, row.y, &columns[SOURCE], &places[SOURCE], STYLE_LABEL,
              setting.unsaved ? "not saved" : source_name(setting.source));
    list_cell(surface, row, row.y, &columns[HELP], &places[HELP], STYLE_LABEL, field->hint);
    if (here && prompt_in_view(ui)) {
        editor_draw(&ui->editor, surface, row.y, row.x + places[VALUE].x, places[VALUE].w);
        return;
    }
    list_cell(surface, row, row.y, &columns[VALUE], &places[VALUE],
              setting.value[0] != '\0' ? style : STYLE_LABEL,
              setting.value[0] != '\0' ? setting.value : "default");
    if (here)
        surface_restyle(surface, row.y, row.x, row.w, STYLE_CURSOR);
}

/* The first row in sight. */
static int scroll(const struct ui *ui, int visible)
{
    int count = settings_count(ui);
    int row = ui->line + headings_down_to(ui, ui->line);
    return list_scroll(row, count + headings_down_to(ui, count), visible);
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct column_place places[COLUMNS];
    struct rect rows = {area.y, area.x + SIGN, area.h, area.w - SIGN}; /* after the signs */
    int first = scroll(ui, area.h), headings = 0, before;
    struct setting setting;
    (void)err;
    if (!ui->settings_source) {
        surface_text(surface, area.y, area.x, area.w, STYLE_NORMAL, "No settings are kept here.");
        return true;
    }
    if (rows.w <= 0)
        return true;
    columns_place(columns, COLUMNS, rows.w, places);
    for (int i = 0; settings_look(ui, i, &setting); i++) {
        before = headings;
        headings = headings_down_to(ui, i);
        int row = i + headings - first;
        if (headings > before && row - 1 >= 0 && row - 1 < area.h)
            draw_heading(surface, (struct rect){area.y + row - 1, rows.x, 1, rows.w}, &setting,
                         places);
        if (row >= 0 && row < area.h)
            draw_setting(ui, surface, (struct rect){area.y + row, rows.x, 1, rows.w}, i, places);
    }
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    struct setting setting;
    buffer[0] = '\0';
    if (!settings_look(ui, ui->line, &setting))
        return;
    if (setting.overridden)
        snprintf(buffer, size, "%s: %s wins over what is saved, at the next start", setting.member,
                 setting.overridden);
    else
        snprintf(buffer, size, "%s: %s", setting.member, field_find(setting.member)->hint);
}

const struct view view_settings = {draw, hint};
