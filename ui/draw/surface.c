/* SPDX-License-Identifier: MIT */
#include "ui/draw/surface.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"
#include "ui/draw/character.h"

static const char32_t glyphs[GLYPH_COUNT][2] = {
    /* ASCII, UTF-8 */
    [GLYPH_ELLIPSIS] = {'~', U'…'},
    [GLYPH_FILL] = {'#', U'━'},
    [GLYPH_FILL_HALF] = {'#', U'╸'},
    [GLYPH_TRACK] = {'.', U'─'},
    [GLYPH_RULE] = {'|', U'│'},
    [GLYPH_AXIS_TICK] = {'+', U'┤'},
    [GLYPH_AXIS_SIDE] = {'|', U'│'},
    [GLYPH_AXIS_FLOOR] = {'-', U'─'},
    [GLYPH_AXIS_CORNER] = {'+', U'└'},
    [GLYPH_AXIS_FLOOR_TICK] = {'+', U'┬'},
    [GLYPH_AXIS_MARK] = {'^', U'▲'},
    [GLYPH_ABOVE] = {'^', U'↑'},
    [GLYPH_BELOW] = {'v', U'↓'},
    [GLYPH_BOX_TOP_LEFT] = {'+', U'┌'},
    [GLYPH_BOX_TOP_RIGHT] = {'+', U'┐'},
    [GLYPH_BOX_BOTTOM_LEFT] = {'+', U'└'},
    [GLYPH_BOX_BOTTOM_RIGHT] = {'+', U'┘'},
    [GLYPH_BOX_ROW] = {'-', U'─'},
    [GLYPH_BOX_SIDE] = {'|', U'│'},
    [GLYPH_COMPUTE] = {'=', U'▆'},
    [GLYPH_ALL_REDUCE] = {'+', U'▒'},
    [GLYPH_WAIT] = {'.', U'·'},
};

/* Steps of a row's height, from the lowest. */
static const char32_t ascii_levels[] = {'_', '-', '^', '#'};
static const char32_t utf8_levels[] = {U'▁', U'▂', U'▃', U'▄', U'▅', U'▆', U'▇', U'█'};

bool surface_resize(struct surface *surface, int rows, int columns, struct error *err)
{
    if (!surface->cells || rows != surface->rows || columns != surface->columns) {
        struct cell *cells = calloc((size_t)rows * (size_t)columns, sizeof *cells);
        if (!cells)
            return error_memory(err, "the screen");
        free(surface->cells);
        surface->cells = cells;
        surface->rows = rows;
        surface->columns = columns;
    }
    surface_clear(surface);
    return true;
}

void surface_free(struct surface *surface)
{
    free(surface->cells);
    surface->cells = NULL;
    surface->rows = surface->columns = 0;
}

void surface_clear(struct surface *surface)
{
    surface_fill(surface, (struct rect){0, 0, surface->rows, surface->columns}, STYLE_NORMAL);
    surface->cursor_y = surface->cursor_x = -1;
}

struct cell *surface_at(const struct surface *surface, int y, int x)
{
    if (y < 0 || x < 0 || y >= surface->rows || x >= surface->columns)
        return NULL;
    return &surface->cells[(size_t)y * (size_t)surface->columns + (size_t)x];
}

void surface_put(struct surface *surface, int y, int x, char32_t character, enum style style)
{
    struct cell *cell = surface_at(surface, y, x);
    if (!cell)
        return;
    if (!character_is_plain(character) || (!surface->utf8 && character > 0x7e))
        character = '?';
    cell->character = character;
    cell->style = (uint8_t)style;
}

void surface_glyph(struct surface *surface, int y, int x, enum glyph glyph, enum style style)
{
    surface_put(surface, y, x, glyphs[glyph][surface->utf8], style);
}

void surface_restyle(struct surface *surface, int y, int x, int w, enum style style)
{
    for (int i = 0; i < w; i++) {
        struct cell *cell = surface_at(surface, y, x + i);
        if (cell)
            cell->style = (uint8_t)style;
    }
}

void surface_fill(struct surface *surface, struct rect area, enum style style)
{
    for (int y = area.y; y < area.y + area.h; y++)
        for (int x = area.x; x < area.x + area.w; x++) {
            struct cell *cell = surface_at(surface, y, x);
            if (cell)
                *cell = (struct cell){.character = ' ', .style = (uint8_t)style};
        }
}

void surface_mark_line(struct surface *surface, int y, int x, int w, int line)
{
    for (int i = 0; i < w; i++) {
        struct cell *cell = surface_at(surface, y, x + i);
        if (cell && line >= 0 && line < UINT16_MAX)
            cell->line = (uint16_t)(line + 1);
    }
}

int surface_line_at(const struct surface *surface, int y, int x)
{
    const struct cell *cell = surface_at(surface, y, x);
    return cell ? cell->line - 1 : -1;
}

char32_t text_next(const char **text)
{
    char32_t character;
    size_t bytes = utf8_decode(*text, UTF8_BYTES, &character);
    *text += bytes > 0 ? bytes : 1;
    return bytes > 0 ? character : U'?';
}

int text_encode(char32_t character, char *buffer)
{
    int length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = length - 1; i > 0; i--, character >>= 6)
        buffer[i] = (char)(0x80 | (character & 0x3f));
    buffer[0] = (char)(lead[length] | character);
    buffer[length] = '\0';
    return length;
}

/* The next character of *text as it is shown; returns its columns. */
static int next_shown(const char **text, char shown[ESCAPE_BYTES])
{
    size_t bytes = escape_next(text, shown);
    return (unsigned char)shown[0] < 0x80 ? (int)bytes : 1;
}

int text_columns(const char *text)
{
    char shown[ESCAPE_BYTES];
    int columns = 0;
    while (*text != '\0' && columns < INT_MAX - ESCAPE_BYTES)
        columns += next_shown(&text, shown);
    return columns;
}

int surface_text(struct surface *surface, int y, int x, int w, enum style style, const char *text)
{
    char shown[ESCAPE_BYTES];
    int used = 0;
    while (*text != '\0' && used < w) {
        int columns = next_shown(&text, shown);
        if (used + columns > w || (used + columns == w && *text != '\0')) {
            surface_glyph(surface, y, x + used++, GLYPH_ELLIPSIS, style);
            break;
        }
        for (const char *at = shown; *at != '\0';)
            surface_put(surface, y, x + used++, text_next(&at), style);
    }
    return used;
}

int surface_format(struct surface *surface, int y, int x, int w, enum style style,
                   const char *format, ...)
{
    char buffer[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return surface_text(surface, y, x, w, style, buffer);
}

void surface_right(struct surface *surface, int y, int x, int w, enum style style, const char *text)
{
    int columns = text_columns(text);
    int blank = columns < w ? w - columns : 0;
    surface_text(surface, y, x + blank, w - blank, style, text);
}

void surface_bar(struct surface *surface, int y, int x, int w, double fraction)
{
    long halves = isnan(fraction) ? 0 : lround(2 * w * fmin(fmax(fraction, 0), 1));
    for (int i = 0; i < w; i++, halves -= 2) {
        enum glyph glyph = halves >= 2 ? GLYPH_FILL : halves == 1 ? GLYPH_FILL_HALF : GLYPH_TRACK;
        surface_glyph(surface, y, x + i, glyph, halves >= 1 ? STYLE_FILL : STYLE_TRACK);
    }
}

void surface_column(struct surface *surface, struct rect area, double fraction)
{
    const char32_t *levels = surface->utf8 ? utf8_levels : ascii_levels;
    long steps = surface->utf8 ? 8 : 4;
    if (!isfinite(fraction))
        return;
    long height = lround(fmin(fmax(fraction, 0), 1) * (double)(steps * area.h));
    height = height < 1 ? 1 : height;
    for (int y = area.y + area.h - 1; y >= area.y && height > 0; y--, height -= steps) {
        long level = height < steps ? height : steps;
        for (int x = area.x; x < area.x + area.w; x++)
            surface_put(surface, y, x, levels[level - 1], STYLE_FILL);
    }
}

void surface_parts(struct surface *surface, int y, int x, int w, const struct bar_part *parts,
                   int count)
{
    double end = 0;
    int from = 0;
    /* Each part ends where the sum so far does, so that rounding never adds up. */
    for (int i = 0; i < count; i++) {
        end += isfinite(parts[i].fraction) ? fmax(parts[i].fraction, 0) : 0;
        int to = (int)lround(fmin(end, 1) * w);
        for (; from < to; from++)
            surface_glyph(surface, y, x + from, parts[i].glyph, parts[i].style);
    }
}

size_t text_line_length(const char *text, int w)
{
    const char *p = text, *next = text, *blank = NULL;
    char shown[ESCAPE_BYTES];
    for (int used = 0; *p != '\0' && used < w; p = next) {
        if (*p == ' ')
            blank = p;
        used += next_shown(&next, shown);
        /* One that is wider than the line is cut when it is drawn. */
        if (used > w && p > text)
            break;
    }
    if (*p == '\0' || *p == ' ' || !blank)
        return (size_t)(p - text);
    return (size_t)(blank - text);
}

void surface_paragraph(struct surface *surface, struct rect area, enum style style,
                       const char *text)
{
    char line[1024];
    for (int y = area.y; y < area.y + area.h && area.w > 0 && *text != '\0'; y++) {
        size_t length = text_line_length(text, area.w);
        if (y + 1 == area.y + area.h) {
            surface_text(surface, y, area.x, area.w, style, text);
            return;
        }
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        surface_text(surface, y, area.x, area.w, style, line);
        for (text += length; *text == ' '; text++)
            ;
    }
}

int paragraph_rows(const char *text, int columns)
{
    int rows = 0;
    for (; columns > 0 && *text != '\0'; rows++)
        for (text += text_line_length(text, columns); *text == ' '; text++)
            ;
    return rows;
}

void surface_box(struct surface *surface, struct rect area, const char *title)
{
    int bottom = area.y + area.h - 1, right = area.x + area.w - 1;
    if (area.h < 2 || area.w < 2)
        return;
    surface_fill(surface, area, STYLE_NORMAL);
    for (int x = area.x + 1; x < right; x++) {
        surface_glyph(surface, area.y, x, GLYPH_BOX_ROW, STYLE_TRACK);
        surface_glyph(surface, bottom, x, GLYPH_BOX_ROW, STYLE_TRACK);
    }
    for (int y = area.y + 1; y < bottom; y++) {
        surface_glyph(surface, y, area.x, GLYPH_BOX_SIDE, STYLE_TRACK);
        surface_glyph(surface, y, right, GLYPH_BOX_SIDE, STYLE_TRACK);
    }
    surface_glyph(surface, area.y, area.x, GLYPH_BOX_TOP_LEFT, STYLE_TRACK);
    surface_glyph(surface, area.y, right, GLYPH_BOX_TOP_RIGHT, STYLE_TRACK);
    surface_glyph(surface, bottom, area.x, GLYPH_BOX_BOTTOM_LEFT, STYLE_TRACK);
    surface_glyph(surface, bottom, right, GLYPH_BOX_BOTTOM_RIGHT, STYLE_TRACK);
    surface_format(surface, area.y, area.x + 2, area.w - 4, STYLE_STRONG, " %s ", title);
}

void surface_dump(const struct surface *surface, struct text *out)
{
    for (int y = 0; y < surface->rows; y++) {
        int last = surface->columns;
        char buffer[5];
        while (last > 0 && surface_at(surface, y, last - 1)->character == ' ')
            last--;
        for (int x = 0; x < last; x++)
            text_append(out, buffer,
                        (size_t)text_encode(surface_at(surface, y, x)->character, buffer));
        text_puts(out, "\n");
    }
}
