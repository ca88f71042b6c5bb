/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uchar.h>

#include "base/error.h"
#include "base/text.h"

/*
 * The picture of one frame: a grid of cells that views draw into and that knows nothing of
 * terminals. The terminal layer shows it; tests dump it as text. Drawing outside is clipped, so a
 * view that has too little room is cut, never wrong.
 */

/* What a cell means; the terminal layer decides how that looks. */
enum style {
    STYLE_NORMAL,
    STYLE_STRONG, /* what to look at first */
    STYLE_LABEL,  /* headings, units, what is always there */
    STYLE_FOCUS,  /* heading of the panel that has the keys */
    STYLE_CURSOR, /* the line that keys act on */
    STYLE_EDIT,   /* text being typed */
    STYLE_GOOD,
    STYLE_WARNING,
    STYLE_BAD,
    STYLE_KEY,   /* a key's name in the key bar */
    STYLE_FILL,  /* the full part of a bar */
    STYLE_TRACK, /* its empty part; axes and rules */
    STYLE_SERIES,
    STYLE_SERIES_COMPANION, /* the other curve of the same run */
    STYLE_SERIES_MARKED,
    STYLE_SERIES_MARKED_2,
    STYLE_SERIES_MARKED_3,
    STYLE_SERIES_MARKED_4,
    STYLE_SERIES_PAST,
    STYLE_COUNT
};

enum glyph {
    GLYPH_ELLIPSIS,
    GLYPH_FILL,
    GLYPH_FILL_HALF, /* a cell half full */
    GLYPH_TRACK,
    GLYPH_RULE, /* vertical, between panels */
    GLYPH_AXIS_TICK,
    GLYPH_AXIS_SIDE,
    GLYPH_AXIS_FLOOR,
    GLYPH_AXIS_CORNER,
    GLYPH_AXIS_FLOOR_TICK,
    GLYPH_AXIS_MARK, /* on the floor: something happened here */
    GLYPH_ABOVE,     /* a curve continues beyond the top ... */
    GLYPH_BELOW,     /* ... or the floor */
    GLYPH_BOX_TOP_LEFT,
    GLYPH_BOX_TOP_RIGHT,
    GLYPH_BOX_BOTTOM_LEFT,
    GLYPH_BOX_BOTTOM_RIGHT,
    GLYPH_BOX_ROW,
    GLYPH_BOX_SIDE,
    GLYPH_COMPUTE, /* what a device's time goes into */
    GLYPH_ALL_REDUCE,
    GLYPH_WAIT,
    GLYPH_COUNT
};

struct cell {
    char32_t character; /* always one column wide */
    uint8_t style;      /* enum style */
    uint16_t line;      /* of a list, from 1, for the mouse; 0: of none */
};

struct rect {
    int y, x, h, w; /* h or w of 0: nothing */
};

struct surface {
    int rows, columns;
    bool utf8; /* false: only ASCII is ever stored */
    struct cell *cells;
    int cursor_y, cursor_x; /* of the terminal's cursor; -1: hidden */
};

/* Make it rows x columns and blank. On failure it keeps its old size and contents. */
bool surface_resize(struct surface *surface, int rows, int columns, struct error *err);
void surface_free(struct surface *surface);
void surface_clear(struct surface *surface);
/* NULL outside. */
struct cell *surface_at(const struct surface *surface, int y, int x);

void surface_put(struct surface *surface, int y, int x, char32_t character, enum style style);
void surface_glyph(struct surface *surface, int y, int x, enum glyph glyph, enum style style);
/* Give `w` cells of a row another style and keep their characters. */
void surface_restyle(struct surface *surface, int y, int x, int w, enum style style);
void surface_fill(struct surface *surface, struct rect area, enum style style);
/* Say that `w` cells of a row belong to line `line` (from 0) of a list, until they are filled. */
void surface_mark_line(struct surface *surface, int y, int x, int w, int line);
/* The line that a cell belongs to; -1: none. */
int surface_line_at(const struct surface *surface, int y, int x);

/*
 * Text in at most `w` columns from (y, x); what does not fit ends in an ellipsis. What is hidden,
 * and bytes that are not UTF-8, appear as escapes (base/escape.h), wide and combining characters as
 * '?', so that text from outside can neither move anything nor reach the terminal. Returns the
 * columns used.
 */
int surface_text(struct surface *surface, int y, int x, int w, enum style style, const char *text);
int surface_format(struct surface *surface, int y, int x, int w, enum style style,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The same, ending in column x + w - 1. */
void surface_right(struct surface *surface, int y, int x, int w, enum style style,
                   const char *text);
/* A bar of `w` cells, `fraction` of it full (outside 0..1 is cut, NAN is empty). */
void surface_bar(struct surface *surface, int y, int x, int w, double fraction);
/*
 * A column of bars, its foot in the last row of `area`, as wide as that: `fraction` of its height
 * in steps of an eighth of a row (ASCII: a quarter). What is not known (NAN) is blank; anything
 * that is known shows at least the lowest step.
 */
void surface_column(struct surface *surface, struct rect area, double fraction);
/* A bar of parts that add up to at most 1, each with its own glyph and style. */
struct bar_part {
    double fraction;
    enum glyph glyph;
    enum style style;
};
void surface_parts(struct surface *surface, int y, int x, int w, const struct bar_part *parts,
                   int count);
/* Text over as many rows of `area` as it needs, broken between words. What does not
 * fit ends in an ellipsis. */
void surface_paragraph(struct surface *surface, struct rect area, enum style style,
                       const char *text);
/* How many rows a paragraph takes at that width. */
int paragraph_rows(const char *text, int columns);
/* A frame around the edge of `area`, its inside blank, `title` in the top edge. */
void surface_box(struct surface *surface, struct rect area, const char *title);

/* Columns that `text` takes in surface_text when nothing is cut. */
int text_columns(const char *text);
/* Bytes of `text` that fit into `w` columns, broken at the last blank if there is one; at least one
 * character. */
size_t text_line_length(const char *text, int w);
/* Read one character of *text and move past it; '?' for what is not UTF-8. */
char32_t text_next(const char **text);
/* `character` as UTF-8 in `buffer` (at least 5 bytes); returns the length. */
int text_encode(char32_t character, char *buffer);

/* The rows as UTF-8 lines without trailing blanks, appended to `out`. */
void surface_dump(const struct surface *surface, struct text *out);
