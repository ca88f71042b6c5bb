/* SPDX-License-Identifier: MIT */
#include "ui/draw/editor.h"

#include <stdio.h>
#include <string.h>

#include "ui/draw/key.h"
#include "ui/draw/surface.h"

void editor_begin(struct editor *editor, const char *text)
{
    snprintf(editor->text, sizeof editor->text, "%s", text);
    editor->length = editor->cursor = (int)strlen(editor->text);
    editor->fresh = true;
}

static bool inside_character(const struct editor *editor, int at)
{
    return ((unsigned char)editor->text[at] & 0xc0) == 0x80;
}

static int before(const struct editor *editor, int at)
{
    if (at > 0)
        at--;
    while (at > 0 && inside_character(editor, at))
        at--;
    return at;
}

static int behind(const struct editor *editor, int at)
{
    if (at < editor->length)
        at++;
    while (at < editor->length && inside_character(editor, at))
        at++;
    return at;
}

static void erase_between(struct editor *editor, int from, int to)
{
    memmove(editor->text + from, editor->text + to, (size_t)(editor->length - to) + 1);
    editor->length -= to - from;
    editor->cursor = from;
}

static void insert(struct editor *editor, int key)
{
    char bytes[5];
    int count = text_encode((char32_t)key, bytes);
    if (editor->fresh)
        erase_between(editor, 0, editor->length);
    if (editor->length + count >= (int)sizeof editor->text)
        return;
    memmove(editor->text + editor->cursor + count, editor->text + editor->cursor,
            (size_t)(editor->length - editor->cursor) + 1);
    memcpy(editor->text + editor->cursor, bytes, (size_t)count);
    editor->length += count;
    editor->cursor += count;
}

bool editor_key(struct editor *editor, int key)
{
    enum { CTRL_A = 1, CTRL_E = 5, CTRL_U = 21 };
    switch (key) {
    case KEYCODE_LEFT:
        editor->cursor = before(editor, editor->cursor);
        break;
    case KEYCODE_RIGHT:
        editor->cursor = behind(editor, editor->cursor);
        break;
    case KEYCODE_HOME:
    case CTRL_A:
        editor->cursor = 0;
        break;
    case KEYCODE_END:
    case CTRL_E:
        editor->cursor = editor->length;
        break;
    case KEYCODE_BACKSPACE:
        erase_between(editor, before(editor, editor->cursor), editor->cursor);
        break;
    case KEYCODE_DELETE:
        erase_between(editor, editor->cursor, behind(editor, editor->cursor));
        break;
    case CTRL_U:
        erase_between(editor, 0, editor->length);
        break;
    default:
        if (key < 0x20 || (key >= 0x7f && key < 0xa0) || key > 0x10ffff)
            return false;
        insert(editor, key);
    }
    editor->fresh = false;
    return true;
}

void editor_draw(const struct editor *editor, struct surface *surface, int y, int x, int w)
{
    const char *text = editor->text;
    char before[sizeof editor->text];
    if (w <= 0)
        return;
    memcpy(before, editor->text, (size_t)editor->cursor);
    before[editor->cursor] = '\0';
    int cursor = text_columns(before);
    while (cursor >= w && *text != '\0') {
        const char *next = text;
        text_next(&next);
        cursor -= text_columns(text) - text_columns(next);
        text = next;
    }
    surface_fill(surface, (struct rect){y, x, 1, w}, STYLE_EDIT);
    surface_text(surface, y, x, w, STYLE_EDIT, text);
    surface->cursor_y = y;
    surface->cursor_x = x + cursor;
}
