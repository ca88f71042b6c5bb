/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_KEY_H
#define DPARTUI_UI_KEY_H

/* A key is a Unicode code point or, above those, one of these. */
enum {
    KEYCODE_NONE = -1,
    KEYCODE_TAB = 9,
    KEYCODE_ENTER = 10,
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

#endif
