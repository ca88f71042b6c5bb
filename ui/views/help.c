/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

enum { KEY_WIDTH = 14, MOST_WIDTH = 74 };

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    int width = area.w < MOST_WIDTH ? area.w : MOST_WIDTH;
    int height = area.h < (int)count + 2 ? area.h : (int)count + 2;
    int visible = height - 2;
    int first = list_scroll(ui->line, (int)count, visible);
    struct rect box = {area.y + (area.h - height) / 2, area.x + (area.w - width) / 2, height,
                       width};

    (void)err;
    surface_fill(surface, area, STYLE_NORMAL);
    surface_box(surface, box, visible < (int)count ? "Keys - Up and Down for more" : "Keys");
    for (int i = 0; i < visible && first + i < (int)count; i++) {
        const struct action_entry *entry = &table[first + i];
        int y = box.y + 1 + i, x = box.x + 2, end = box.x + box.w - 2;

        surface_text(surface, y, x, KEY_WIDTH < end - x ? KEY_WIDTH : end - x, STYLE_KEY,
                     entry->keys);
        surface_text(surface, y, x + KEY_WIDTH + 1, end - x - KEY_WIDTH - 1, STYLE_NORMAL,
                     entry->description);
        if (first + i == ui->line)
            surface_restyle(surface, y, x, end - x, STYLE_CURSOR);
    }
    return true;
}

static bool act(struct ui *ui, enum action action)
{
    size_t count;

    switch (action) {
    case ACTION_UP:
    case ACTION_DOWN:
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
    case ACTION_FIRST:
    case ACTION_LAST:
        actions_table(&count);
        ui->line = list_move(ui->line, (int)count, 10, action);
        return true;
    default:
        return false;
    }
}

const struct view view_help = {
    .name = "help",
    .title = "Help",
    .contexts = CONTEXT_HELP,
    .draw = draw,
    .act = act,
};
