/* SPDX-License-Identifier: MIT */
#include "ui/views/help.h"

#include <stdio.h>
#include <string.h>

/*
 * What one needs to begin with, what the marks mean, and what the keys do: first where the help was
 * opened, then everywhere else. The name of an action is the one in the configuration and the
 * command palette. Two columns on wide screens.
 */

enum { KEY_WIDTH = 11, NAME_WIDTH = 15, COLUMN_WIDTH = 80 };

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
    {"> !", GLYPH_COUNT, "device: it trains now; others use it"},
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
    LINES_MOST = ACTION_ENTRIES + FIRSTS + MARKS + 12,
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
    {"Runs", CONTEXT_RUNS | CONTEXT_RUN_LIST | CONTEXT_RUN | CONTEXT_COMPARE | CONTEXT_LOG |
                 CONTEXT_COLUMNS},
    {"Chart", CONTEXT_DASHBOARD},
    {"Confusion", CONTEXT_CONFUSION},
    {"Hosts", CONTEXT_HOSTS},
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

/* The text in at most `width` columns from *x on, which moves behind them. */
static void draw_text(struct surface *surface, struct rect area, int *x, int width,
                      enum style style, const char *text)
{
    int room = area.x + area.w - *x;
    if (room > 0)
        surface_text(surface, area.y, *x, width < room ? width : room, style, text);
    *x += width + 1;
}

static void draw_entry(const struct ui *ui, struct surface *surface, struct rect area, size_t entry)
{
    size_t entries;
    const struct action_entry *action = &actions_table(&entries)[entry];
    char keys[KEYMAP_TEXT_SIZE];
    int x = area.x;
    draw_text(surface, area, &x, KEY_WIDTH, STYLE_KEY,
              ui->keymap.key[entry][0] != 0 ? keymap_text(&ui->keymap, entry, keys) : "-");
    draw_text(surface, area, &x, NAME_WIDTH, STYLE_LABEL, action->name);
    draw_text(surface, area, &x, area.w, STYLE_NORMAL, action->description);
}

static void draw_first(const struct ui *ui, struct surface *surface, struct rect area, size_t at)
{
    char name[KEY_NAME_SIZE];
    int x = area.x;
    draw_text(surface, area, &x, KEY_WIDTH, STYLE_KEY,
              keymap_first(&ui->keymap, firsts[at].action, name));
    draw_text(surface, area, &x, area.w, STYLE_NORMAL, firsts[at].text);
}

static void draw_mark(struct surface *surface, struct rect area, size_t at)
{
    int x = area.x;
    if (!marks[at].mark && area.w > 0)
        surface_glyph(surface, area.y, area.x, marks[at].glyph, STYLE_NORMAL);
    draw_text(surface, area, &x, marks[at].mark ? KEY_WIDTH : 0, STYLE_NORMAL,
              marks[at].mark ? marks[at].mark : "");
    x = area.x + KEY_WIDTH + 1;
    draw_text(surface, area, &x, area.w, STYLE_NORMAL, marks[at].text);
}

static void draw_line(const struct ui *ui, struct surface *surface, struct rect area,
                      const struct help_line *line)
{
    int x = area.x;
    if (line->heading)
        draw_text(surface, area, &x, area.w, STYLE_STRONG, line->heading);
    else if (line->kind == LINE_ENTRY)
        draw_entry(ui, surface, area, line->at);
    else if (line->kind == LINE_FIRST)
        draw_first(ui, surface, area, line->at);
    else
        draw_mark(surface, area, line->at);
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
