/* SPDX-License-Identifier: MIT */
#include "ui/frame/palette.h"

#include "ui/control/palette.h"

enum { MOST_LINES = 12, NAME_WIDTH = 17, KEYS_WIDTH = 16 };

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
    if (!ui->prompt || !ui->prompt->palette)
        return true;
    int matches = palette_find(ui, found);
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
