/* SPDX-License-Identifier: MIT */
#include "ui/actions/pages.h"

#include "ui/form/devices.h"
#include "ui/keys/walk.h"
#include "ui/panels/pair.h"
#include "ui/views/device.h"
#include "ui/views/help.h"
#include "ui/views/views.h"

/* What keys do in pages that are only read: the details of a device, the help, and the list of
 * hosts, which are asked as long as it is on the screen. */

enum { DEVICE_PAGE = 8 }; /* lines that PageDown moves by: the chart takes the others */

bool walk_page(struct ui *ui, int last, enum action action)
{
    if (!action_walks(action))
        return false;
    ui->line = list_move(view_first_line(ui, last), last + 1, ui_page_lines(ui) + 1, action);
    return true;
}

/* Up and Down go from device to device, pages through the details where there are too many. */
bool device_act(struct ui *ui, enum action action)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int count, focused = device_view_focused(ui, devices, &count);
    if (!action_walks(action))
        return false;
    if (action != ACTION_PAGE_UP && action != ACTION_PAGE_DOWN) {
        ui->device_line = list_move(focused, count, 1, action);
        ui->line = 0;
        return true;
    }
    int lines = focused >= 0 ? device_view_lines(ui, &devices[focused]) : 0;
    ui->line = list_move(ui->line, lines, DEVICE_PAGE, action);
    return true;
}

bool help_act(struct ui *ui, enum action action)
{
    int page = ui->rows - 3, down = help_view_lines(ui, ui->columns);
    if (!action_walks(action))
        return false;
    ui->line = list_move(ui->line, down - page + 1, page, action);
    return true;
}

bool differences_act(struct ui *ui, enum action action)
{
    int below = panel_pair_lines(ui) - (ui->rows - 3);
    return walk_page(ui, below > 0 ? below : 0, action);
}

bool hosts_can(const struct ui *ui, enum action action)
{
    return action != ACTION_OPEN_HOST || ui->line < ui->hosts.count;
}

bool hosts_act(struct ui *ui, enum action action)
{
    if (action_walks(action))
        ui->line = list_move(ui->line, ui->hosts.count, ui_page_lines(ui), action);
    else if (action == ACTION_OPEN_HOST)
        ui->hosts.wanted = ui->line;
    else
        return false;
    return true;
}

void hosts_opened(struct ui *ui)
{
    ui->hosts.shown = true;
    ui->line = ui->hosts.current;
}

void hosts_left(struct ui *ui)
{
    ui->hosts.shown = false;
}
