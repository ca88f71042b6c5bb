/* SPDX-License-Identifier: MIT */
#include "output/bar.h"

#include "base/escape.h"
#include "base/print.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_LEAST = 10, BAR_MOST = 40, LINE_MOST = 250 };

void bar_add(struct bar *bar, int rank, const char *format, ...)
{
    va_list args;
    if (bar->count == BAR_PIECES)
        return;
    va_start(args, format);
    vsnprintf(bar->piece[bar->count], sizeof bar->piece[0], format, args);
    va_end(args);
    bar->rank[bar->count++] = rank;
}

static int text_length(const struct bar *bar, const bool *dropped)
{
    int length = (int)strlen(bar->left);
    for (int i = 0; i < bar->count; i++)
        if (!dropped[i])
            length += 2 + (int)strlen(bar->piece[i]);
    return length;
}

/* The kept piece of the highest rank, or -1. */
static int next_to_drop(const struct bar *bar, const bool *dropped)
{
    int next = -1;
    for (int i = 0; i < bar->count; i++)
        if (!dropped[i] && (next < 0 || bar->rank[i] > bar->rank[next]))
            next = i;
    return next;
}

/* Escaped, so that its bytes are at least its columns. */
static struct bar shown_bar(const struct bar *bar)
{
    struct bar shown = *bar;
    escape_copy(shown.left, sizeof shown.left, bar->left);
    for (int i = 0; i < bar->count; i++)
        escape_copy(shown.piece[i], sizeof shown.piece[i], bar->piece[i]);
    return shown;
}

void bar_compose(const struct bar *given, int columns, char *line, size_t size)
{
    const struct bar shown = shown_bar(given), *bar = &shown;
    bool dropped[BAR_PIECES] = {false};
    char text[LINE_MOST + 1] = "";
    size_t used = 0;
    bool has_bar = isfinite(bar->share);
    int frame = has_bar ? 4 + BAR_LEAST : 0;
    columns = columns > LINE_MOST ? LINE_MOST : columns;
    for (int drop; text_length(bar, dropped) + frame > columns;) {
        /* All but the most important item go before the bar does. */
        drop = next_to_drop(bar, dropped);
        if (drop < 0 && !frame)
            break;
        if (drop < 0 || (frame && bar->rank[drop] == 0))
            frame = 0;
        else
            dropped[drop] = true;
    }
    used += (size_t)snprintf(text, sizeof text, "%s", bar->left);
    if (frame) {
        int room = columns - text_length(bar, dropped) - 4;
        room = room > BAR_MOST ? BAR_MOST : room;
        int full = (int)lround(fmin(1, fmax(0, bar->share)) * room);
        used += (size_t)snprintf(text + used, sizeof text - used, "  [");
        for (int i = 0; i < room; i++)
            text[used++] = i < full ? '#' : '-';
        text[used++] = ']';
        text[used] = '\0';
    }
    for (int i = 0; i < bar->count && used < sizeof text; i++)
        if (!dropped[i])
            used += (size_t)snprintf(text + used, sizeof text - used, "  %s", bar->piece[i]);
    size_t room = columns > 0 ? (size_t)columns + 1 : 1;
    escape_copy(line, room < size ? room : size, text);
}

int terminal_columns(void)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return 80;
    return window.ws_col;
}

void bar_draw(struct bar_line *line, const struct bar *bar)
{
    char text[LINE_MOST + 1];
    if (tcgetpgrp(STDOUT_FILENO) != getpgrp())
        return;
    /* The last column stays free: some terminals wrap when it is written. */
    bar_compose(bar, terminal_columns() - 1, text, sizeof text);
    print("\r%s\033[K", text);
    line->shown = true;
}

void bar_clear(struct bar_line *line)
{
    if (line->shown)
        print("\r\033[K");
    line->shown = false;
}
