/* SPDX-License-Identifier: MIT */
#include "ui/control/control.h"

#include "ui/actions/chart.h"
#include "ui/actions/runs.h"
#include "ui/actions/settings.h"
#include "ui/actions/views.h"
#include "ui/control/overlay_keys.h"
#include "ui/control/palette.h"
#include "ui/control/picture.h"
#include "ui/control/refresh.h"
#include "ui/control/why_not.h"

/* What works in every view, and where everything else goes. */

bool ui_can_below(const struct ui *ui, enum action action)
{
    const struct view_actions *view = view_actions(ui->view);
    if (action == ACTION_ENGINE)
        return ui->link == LINK_LOST || ui->link == LINK_NO_ENGINE;
    return runs_can(ui, action) && (!view->can || view->can(ui, action));
}

bool ui_can(const struct ui *ui, enum action action)
{
    if (ui->question || ui->prompt)
        return overlay_can(ui, action);
    return ui_can_below(ui, action);
}

static void act_everywhere(struct ui *ui, enum action action)
{
    enum view_id view = view_of_action(action);
    if (view != VIEW_COUNT)
        ui_show_view(ui, view);
    switch (action) {
    case ACTION_SCREENSHOT:
        picture_ask(ui);
        break;
    case ACTION_MOUSE:
        ui->preferences.mouse = !ui->preferences.mouse;
        ui_say(ui, false,
               ui->preferences.mouse ? "the mouse is on: hold Shift to select text with it"
                                     : "the mouse is off: the terminal selects text with it");
        break;
    case ACTION_PALETTE:
        palette_open(ui);
        break;
    case ACTION_BACK:
        ui_go_back(ui);
        break;
    case ACTION_ENGINE:
        ui->want_engine = true;
        break;
    case ACTION_REDRAW:
        ui->want_redraw = true;
        break;
    case ACTION_QUIT:
        ui_leave(ui);
        break;
    default:
        break;
    }
}

void ui_act(struct ui *ui, enum action action)
{
    if (!ui_can(ui, action)) {
        if (!chart_say_why_not(ui, action) && !runs_say_why_not(ui, action))
            say_nothing_to_do(ui, action);
        return;
    }
    if (!overlay_act(ui, action)) {
        const struct view_actions *view = view_actions(ui->view);
        if ((!view->act || !view->act(ui, action)) && !runs_act(ui, action))
            act_everywhere(ui, action);
    }
    ui_refresh(ui);
}

void ui_key(struct ui *ui, int key)
{
    enum action action = keymap_action(&ui->keymap, ui_contexts(ui), key);
    ui->message.text[0] = '\0';
    if (action != ACTION_NONE)
        ui_act(ui, action);
    else if (ui->prompt)
        overlay_key(ui, key);
    else if (!ui->question)
        say_unbound(ui, key);
}

void ui_paste(struct ui *ui, const char *text)
{
    ui->message.text[0] = '\0';
    if (ui->prompt)
        overlay_paste(ui, text);
    else
        ui_say(ui, false, "pasted text is only taken where a value is typed");
}
