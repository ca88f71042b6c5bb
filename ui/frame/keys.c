/* SPDX-License-Identifier: MIT */
#include "ui/frame/keys.h"

#include "ui/control/control.h"

/*
 * The key bar: what the keys do now, as far as there is room. It stays in the order of the table of
 * actions; when room is short the entries of the highest rank give way first, so that how to leave
 * and where to find help never do.
 */

enum { GAP = 2 };

/* What the key does now: where the line to a host is down, an engine may well run there. */
static const char *label_of(const struct ui *ui, const struct action_entry *entry)
{
    return entry->action == ACTION_ENGINE && ui->down_since[0] != '\0' ? "try now"
           : entry->action == ACTION_BEST && ui->evaluation.best       ? "newest"
                                                                       : entry->label;
}

static int entry_width(const struct ui *ui, const struct action_entry *table, size_t i)
{
    char name[KEY_NAME_SIZE];
    return text_columns(key_text(ui->keymap.key[i][0], name)) + 1 +
           text_columns(label_of(ui, &table[i])) + GAP;
}

static bool makes_sense(const struct ui *ui, const struct action_entry *table, size_t i)
{
    return table[i].bar > 0 && ui->keymap.key[i][0] != 0 && (table[i].contexts & ui_contexts(ui)) &&
           ui_can(ui, table[i].action);
}

int key_bar_fill(const struct ui *ui, int columns, struct key_bar_item *items)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    bool shown[ACTION_ENTRIES] = {false};
    int room = columns + GAP, x = 0, filled = 0;
    for (int rank = 1; rank <= KEY_BAR_RANKS; rank++)
        for (size_t i = 0; i < count; i++)
            if (table[i].bar == rank && makes_sense(ui, table, i) &&
                (rank == 1 || entry_width(ui, table, i) <= room)) {
                shown[i] = true;
                room -= entry_width(ui, table, i);
            }
    for (size_t i = 0; i < count; i++)
        if (shown[i]) {
            int width = entry_width(ui, table, i);
            items[filled++] = (struct key_bar_item){i, x, width - GAP};
            x += width;
        }
    return filled;
}

bool keys_draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct key_bar_item items[ACTION_ENTRIES];
    size_t all;
    const struct action_entry *table = actions_table(&all);
    int count = key_bar_fill(ui, area.w, items);
    (void)err;
    for (int i = 0; i < count; i++) {
        char name[KEY_NAME_SIZE];
        int x = area.x + items[i].x, end = area.x + area.w;
        x += surface_text(surface, area.y, x, end - x, STYLE_KEY,
                          key_text(ui->keymap.key[items[i].entry][0], name)) +
             1;
        surface_text(surface, area.y, x, end - x, STYLE_LABEL,
                     label_of(ui, &table[items[i].entry]));
    }
    return true;
}
