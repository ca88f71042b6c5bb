/* SPDX-License-Identifier: MIT */
#include "ui/session/settings.h"

#include <string.h>

#include "ui/session/ui.h"

bool settings_look(const struct ui *ui, int line, struct setting *setting)
{
    return ui->settings_source && line >= 0 &&
           ui->settings_source->at(ui->settings_source->context, (size_t)line, setting);
}

int settings_count(const struct ui *ui)
{
    struct setting setting;
    int count = 0;
    while (settings_look(ui, count, &setting))
        count++;
    return count;
}

bool settings_of_screen(const struct setting *setting)
{
    return strncmp(setting->name, "screen.", strlen("screen.")) == 0;
}
