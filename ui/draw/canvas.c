/* SPDX-License-Identifier: MIT */
#include "ui/draw/canvas.h"

#include <math.h>
#include <stdlib.h>

enum { PATTERN = 8, SAMPLE = 4 };

/* Dots of a cell. */
static const struct {
    int across, down;
} grids[] = {
    [CANVAS_AUTO] = {2, 4},
    [CANVAS_BRAILLE] = {2, 4},
    [CANVAS_QUADRANT] = {2, 2},
    [CANVAS_ASCII] = {1, 3},
};

bool canvas_open(struct canvas *canvas, int rows, int columns, enum canvas_kind kind,
                 struct error *err)
{
    *canvas = (struct canvas){
        .kind = kind == CANVAS_AUTO ? CANVAS_BRAILLE : kind,
        .rows = rows,
        .columns = columns,
        .across = grids[kind].across,
        .down = grids[kind].down,
    };
    if (rows <= 0 || columns <= 0)
        return error_set(err, ERROR_FAILED, "a canvas of %d x %d cells is empty", rows, columns);
    canvas->dots_across = columns * canvas->across;
    canvas->dots_down = rows * canvas->down;
    canvas->cells = calloc((size_t)rows * (size_t)columns, sizeof *canvas->cells);
    return canvas->cells || error_memory(err, "the chart");
}

void canvas_close(struct canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct canvas){0};
}

void canvas_dot(struct canvas *canvas, int x, int y, int layer, enum style style)
{
    if (x < 0 || y < 0 || x >= canvas->dots_across || y >= canvas->dots_down)
        return;
    struct canvas_cell *cell =
        &canvas->cells[y / canvas->down * canvas->columns + x / canvas->across];
    if (cell->layer != layer)
        cell->dots = 0;
    cell->dots |= (uint8_t)(1 << (x % canvas->across + y % canvas->down * canvas->across));
    cell->layer = (uint8_t)layer;
    cell->style = (uint8_t)style;
}

/*
 * Cut the line to the canvas first (Liang and Barsky, 1984), so that the walk is never longer than
 * the canvas is wide, whatever the numbers.
 */
static bool clip(const struct canvas *canvas, double *x0, double *y0, double *x1, double *y1)
{
    double dx = *x1 - *x0, dy = *y1 - *y0, from = 0, to = 1;
    double p[4] = {-dx, dx, -dy, dy};
    double q[4] = {*x0, canvas->dots_across - 1 - *x0, *y0, canvas->dots_down - 1 - *y0};
    if (!isfinite(dx) || !isfinite(dy))
        return false;
    for (int i = 0; i < 4; i++) {
        if (p[i] == 0) {
            if (q[i] < 0)
                return false;
        } else if (p[i] < 0) {
            from = fmax(from, q[i] / p[i]);
        } else {
            to = fmin(to, q[i] / p[i]);
        }
    }
    if (from > to)
        return false;
    *x1 = *x0 + to * dx;
    *y1 = *y0 + to * dy;
    *x0 += from * dx;
    *y0 += from * dy;
    return true;
}

void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1,
                 const struct canvas_pen *pen)
{
    if (!clip(canvas, &x0, &y0, &x1, &y1))
        return;
    int x = (int)lround(x0), y = (int)lround(y0);
    int end_x = (int)lround(x1), end_y = (int)lround(y1);
    int dx = abs(end_x - x), dy = -abs(end_y - y);
    int step_x = x < end_x ? 1 : -1, step_y = y < end_y ? 1 : -1;
    int error = dx + dy;
    for (;;) {
        /* Counted by place, not by length: the dots of two lines that meet keep one rhythm. */
        unsigned place = (unsigned)(dx >= -dy ? x : y);
        if (pen->pattern & 1u << place % PATTERN)
            canvas_dot(canvas, x, y, pen->layer, pen->style);
        if (x == end_x && y == end_y)
            break;
        int twice = 2 * error;
        if (twice >= dy) {
            error += dy;
            x += step_x;
        }
        if (twice <= dx) {
            error += dx;
            y += step_y;
        }
    }
}

/* Unicode numbers the dots of a braille cell by columns, with the lowest row added later. */
static char32_t braille_character(unsigned dots)
{
    static const uint8_t place[] = {0, 3, 1, 4, 2, 5, 6, 7};
    char32_t character = 0x2800;
    for (unsigned i = 0; i < sizeof place; i++)
        if (dots & 1u << i)
            character |= (char32_t)1 << place[i];
    return character;
}

static char32_t character_of(enum canvas_kind kind, unsigned dots)
{
    /* By which of high (1), middle (2) and low (4) are set; two neighbours look like the outer. */
    static const char ascii[] = {' ', '\'', '-', '\'', '.', ':', '.', '|'};
    /* By the quarters: top left (1), top right (2), bottom left (4), bottom right (8). */
    static const char32_t quadrant[] = {U' ', U'▘', U'▝', U'▀', U'▖', U'▌', U'▞', U'▛',
                                        U'▗', U'▚', U'▐', U'▜', U'▄', U'▙', U'▟', U'█'};
    return kind == CANVAS_ASCII      ? (char32_t)ascii[dots & 7]
           : kind == CANVAS_QUADRANT ? quadrant[dots & 15]
                                     : braille_character(dots);
}

void canvas_show(const struct canvas *canvas, struct surface *surface, int y, int x)
{
    for (int row = 0; row < canvas->rows; row++)
        for (int column = 0; column < canvas->columns; column++) {
            const struct canvas_cell *cell = &canvas->cells[row * canvas->columns + column];
            if (cell->dots != 0)
                surface_put(surface, y + row, x + column, character_of(canvas->kind, cell->dots),
                            (enum style)cell->style);
        }
}

int canvas_sample_width(enum canvas_kind kind)
{
    return SAMPLE / grids[kind].across;
}

void canvas_sample(enum canvas_kind kind, const struct canvas_pen *pen, struct surface *surface,
                   int y, int x)
{
    int across = grids[kind].across, down = grids[kind].down;
    for (int column = 0; column < canvas_sample_width(kind); column++) {
        unsigned dots = 0;
        for (int i = 0; i < across; i++)
            if (pen->pattern & 1u << (column * across + i))
                dots |= 1u << (i + down / 2 * across);
        if (dots != 0)
            surface_put(surface, y, x + column, character_of(kind, dots), pen->style);
    }
}
