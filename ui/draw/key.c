/* SPDX-License-Identifier: MIT */
#include "ui/draw/key.h"

#include <stdio.h>
#include <string.h>

#include "ui/draw/surface.h"

static const struct {
    int key;
    const char *name;
} names[] = {
    {KEYCODE_TAB, "Tab"},
    {KEYCODE_ENTER, "Enter"},
    {KEYCODE_ESCAPE, "Esc"},
    {' ', "Space"},
    {KEYCODE_UP, "Up"},
    {KEYCODE_DOWN, "Down"},
    {KEYCODE_LEFT, "Left"},
    {KEYCODE_RIGHT, "Right"},
    {KEYCODE_BACKTAB, "Shift-Tab"},
    {KEYCODE_BACKSPACE, "Backspace"},
    {KEYCODE_DELETE, "Delete"},
    {KEYCODE_HOME, "Home"},
    {KEYCODE_END, "End"},
    {KEYCODE_PAGE_UP, "PageUp"},
    {KEYCODE_PAGE_DOWN, "PageDown"},
};

const char *key_text(int key, char *buffer)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].key == key) {
            snprintf(buffer, KEY_NAME_SIZE, "%s", names[i].name);
            return buffer;
        }
    if (key >= KEYCODE_F1 && key < KEYCODE_F1 + 12)
        snprintf(buffer, KEY_NAME_SIZE, "F%d", key - KEYCODE_F1 + 1);
    else if (key > 0 && key < ' ')
        snprintf(buffer, KEY_NAME_SIZE, "Ctrl-%c", key + '@');
    else
        buffer[key > 0 && key <= 0x10ffff ? text_encode((char32_t)key, buffer) : 0] = '\0';
    return buffer;
}

static int function_key(const char *name)
{
    int number, end = 0;
    if (sscanf(name, "F%2d%n", &number, &end) != 1 || name[end] != '\0' || number < 1 ||
        number > 12)
        return KEYCODE_NONE;
    return KEYCODE_F1 + number - 1;
}

int key_of_name(const char *name, size_t length)
{
    char text[KEY_NAME_SIZE];
    if (length == 0 || length >= sizeof text)
        return KEYCODE_NONE;
    memcpy(text, name, length);
    text[length] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, text) == 0)
            return names[i].key;
    if (strncmp(text, "Ctrl-", 5) == 0 && text[5] >= 'A' && text[5] <= 'Z' && text[6] == '\0')
        return text[5] - '@';
    const char *end = text;
    char32_t character = text_next(&end);
    if (*end == '\0' && character > ' ' && character != 0x7f &&
        (character != '?' || text[0] == '?'))
        return (int)character;
    return function_key(text);
}
