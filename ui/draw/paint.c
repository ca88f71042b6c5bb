/* SPDX-License-Identifier: MIT */
#include "ui/draw/paint.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>
#include <term.h>

/* <term.h> has macros by these names. */
#undef columns
#undef lines

/* As many cells are rather written again than jumped over. */
enum { SHORT_GAP = 4 };

/* Append a string of terminfo without the pauses in it ("$<5>"), which no terminal of today needs;
 * the end is cut when the buffer is full. */
static void add_string(char *buffer, size_t size, const char *string)
{
    size_t length = strlen(buffer);
    while (string && *string != '\0' && length + 1 < size) {
        const char *end = strncmp(string, "$<", 2) == 0 ? strchr(string, '>') : NULL;
        if (end)
            string = end + 1;
        else
            buffer[length++] = *string++;
    }
    buffer[length] = '\0';
}

static void put_string(struct paint *paint, const char *string)
{
    char buffer[PAINT_STRING] = "";
    add_string(buffer, sizeof buffer, string);
    text_puts(&paint->out, buffer);
}

/* Terminals like xterm also select their usual set of characters with every reset. No other is used
 * here; selecting it with each clearing of the screen is often enough. */
static const char *short_reset(void)
{
    static const char usual_set[] = "\033(B";
    const char *string = exit_attribute_mode;
    if (string && strncmp(string, usual_set, sizeof usual_set - 1) == 0)
        string += sizeof usual_set - 1;
    return string;
}

static void choose_look(struct paint *paint, enum style style, struct look look)
{
    static const struct {
        unsigned bit;
        int index; /* in no_color_video */
    } attributes[] = {{LOOK_BOLD, 5}, {LOOK_DIM, 4}, {LOOK_UNDERLINE, 1}, {LOOK_REVERSE, 2}};
    const char *strings[] = {enter_bold_mode, enter_dim_mode, enter_underline_mode,
                             enter_reverse_mode};
    char *looks = paint->looks[style], *colour = paint->colour[style];
    looks[0] = colour[0] = '\0';
    paint->attributes[style] = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        bool spoiled = look.colour >= 0 && no_color_video > 0 &&
                       (no_color_video >> attributes[i].index & 1) != 0;
        if (!(look.attributes & attributes[i].bit) || !strings[i] || spoiled)
            continue;
        paint->attributes[style] |= attributes[i].bit;
        add_string(looks, PAINT_STRING, strings[i]);
    }
    if (look.colour >= 0 && set_a_foreground)
        add_string(colour, PAINT_STRING, tiparm(set_a_foreground, look.colour));
    add_string(looks, PAINT_STRING, colour);
}

void paint_choose(struct paint *paint, const struct theme *theme)
{
    const char *reset = short_reset();
    bool ansi = reset && reset[0] == '\033' && reset[1] == '[';
    paint->reset[0] = '\0';
    /* Where attributes and colours are not one thing, both have to end. */
    if (!ansi && theme->colours > 0)
        add_string(paint->reset, sizeof paint->reset, orig_pair);
    add_string(paint->reset, sizeof paint->reset, reset);
    for (int i = 0; i < STYLE_COUNT; i++)
        choose_look(paint, (enum style)i, theme_look(theme, (enum style)i));
}

bool paint_clear(struct paint *paint, int rows, int columns, struct error *err)
{
    put_string(paint, exit_attribute_mode);
    put_string(paint, cursor_invisible);
    put_string(paint, clear_screen);
    paint->pen = STYLE_NORMAL;
    paint->cursor = false;
    paint->y = paint->x = -1;
    return surface_resize(&paint->shown, rows, columns, err);
}

void paint_free(struct paint *paint)
{
    text_free(&paint->out);
    surface_free(&paint->shown);
}

static void change_pen(struct paint *paint, uint8_t style)
{
    const char *now = paint->looks[paint->pen], *then = paint->looks[style];
    if (strcmp(now, then) != 0) {
        bool only_colour = paint->attributes[paint->pen] == paint->attributes[style];
        if (now[0] != '\0' && only_colour && paint->colour[style][0] != '\0') {
            text_puts(&paint->out, paint->colour[style]);
        } else {
            if (now[0] != '\0')
                text_puts(&paint->out, paint->reset);
            text_puts(&paint->out, then);
        }
    }
    paint->pen = style;
}

/* Whether a blank of this style can be seen: it has a background or a line. */
static bool has_ground(const struct paint *paint, uint8_t style)
{
    return (paint->attributes[style] & (LOOK_REVERSE | LOOK_UNDERLINE)) != 0;
}

static bool is_bare(const struct paint *paint, const struct cell *cell)
{
    return cell->character == U' ' && !has_ground(paint, cell->style);
}

static bool looks_same(const struct paint *paint, const struct cell *a, const struct cell *b)
{
    return (is_bare(paint, a) && is_bare(paint, b)) ||
           (a->character == b->character &&
            (a->style == b->style || strcmp(paint->looks[a->style], paint->looks[b->style]) == 0));
}

static void put_cell(struct paint *paint, const struct cell *cell)
{
    char buffer[5];
    /* A blank takes the looks that are there, so that between words nothing is sent for them. */
    if (!is_bare(paint, cell))
        change_pen(paint, cell->style);
    else if (has_ground(paint, paint->pen))
        change_pen(paint, STYLE_NORMAL);
    text_append(&paint->out, buffer, (size_t)text_encode(cell->character, buffer));
    /* In the last column terminals differ in where the cursor is then. */
    if (++paint->x >= paint->shown.columns)
        paint->y = paint->x = -1;
}

/* Whether the cells from the cursor to column `x` can be written again in the looks of now. */
static bool can_rewrite(const struct paint *paint, int x)
{
    if (x - paint->x > SHORT_GAP)
        return false;
    for (int i = paint->x; i < x; i++) {
        const struct cell *cell = surface_at(&paint->shown, paint->y, i);
        bool bare = is_bare(paint, cell);
        if (bare ? has_ground(paint, paint->pen) : cell->style != paint->pen)
            return false;
    }
    return true;
}

static void move_cursor(struct paint *paint, int y, int x)
{
    if (paint->y == y && paint->x >= 0 && paint->x <= x && can_rewrite(paint, x)) {
        while (paint->x < x)
            put_cell(paint, surface_at(&paint->shown, y, paint->x));
        return;
    }
    /* With the background of the looks of now nothing may be moved on some terminals. */
    if (!move_standout_mode && has_ground(paint, paint->pen))
        change_pen(paint, STYLE_NORMAL);
    if (paint->y == y && column_address)
        put_string(paint, tiparm(column_address, x));
    else if (paint->y >= 0 && paint->y + 1 == y && x == 0)
        text_puts(&paint->out, "\r\n");
    else
        put_string(paint, tiparm(cursor_address, y, x));
    paint->y = y;
    paint->x = x;
}

/* The column after the last cell of the row that can be seen. */
static int row_end(const struct paint *paint, const struct surface *surface, int y)
{
    int end = surface->columns;
    while (end > 0 && is_bare(paint, surface_at(surface, y, end - 1)))
        end--;
    return end;
}

static void paint_row(struct paint *paint, const struct surface *surface, int y)
{
    int end = row_end(paint, surface, y), shown_end = row_end(paint, &paint->shown, y);
    int x = 0, last = end;
    /* Some terminals scroll when something is written into the corner. */
    if (y == surface->rows - 1 && auto_right_margin && !eat_newline_glitch &&
        last == surface->columns)
        last--;
    for (; x < last; x++) {
        const struct cell *cell = surface_at(surface, y, x);
        struct cell *shown = surface_at(&paint->shown, y, x);
        if (looks_same(paint, cell, shown))
            continue;
        move_cursor(paint, y, x);
        put_cell(paint, cell);
        *shown = *cell;
    }
    if (shown_end <= end)
        return;
    move_cursor(paint, y, end);
    if (has_ground(paint, paint->pen))
        change_pen(paint, STYLE_NORMAL);
    if (clr_eol && shown_end - end > 3) {
        put_string(paint, clr_eol);
    } else {
        for (x = end; x < shown_end; x++)
            put_cell(paint, surface_at(surface, y, x));
    }
    for (x = end; x < shown_end; x++)
        *surface_at(&paint->shown, y, x) = *surface_at(surface, y, x);
}

bool paint_surface(struct paint *paint, const struct surface *surface, struct error *err)
{
    bool cursor = surface->cursor_y >= 0;
    for (int y = 0; y < surface->rows; y++)
        paint_row(paint, surface, y);
    change_pen(paint, STYLE_NORMAL);
    if (cursor && (paint->y != surface->cursor_y || paint->x != surface->cursor_x))
        move_cursor(paint, surface->cursor_y, surface->cursor_x);
    if (cursor != paint->cursor)
        put_string(paint, cursor ? cursor_normal : cursor_invisible);
    paint->cursor = cursor;
    return !paint->out.failed || error_memory(err, "the screen");
}
