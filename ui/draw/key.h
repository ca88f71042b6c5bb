/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* A key is a Unicode code point or, above those, one of these. */
enum {
    KEYCODE_NONE = -1,
    KEYCODE_CTRL_C = 3, /* comes as a signal */
    KEYCODE_CTRL_H = 8, /* comes as Backspace */
    KEYCODE_TAB = 9,
    KEYCODE_ENTER = 10,
    KEYCODE_CTRL_L = 12,
    KEYCODE_CTRL_M = 13, /* comes as Enter */
    KEYCODE_CTRL_Z = 26, /* comes as a signal */
    KEYCODE_ESCAPE = 27,
    KEYCODE_UP = 0x110000,
    KEYCODE_DOWN,
    KEYCODE_LEFT,
    KEYCODE_RIGHT,
    KEYCODE_BACKTAB,
    KEYCODE_BACKSPACE,
    KEYCODE_DELETE,
    KEYCODE_HOME,
    KEYCODE_END,
    KEYCODE_PAGE_UP,
    KEYCODE_PAGE_DOWN,
    KEYCODE_F1, /* F2 to F12 follow */
    KEYCODE_OTHER = KEYCODE_F1 + 12,
};

/*
 * A key's name: the character itself, "Space", "Enter", "Shift-Tab", "F5", "Ctrl-L"... in `buffer`
 * of KEY_NAME_SIZE bytes; returns the buffer.
 */
enum { KEY_NAME_SIZE = 16 };
const char *key_text(int key, char *buffer);
/* The key of that name in the first `length` bytes of `name`; KEYCODE_NONE: there is none. */
int key_of_name(const char *name, size_t length);
