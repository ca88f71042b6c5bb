/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"

void table_begin(struct table *table, const struct column *columns, size_t width)
{
    *table = (struct table){.columns = columns, .width = width};
}

void table_cell(struct table *table, const char *text)
{
    if (table->filled == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        char **cells = realloc(table->cells, capacity * sizeof(char *));
        if (!cells) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    char *copy = strdup(text);
    if (!copy) {
        table->failed = true;
        return;
    }
    text_replace_controls(copy);
    table->cells[table->filled++] = copy;
}

/* Columns on the terminal; bytes where the text is not of the locale's character set. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    mbstate_t state = {0};
    for (const char *at = text; *at;) {
        wchar_t character;
        size_t length = mbrtowc(&character, at, MB_CUR_MAX, &state);
        if (length == (size_t)-1 || length == (size_t)-2)
            return strlen(text);
        int columns = wcwidth(character);
        width += columns > 0 ? (size_t)columns : 0;
        at += length;
    }
    return width;
}

static void print_cell(const struct table *table, size_t column, const char *text, size_t width)
{
    int gap = (int)(width - text_width(text));
    bool last = column + 1 == table->width;
    if (table->columns[column].right)
        printf("%*s%s", gap, "", text);
    else
        printf("%s%*s", text, last ? 0 : gap, "");
    fputs(last ? "\n" : "  ", stdout);
}

bool table_end(struct table *table, struct error *err)
{
    size_t *widths = calloc(table->width, sizeof *widths);
    bool ok = widths && !table->failed;
    for (size_t i = 0; ok && i < table->width; i++)
        widths[i] = text_width(table->columns[i].title);
    for (size_t i = 0; ok && i < table->filled; i++) {
        size_t width = text_width(table->cells[i]), *column = &widths[i % table->width];
        *column = width > *column ? width : *column;
    }
    for (size_t i = 0; ok && i < table->width; i++)
        print_cell(table, i, table->columns[i].title, widths[i]);
    for (size_t i = 0; ok && i < table->filled; i++)
        print_cell(table, i % table->width, table->cells[i], widths[i % table->width]);
    for (size_t i = 0; i < table->filled; i++)
        free(table->cells[i]);
    free(table->cells);
    free(widths);
    return ok || error_memory(err, "table");
}
