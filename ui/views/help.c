/* SPDX-License-Identifier: MIT */
#include "ui/views/help.h"

#include <stdio.h>

/*
 * What the keys do: first where the help was opened, then everywhere else. The name is the one in
 * the configuration and the command palette. Two columns on wide screens.
 */

enum { KEY_WIDTH = 11, NAME_WIDTH = 15, COLUMN_WIDTH = 80, LINES_MOST = ACTION_ENTRIES + 8 };

/* A line is a heading or an entry of the table of actions. */
struct help_line {
    const char *heading;
    size_t entry;
};

static const struct {
    const char *heading;
    unsigned contexts;
} sections[] = {
    {"Devices", CONTEXT_DEVICES},
    {"Next run, settings", CONTEXT_FORM | CONTEXT_SETTINGS},
    {"Runs", CONTEXT_RUNS | CONTEXT_RUN_LIST | CONTEXT_RUN | CONTEXT_COMPARE | CONTEXT_LOG},
    {"Chart", CONTEXT_DASHBOARD},
    {"Everywhere", CONTEXT_VIEWS},
    {"Questions and typed values", CONTEXT_QUESTION | CONTEXT_PROMPT | CONTEXT_PALETTE},
};

static int list_lines(const struct ui *ui, struct help_line *lines)
{
    unsigned here = ui_view_contexts(ui, ui->back[VIEW_HELP]);
    size_t entries;
    const struct action_entry *table = actions_table(&entries);
    bool listed[ACTION_ENTRIES] = {false};
    int count = 0;
    lines[count++] = (struct help_line){"Here", 0};
    for (size_t i = 0; i < entries; i++)
        if ((table[i].contexts & here) && ui->keymap.key[i][0] != 0) {
            lines[count++] = (struct help_line){NULL, i};
            listed[i] = true;
        }
    for (size_t s = 0; s < sizeof sections / sizeof sections[0]; s++) {
        int heading = count;
        for (size_t i = 0; i < entries; i++) {
            if (listed[i] || !(table[i].contexts & sections[s].contexts))
                continue;
            if (count == heading)
                lines[count++] = (struct help_line){sections[s].heading, 0};
            lines[count++] = (struct help_line){NULL, i};
            listed[i] = true;
        }
    }
    return count;
}

/* The text in at most `width` columns from *x on, which moves behind them. */
static void draw_text(struct surface *surface, struct rect area, int *x, int width,
                      enum style style, const char *text)
{
    int room = area.x + area.w - *x;
    if (room > 0)
        surface_text(surface, area.y, *x, width < room ? width : room, style, text);
    *x += width + 1;
}

static void draw_line(const struct ui *ui, struct surface *surface, struct rect area,
                      const struct help_line *line)
{
    size_t entries;
    const struct action_entry *entry = &actions_table(&entries)[line->entry];
    const bool has_key = ui->keymap.key[line->entry][0] != 0;
    char keys[KEYMAP_TEXT_SIZE];
    int x = area.x;
    if (line->heading) {
        draw_text(surface, area, &x, area.w, STYLE_STRONG, line->heading);
        return;
    }
    draw_text(surface, area, &x, KEY_WIDTH, STYLE_KEY,
              has_key ? keymap_text(&ui->keymap, line->entry, keys) : "-");
    draw_text(surface, area, &x, NAME_WIDTH, STYLE_LABEL, entry->name);
    draw_text(surface, area, &x, area.w, STYLE_NORMAL, entry->description);
}

static int columns_across(int width)
{
    return width >= 2 * COLUMN_WIDTH + 2 ? 2 : 1;
}

static int lines_down(int count, int width)
{
    return (count + columns_across(width) - 1) / columns_across(width);
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct help_line lines[LINES_MOST];
    int count = list_lines(ui, lines);
    int across = columns_across(area.w);
    int down = lines_down(count, area.w);
    int first = ui->line < down - area.h ? ui->line : down - area.h;
    int width = area.w / across;
    (void)err;
    first = first < 0 ? 0 : first;
    for (int c = 0; c < across; c++)
        for (int i = 0; i < area.h && first + i < down; i++) {
            int at = c * down + first + i;
            struct rect line = {area.y + i, area.x + c * width, 1, width - (c + 1 < across)};
            if (at < count)
                draw_line(ui, surface, line, &lines[at]);
        }
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    char keys[KEYMAP_TEXT_SIZE] = "";
    size_t count;
    const struct action_entry *table = actions_table(&count);
    for (size_t i = 0; i < count; i++)
        if (table[i].action == ACTION_PALETTE)
            keymap_text(&ui->keymap, i, keys);
    snprintf(buffer, size, "Up and Down for more; %s finds an action by its name; `man dpartui`",
             keys);
}

int help_view_lines(const struct ui *ui, int columns)
{
    struct help_line lines[LINES_MOST];
    return lines_down(list_lines(ui, lines), columns);
}

const struct view view_help = {draw, hint};
