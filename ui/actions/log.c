/* SPDX-License-Identifier: MIT */
#include "ui/actions/log.h"

#include <stdio.h>

#include "ui/keys/walk.h"
#include "ui/views/log.h"

/* What keys do in the log. */

enum { PAGE = 10 };

/* Words typed show what they leave at once. */
static void filter_changed(struct ui *ui, const char *text)
{
    snprintf(ui->log.filter, sizeof ui->log.filter, "%s", text);
    ui->log.back = 0;
}

static bool filter_accepted(struct ui *ui, const char *text)
{
    filter_changed(ui, text);
    return true;
}

static void filter_left(struct ui *ui)
{
    filter_changed(ui, "");
}

static const struct prompt filter_prompt = {
    .label = "Show messages with ",
    .hint = "words, a level, run 3; Esc shows all",
    .accept = filter_accepted,
    .changed = filter_changed,
    .left = filter_left,
};

bool log_act(struct ui *ui, enum action action)
{
    int lines[STATE_MAX_LOG], count = log_shown(ui, lines), back = log_view_back(ui, count);
    if (action_walks(action))
        ui->log.back = count > 0 ? count - 1 - list_move(count - 1 - back, count, PAGE, action) : 0;
    else if (action == ACTION_FILTER)
        ui_prompt(ui, &filter_prompt, 0, ui->log.filter);
    else
        return false;
    return true;
}

void log_opened(struct ui *ui)
{
    if (ui->link == LINK_UP)
        ui_request(ui, REQUEST_LOG, json_pack("{s:i}", "limit", STATE_MAX_LOG));
}
