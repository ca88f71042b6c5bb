/* SPDX-License-Identifier: MIT */
#include "ui/frame/mouse.h"

#include "ui/actions/run_list.h"
#include "ui/actions/views.h"
#include "ui/control/control.h"
#include "ui/control/palette.h"
#include "ui/draw/key.h"
#include "ui/frame/keys.h"
#include "ui/frame/screen.h"
#include "ui/views/dashboard.h"
#include "ui/views/runs.h"

static bool inside(const struct rect *rect, int y, int x)
{
    return y >= rect->y && y < rect->y + rect->h && x >= rect->x && x < rect->x + rect->w;
}

/* The panel of the dashboard at a place, PANEL_COUNT: none. */
static enum panel panel_at(const struct layout *layout, int y, int x)
{
    const struct rect *rects[PANEL_COUNT] = {
        [PANEL_DEVICES] = &layout->devices,
        [PANEL_FORM] = &layout->form,
        [PANEL_RUNS] = &layout->runs,
        [PANEL_CHART] = &layout->chart,
    };
    for (int i = 0; i < PANEL_COUNT; i++)
        if (inside(rects[i], y, x))
            return (enum panel)i;
    return PANEL_COUNT;
}

/* The line that the cell belongs to, as the screen is drawn now; -1: to none. */
static int line_at(const struct ui *ui, int rows, int columns, int y, int x)
{
    struct surface surface = {.utf8 = false};
    struct error ignored = ERROR_INIT;
    int line = -1;
    if (surface_resize(&surface, rows, columns, &ignored) && screen_draw(ui, &surface, &ignored))
        line = surface_line_at(&surface, y, x);
    surface_free(&surface);
    return line;
}

/* Do what the key bar says at this column, if anything. */
static void press_key_bar(struct ui *ui, const struct rect *bar, int x)
{
    struct key_bar_item items[ACTION_ENTRIES];
    size_t all;
    const struct action_entry *table = actions_table(&all);
    int count = key_bar_fill(ui, bar->w, items);
    for (int i = 0; i < count; i++)
        if (x >= bar->x + items[i].x && x < bar->x + items[i].x + items[i].w) {
            ui_act(ui, table[items[i].entry].action);
            return;
        }
}

static void act_if_it_works_here(struct ui *ui, enum action action)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    for (size_t i = 0; i < count; i++)
        if (table[i].action == action && (table[i].contexts & ui_contexts(ui))) {
            ui_act(ui, action);
            return;
        }
}

static void turn_wheel(struct ui *ui, bool up)
{
    act_if_it_works_here(ui, up ? ACTION_CHOOSE_UP : ACTION_CHOOSE_DOWN);
    act_if_it_works_here(ui, up ? ACTION_UP : ACTION_DOWN);
    act_if_it_works_here(ui, up ? ACTION_ZOOM_IN : ACTION_ZOOM_OUT);
}

/* Put the cursor into a line, true when there is one; or sort by a title. */
static bool pick_line(struct ui *ui, int line)
{
    const struct view_actions *view = view_actions(ui->view);
    if (line < 0)
        return false;
    if (!ui->prompt && ui->view == VIEW_RUNS && line >= RUNS_VIEW_TITLES) {
        run_list_pick_title(ui, (enum run_column)(line - RUNS_VIEW_TITLES));
        return false;
    }
    if (ui->prompt)
        palette_pick(ui, line);
    else if (view->pick)
        view->pick(ui, line);
    else
        ui->line = line;
    return true;
}

void ui_mouse(struct ui *ui, int rows, int columns, int y, int x, enum mouse_event event)
{
    struct layout layout = dashboard_layout(ui, rows, columns);
    bool click = event == MOUSE_CLICK || event == MOUSE_DOUBLE;
    bool overlaid = ui->question || ui->prompt;
    bool choosing = ui->prompt && ui->prompt->palette;
    if (layout.too_small)
        return;
    ui->message.text[0] = '\0';
    if (click && inside(&layout.keys, y, x)) {
        ui->picked = false;
        press_key_bar(ui, &layout.keys, x);
        return;
    }
    if (overlaid && !choosing)
        return;
    /* The list may have scrolled since the first of two clicks, which has put the cursor right. */
    if (event == MOUSE_DOUBLE && ui->picked) {
        ui_key(ui, KEYCODE_ENTER);
        return;
    }
    /* Before the focus moves, which on a small screen moves everything. */
    int line = click ? line_at(ui, rows, columns, y, x) : -1;
    enum panel panel = panel_at(&layout, y, x);
    if (!overlaid && ui->view == VIEW_DASHBOARD && panel != PANEL_COUNT)
        ui->focus = panel;
    if (click)
        ui->picked = pick_line(ui, line);
    else
        turn_wheel(ui, event == MOUSE_WHEEL_UP);
}
