/* SPDX-License-Identifier: MIT */
#include "ui/keys/walk.h"

#include "ui/keys/actions.h"

int list_move(int line, int count, int page, enum action action)
{
    switch (action) {
    case ACTION_UP:
        line--;
        break;
    case ACTION_DOWN:
        line++;
        break;
    case ACTION_PAGE_UP:
        line -= page;
        break;
    case ACTION_PAGE_DOWN:
        line += page;
        break;
    case ACTION_FIRST:
        line = 0;
        break;
    default:
        line = count - 1;
        break;
    }
    line = line >= count ? count - 1 : line;
    return line < 0 ? 0 : line;
}
