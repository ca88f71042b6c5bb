/* SPDX-License-Identifier: MIT */
#include "ui/views/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * What the engine and the workbench had to say, the newest at the bottom. ui->log.back counts the
 * shown messages between the newest and the one in focus.
 */

enum { TIME, LEVEL, RUN, TEXT, COLUMNS };
enum { MOST_ROWS = 6 }; /* longer messages are cut */

static const struct list_column columns[COLUMNS] = {
    [TIME] = {"Log", 8, 0, false, 0},
    [LEVEL] = {"level", 7, 0, false, 2},
    [RUN] = {"run", 4, 0, true, 1},
    [TEXT] = {"message", 10, 1000, false, 0},
};

/* A row of the list: of a message, or the date above the first one of a day. */
struct row {
    const struct log_line *line;
    int message;      /* which of those shown */
    const char *text; /* this row's part of it; NULL: the date */
    size_t length;    /* of that part */
};

static bool local_time(double seconds, struct tm *local)
{
    /* Far beyond what a clock says, it comes from a damaged message. */
    time_t whole = fabs(seconds) < 1e11 ? (time_t)seconds : 0;
    return isfinite(seconds) && localtime_r(&whole, local);
}

static bool same_day(double a, double b)
{
    struct tm first, second;
    return local_time(a, &first) && local_time(b, &second) && first.tm_year == second.tm_year &&
           first.tm_yday == second.tm_yday;
}

/* The messages over as many rows of `width` columns as they need; returns how many. */
static int make_rows(const struct ui *ui, const int *lines, int count, int width, struct row *rows)
{
    int made = 0;
    for (int i = 0; i < count; i++) {
        const struct log_line *line = &ui->state.log[lines[i]];
        const char *text = line->text;
        if (isfinite(line->time) &&
            (i == 0 || !same_day(line->time, ui->state.log[lines[i - 1]].time)))
            rows[made++] = (struct row){line, i, NULL, 0};
        for (int row = 1; row == 1 || *text != '\0'; row++) {
            /* The last row takes what is left and is cut when drawn. */
            size_t length = row < MOST_ROWS ? text_line_length(text, width) : strlen(text);
            rows[made++] = (struct row){line, i, text, length};
            text += length;
            text += strspn(text, " ");
        }
    }
    return made;
}

static enum style level_style(enum log_level level)
{
    return level == LOG_ERROR ? STYLE_BAD : level == LOG_WARNING ? STYLE_WARNING : STYLE_NORMAL;
}

static void draw_row(struct surface *surface, struct rect area, int y,
                     const struct column_place *places, const struct row *row)
{
    struct tm local;
    char text[1024] = "-";
    bool known = local_time(row->line->time, &local);
    enum style style = level_style(row->line->level);
    if (!row->text) {
        if (known)
            strftime(text, sizeof text, "%Y-%m-%d", &local);
        surface_text(surface, y, area.x, area.w, STYLE_LABEL, text);
        return;
    }
    if (row->text == row->line->text) {
        if (known)
            strftime(text, sizeof text, "%H:%M:%S", &local);
        list_cell(surface, area, y, &columns[TIME], &places[TIME], STYLE_LABEL, text);
        list_cell(surface, area, y, &columns[LEVEL], &places[LEVEL], style,
                  log_level_name(row->line->level));
        snprintf(text, sizeof text, "%ld", row->line->run);
        list_cell(surface, area, y, &columns[RUN], &places[RUN], STYLE_NORMAL,
                  row->line->run != 0 ? text : "");
    }
    snprintf(text, sizeof text, "%.*s", (int)row->length, row->text);
    list_cell(surface, area, y, &columns[TEXT], &places[TEXT], style, text);
}

/* The filter, and what lies below the window. */
static void draw_heading(const struct ui *ui, struct surface *surface, struct rect area,
                         const struct column_place *places, int shown, int newer)
{
    char right[64] = "", left[160];
    int x = area.x + places[TEXT].x, end = area.x + area.w;
    for (int i = 0; i < COLUMNS; i++)
        list_cell(surface, area, area.y, &columns[i], &places[i],
                  i == TIME ? STYLE_STRONG : STYLE_LABEL, columns[i].title);
    if (newer > 0) {
        snprintf(right, sizeof right, "%d newer", newer);
        end -= text_columns(right) + 2;
        surface_right(surface, area.y, area.x, area.w, STYLE_WARNING, right);
    }
    if (ui->log.filter[0] == '\0')
        return;
    snprintf(left, sizeof left, "%d of %d with: %s", shown, ui->state.log_count, ui->log.filter);
    surface_text(surface, area.y, x, end - x, STYLE_FOCUS, left);
}

static void draw_empty(const struct ui *ui, struct surface *surface, struct rect area)
{
    area.y++;
    if (--area.h <= 0)
        return;
    if (ui->state.log_count > 0)
        surface_text(surface, area.y, area.x, area.w, STYLE_LABEL,
                     "No message has all these words: / changes them, Esc there takes them away.");
    else
        surface_paragraph(surface, area, STYLE_LABEL,
                          "Nothing yet. Here will be what the engine says of its runs and devices, "
                          "connections that were lost and came back, and requests that it "
                          "refused.");
}

int log_view_back(const struct ui *ui, int count)
{
    return ui->log.back < count ? ui->log.back : count - 1;
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    int lines[STATE_MAX_LOG], count = log_shown(ui, lines), visible = area.h - 1;
    struct row *rows = calloc((size_t)count * (MOST_ROWS + 1) + 1, sizeof *rows);
    struct column_place places[COLUMNS];
    if (!rows)
        return error_memory(err, "the log");
    columns_place(columns, COLUMNS, area.w, places);
    int made = make_rows(ui, lines, count, places[TEXT].w > 0 ? places[TEXT].w : 1, rows);
    int focused = count - 1 - log_view_back(ui, count), row = made - 1;
    while (row > 0 && rows[row].message > focused)
        row--;
    int first = list_scroll(row, made, visible), next = first + visible;
    for (int i = first; made > 0 && i < made && i < next; i++) {
        int y = area.y + 1 + i - first;
        draw_row(surface, area, y, places, &rows[i]);
        if (rows[i].message == focused && rows[i].text)
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
    int newer = next < made && next > 0 ? count - 1 - rows[next - 1].message : 0;
    draw_heading(ui, surface, area, places, count, newer);
    if (count == 0)
        draw_empty(ui, surface, area);
    free(rows);
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    int lines[STATE_MAX_LOG], count = log_shown(ui, lines);
    if (count > 0)
        snprintf(buffer, size, "%d of %d: %s", count - log_view_back(ui, count), count,
                 ui->state.log[lines[count - 1 - log_view_back(ui, count)]].text);
}

const struct view view_log = {draw, hint};
