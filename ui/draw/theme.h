/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/preferences.h"
#include "ui/draw/surface.h"

/*
 * What the meanings of cells look like. Pure: the terminal (ui/app/term.h) and text with colours in
 * it are made from the same table. Colours are never the only sign of anything.
 */

enum look_attribute {
    LOOK_BOLD = 1,
    LOOK_DIM = 1 << 1,
    LOOK_UNDERLINE = 1 << 2,
    LOOK_REVERSE = 1 << 3,
};

struct look {
    int colour;          /* of the text, an index below the theme's colours; -1: the terminal's */
    unsigned attributes; /* bits of enum look_attribute */
};

struct theme {
    int colours; /* of the terminal: 256, 16, 8 or, for mono, 0; in between the next lower counts */
    enum palette palette;
    enum background background; /* AUTO: colours that can be read on both */
};

/* `background` AUTO becomes what $COLORFGBG says, when it says anything. */
struct theme theme_make(const struct preferences *preferences, int colours);

/*
 * With 256 colours everything has a contrast of at least 3:1 (WCAG 2) against black or white, and
 * text that is not dim one of 4.5:1; with background AUTO it is 3:1 against both.
 */
struct look theme_look(const struct theme *theme, enum style style);

/* What a terminal calls its background by $COLORFGBG ("15;0"); AUTO: it says nothing. */
enum background theme_background(const char *colorfgbg);

/*
 * The control sequence that gives text this style and no other, "\033[0;1;38;5;39m"; returns its
 * length. The buffer has at least THEME_SGR bytes.
 */
enum { THEME_SGR = 32 };
int theme_sgr(const struct theme *theme, enum style style, char *buffer);
