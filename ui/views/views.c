/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

#define ROW(id, name, ...) [id] = &view_##name,

const struct view *view_of(enum view_id id)
{
    static const struct view *const views[VIEW_COUNT] = {VIEWS(ROW)};
    return views[id];
}
