/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/keys/actions.h"

/* Up and down, by lines, by pages, to the ends: what list_move takes. */
static inline bool action_walks(enum action action)
{
    return action == ACTION_UP || action == ACTION_DOWN || action == ACTION_PAGE_UP ||
           action == ACTION_PAGE_DOWN || action == ACTION_FIRST || action == ACTION_LAST;
}

/* `line` of `count` after an action that walks through lines, `page` at a time for pages. */
int list_move(int line, int count, int page, enum action action);
