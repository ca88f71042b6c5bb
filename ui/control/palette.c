/* SPDX-License-Identifier: MIT */
#include "ui/control/palette.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "ui/control/overlay.h"

enum { MOST_LINES = 12, NAME_WIDTH = 17, KEYS_WIDTH = 16 };

/* How well an entry answers to what was typed: 0 not at all, 3 by the beginning of its name. */
static int rating(const struct action_entry *entry, const char *typed)
{
    const char *word = strcasestr(entry->name, typed);
    if (!word)
        return strcasestr(entry->description, typed) || strcasestr(entry->label, typed) ? 1 : 0;
    return word == entry->name ? 3 : 2;
}

/* Only what is worth typing a name for: not the keys that walk through lines or answer. */
static bool is_command(const struct ui *ui, const struct action_entry *entry)
{
    return !action_walks(entry->action) && entry->action != ACTION_PALETTE &&
           (entry->contexts & ui_view_contexts(ui, ui->view)) && ui_can_below(ui, entry->action);
}

/* The places in the table of what was found, the best first. */
static int find(const struct ui *ui, size_t *found)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    int matches = 0;
    for (int wanted = 3; wanted > 0; wanted--)
        for (size_t i = 0; i < count; i++)
            if (rating(&table[i], ui->editor.text) == wanted && is_command(ui, &table[i]))
                found[matches++] = i;
    return matches;
}

static bool accept(struct ui *ui, const char *text)
{
    size_t found[ACTION_ENTRIES], count;
    const struct action_entry *table = actions_table(&count);
    int matches = find(ui, found);
    if (ui->choice >= matches) {
        ui_say(ui, true, "no action is called '%.40s' here", text);
        return false;
    }
    overlay_close(ui);
    ui_act(ui, table[found[ui->choice]].action);
    return true;
}

static void changed(struct ui *ui, const char *text)
{
    (void)text;
    ui->choice = 0;
}

static const struct prompt palette_prompt = {
    .label = "Do: ",
    .accept = accept,
    .changed = changed,
    .palette = true,
};

void palette_open(struct ui *ui)
{
    ui_prompt(ui, &palette_prompt, 0, "");
    ui->choice = 0;
}

void palette_act(struct ui *ui, enum action action)
{
    size_t found[ACTION_ENTRIES];
    int matches = find(ui, found);
    ui->choice += action == ACTION_CHOOSE_UP ? -1 : 1;
    if (ui->choice >= matches)
        ui->choice = matches - 1;
    if (ui->choice < 0)
        ui->choice = 0;
}

void palette_pick(struct ui *ui, int line)
{
    ui->choice = line;
}

static void draw_entry(const struct ui *ui, struct surface *surface, struct rect line, size_t entry)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    char keys[KEYMAP_TEXT_SIZE];
    int x = line.x, end = line.x + line.w;
    surface_text(surface, line.y, x, NAME_WIDTH < end - x ? NAME_WIDTH : end - x, STYLE_STRONG,
                 table[entry].name);
    x += NAME_WIDTH + 1;
    surface_text(surface, line.y, x, KEYS_WIDTH < end - x ? KEYS_WIDTH : end - x, STYLE_KEY,
                 keymap_text(&ui->keymap, entry, keys));
    x += KEYS_WIDTH + 1;
    surface_text(surface, line.y, x, end - x, STYLE_NORMAL, table[entry].description);
}

bool palette_draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    size_t found[ACTION_ENTRIES];
    (void)err;
    if (ui->prompt != &palette_prompt)
        return true;
    int matches = find(ui, found);
    int height = matches + 2 < MOST_LINES + 2 ? matches + 2 : MOST_LINES + 2;
    height = height < area.h ? height : area.h;
    struct rect box = {area.y + area.h - height, area.x, height, area.w};
    int visible = height - 2, first = list_scroll(ui->choice, matches, visible);
    surface_fill(surface, box, STYLE_NORMAL);
    surface_box(surface, box, matches > 0 ? "Actions" : "No such action here");
    for (int i = first; i < matches && i < first + visible; i++) {
        struct rect line = {box.y + 1 + i - first, box.x + 2, 1, box.w - 4};
        draw_entry(ui, surface, line, found[i]);
        surface_mark_line(surface, line.y, line.x, line.w, i);
        if (i == ui->choice)
            surface_restyle(surface, line.y, line.x, line.w, STYLE_CURSOR);
    }
    return true;
}
