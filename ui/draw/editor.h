/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "ui/draw/surface.h"

/* One line of text being typed, UTF-8. */
struct editor {
    char text[4096];
    int length, cursor; /* in bytes, always between characters */
    bool fresh;         /* nothing typed yet: the first character replaces the text */
};

/* Begin with `text`, the cursor after it. */
void editor_begin(struct editor *editor, const char *text);
/* Take a key of ui/draw/key.h; false when it means nothing here. */
bool editor_key(struct editor *editor, int key);
/* The text with its cursor always in sight. */
void editor_draw(const struct editor *editor, struct surface *surface, int y, int x, int w);
