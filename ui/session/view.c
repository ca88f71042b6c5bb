/* SPDX-License-Identifier: MIT */
#include "ui/session/view.h"

#include <string.h>

#include "ui/session/ui.h"

#define ROW(id, name, title, contexts, action) {#name, title, contexts, action},
static const struct {
    const char *name, *title;
    unsigned contexts;
    enum action action;
} views[VIEW_COUNT] = {VIEWS(ROW)};
#undef ROW

const char *view_name(enum view_id id)
{
    return views[id].name;
}

enum view_id view_of_name(const char *name)
{
    for (int i = 0; i < VIEW_COUNT; i++)
        if (strcmp(views[i].name, name) == 0)
            return (enum view_id)i;
    return VIEW_COUNT;
}

enum view_id view_of_action(enum action action)
{
    for (int i = 0; action != ACTION_NONE && i < VIEW_COUNT; i++)
        if (views[i].action == action)
            return (enum view_id)i;
    return VIEW_COUNT;
}

const char *view_title(enum view_id id)
{
    return views[id].title;
}

unsigned ui_view_contexts(const struct ui *ui, enum view_id view)
{
    static const enum context of_panel[PANEL_COUNT] = {
        [PANEL_DEVICES] = CONTEXT_DEVICES,
        [PANEL_FORM] = CONTEXT_FORM,
        [PANEL_RUNS] = CONTEXT_RUNS,
        [PANEL_CHART] = CONTEXT_CHART,
    };
    unsigned contexts = views[view].contexts;
    return contexts != 0 ? contexts : (unsigned)of_panel[ui->focus];
}

unsigned ui_contexts(const struct ui *ui)
{
    if (ui->question)
        return CONTEXT_QUESTION;
    if (ui->prompt)
        return ui->prompt->palette ? CONTEXT_PROMPT | CONTEXT_PALETTE : CONTEXT_PROMPT;
    return ui_view_contexts(ui, ui->view);
}
