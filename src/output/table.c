/* SPDX-License-Identifier: MIT */
#include "output/table.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/print.h"

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
    struct text shown = TEXT_INIT;
    escape_append(&shown, text);
    text_append(&shown, "", 0);
    if (shown.failed) {
        text_free(&shown);
        table->failed = true;
        return;
    }
    table->cells[table->filled++] = shown.data;
}

static void print_cell(const struct table *table, size_t column, const char *text, size_t width)
{
    int gap = (int)(width - print_width(text));
    bool last = column + 1 == table->width;
    if (table->columns[column].right)
        print("%*s%s", gap, "", text);
    else
        print("%s%*s", text, last ? 0 : gap, "");
    print(last ? "\n" : "  ");
}

static size_t column_width(const struct table *table, size_t column)
{
    size_t most = print_width(table->columns[column].title);
    for (size_t i = column; i < table->filled; i += table->width) {
        size_t width = print_width(table->cells[i]);
        most = width > most ? width : most;
    }
    return most;
}

size_t table_width(const struct table *table)
{
    size_t sum = 2 * (table->width - 1);
    for (size_t i = 0; i < table->width; i++)
        sum += column_width(table, i);
    return sum;
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->filled; i++)
        free(table->cells[i]);
    free(table->cells);
}

bool table_end(struct table *table, struct error *err)
{
    size_t *widths = calloc(table->width, sizeof *widths);
    bool ok = widths && !table->failed;
    for (size_t i = 0; ok && i < table->width; i++) {
        widths[i] = column_width(table, i);
        print_cell(table, i, table->columns[i].title, widths[i]);
    }
    for (size_t i = 0; ok && i < table->filled; i++)
        print_cell(table, i % table->width, table->cells[i], widths[i % table->width]);
    table_free(table);
    free(widths);
    return ok || error_memory(err, "table");
}
