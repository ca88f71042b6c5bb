/* SPDX-License-Identifier: MIT */
#include "ui/panels/panels.h"

/* The key bar: what the keys do now, as far as there is room; how to leave and help always. */

static int entry_width(const struct action_entry *entry)
{
    return text_columns(entry->bar) + 1 + text_columns(entry->label) + 2;
}

static bool shown(const struct ui *ui, const struct action_entry *entry)
{
    return entry->bar != NULL && (entry->contexts & ui_contexts(ui)) && ui_can(ui, entry->action);
}

static bool always(const struct action_entry *entry)
{
    return entry->action == ACTION_QUIT || entry->action == ACTION_BACK ||
           entry->action == ACTION_HELP || entry->action == ACTION_NO;
}

bool panel_keys(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    int room = area.w, x = area.x;

    (void)err;
    for (size_t i = 0; i < count; i++)
        if (shown(ui, &table[i]) && always(&table[i]))
            room -= entry_width(&table[i]);
    for (size_t i = 0; i < count; i++) {
        const struct action_entry *entry = &table[i];

        if (!shown(ui, entry))
            continue;
        if (!always(entry)) {
            if (entry_width(entry) > room)
                continue;
            room -= entry_width(entry);
        }
        x += surface_text(surface, area.y, x, area.x + area.w - x, STYLE_KEY, entry->bar) + 1;
        x += surface_text(surface, area.y, x, area.x + area.w - x, STYLE_LABEL, entry->label) + 2;
    }
    return true;
}
