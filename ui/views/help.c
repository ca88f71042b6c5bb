/* SPDX-License-Identifier: MIT */
#include "ui/views/help.h"

#include <stdio.h>
#include <string.h>

/*
 * What one needs to begin with, what the marks mean, and what the keys do: first where the help was
 * opened, then everywhere else. Two columns on wide screens.
 */

enum { KEY_WIDTH = 16, COLUMN_WIDTH = 76 };

static const struct {
    enum action action;
    const char *text;
} firsts[] = {
    {ACTION_TOGGLE, "choose devices, and in the next panel the settings of a run"},
    {ACTION_START, "start the next run, or queue it"},
    {ACTION_RETUNE, "change the learning rate while it trains"},
    {ACTION_VIEW_COMPARE, "compare runs on other numbers of devices"},
    {ACTION_QUIT, "leave; a run continues without the screen"},
};

static const struct {
    const char *mark; /* NULL: the glyph */
    enum glyph glyph;
    const char *text;
} marks[] = {
    {"[x]", GLYPH_COUNT, "device: the next run uses it"},
    {">", GLYPH_COUNT, "device: it trains now"},
    {NULL, GLYPH_COMPUTE, "device: part of its time spent computing,"},
    {NULL, GLYPH_ALL_REDUCE, "in all-reduce,"},
    {NULL, GLYPH_WAIT, "waiting"},
    {"*12", GLYPH_COUNT, "run: marked, its curve is on the chart; epoch: the best"},
    {"!12", GLYPH_COUNT, "run: it has warnings"},
    {"v0.9", GLYPH_COUNT, "run: accuracy on validation rows, not on test rows"},
    {"1.8x #12", GLYPH_COUNT, "run: speed-up against run 12; a # before a word: a tag"},
    {"lr v", GLYPH_COUNT, "list: sorted by this, the highest first; ^ the lowest"},
    {NULL, GLYPH_ABOVE, "chart, at an edge: the curve continues beyond it"},
    {NULL, GLYPH_AXIS_MARK, "chart, on the x axis: the run in front was changed"},
    {"-", GLYPH_COUNT, "not known"},
};

enum {
    FIRSTS = sizeof firsts / sizeof firsts[0],
    MARKS = sizeof marks / sizeof marks[0],
    LINES_MOST = ACTION_ENTRIES + FIRSTS + MARKS + 10,
};

/* A heading, or what the number is of. */
struct help_line {
    const char *heading;
    enum { LINE_ENTRY, LINE_FIRST, LINE_MARK } kind;
    size_t at; /* in the table of actions, of firsts or of marks */
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
    lines[count++] = (struct help_line){.heading = "To start with"};
    for (size_t i = 0; i < FIRSTS; i++)
        lines[count++] = (struct help_line){NULL, LINE_FIRST, i};
    lines[count++] = (struct help_line){.heading = "Marks"};
    for (size_t i = 0; i < MARKS; i++)
        lines[count++] = (struct help_line){NULL, LINE_MARK, i};
    lines[count++] = (struct help_line){.heading = "Here"};
    for (size_t i = 0; i < entries; i++)
        if ((table[i].contexts & here) && ui->keymap.key[i][0] != 0) {
            lines[count++] = (struct help_line){NULL, LINE_ENTRY, i};
            listed[i] = true;
        }
    for (size_t s = 0; s < sizeof sections / sizeof sections[0]; s++) {
        int heading = count;
        for (size_t i = 0; i < entries; i++) {
            if (listed[i] || !(table[i].contexts & sections[s].contexts))
                continue;
            if (count == heading)
                lines[count++] = (struct help_line){.heading = sections[s].heading};
            lines[count++] = (struct help_line){NULL, LINE_ENTRY, i};
            listed[i] = true;
        }
    }
    return count;
}

/* The action's name stands behind what it does: in the configuration it gives keys to it. */
static void draw_entry(const struct ui *ui, struct surface *surface, struct rect key,
                       struct rect text, size_t entry)
{
    size_t entries;
    const struct action_entry *action = &actions_table(&entries)[entry];
    char keys[KEYMAP_TEXT_SIZE];
    surface_text(surface, key.y, key.x, key.w, STYLE_KEY,
                 ui->keymap.key[entry][0] != 0 ? keymap_text(&ui->keymap, entry, keys) : "-");
    int used = surface_text(surface, text.y, text.x, text.w, STYLE_NORMAL, action->description) + 1;
    if (used + (int)strlen(action->name) + 2 <= text.w)
        surface_format(surface, text.y, text.x + used, text.w - used, STYLE_LABEL, "(%s)",
                       action->name);
}

static void draw_line(const struct ui *ui, struct surface *surface, struct rect area,
                      const struct help_line *line)
{
    struct rect key = {area.y, area.x, 1, KEY_WIDTH < area.w ? KEY_WIDTH : area.w};
    struct rect text = {area.y, area.x + KEY_WIDTH + 1, 1, area.w - KEY_WIDTH - 1};
    char name[KEY_NAME_SIZE];
    if (text.w < 0)
        text.w = 0;
    if (line->heading) {
        surface_text(surface, area.y, area.x, area.w, STYLE_STRONG, line->heading);
    } else if (line->kind == LINE_ENTRY) {
        draw_entry(ui, surface, key, text, line->at);
    } else if (line->kind == LINE_FIRST) {
        surface_text(surface, key.y, key.x, key.w, STYLE_KEY,
                     keymap_first(&ui->keymap, firsts[line->at].action, name));
        surface_text(surface, text.y, text.x, text.w, STYLE_NORMAL, firsts[line->at].text);
    } else {
        if (marks[line->at].mark)
            surface_text(surface, key.y, key.x, key.w, STYLE_NORMAL, marks[line->at].mark);
        else
            surface_glyph(surface, key.y, key.x, marks[line->at].glyph, STYLE_NORMAL);
        surface_text(surface, text.y, text.x, text.w, STYLE_NORMAL, marks[line->at].text);
    }
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
