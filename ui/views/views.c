/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

#include "base/text.h"

int view_first_line(const struct ui *ui, int last)
{
    return ui->line < last ? ui->line : last;
}

void view_hint_lines(const struct ui *ui, int last, char *buffer, size_t size)
{
    int more = last - ui->line;
    if (more > 0)
        snprintf(buffer, size, "%d more line%s below", more, plural(more));
}

#define ROW(id, name, ...) [id] = &view_##name,

const struct view *view_of(enum view_id id)
{
    static const struct view *const views[VIEW_COUNT] = {VIEWS(ROW)};
    return views[id];
}
