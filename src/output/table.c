/* SPDX-License-Identifier: MIT */
#include "output/table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/escape.h"
#include "base/print.h"
#include "base/text.h"

void table_begin(struct table *table, const struct column *columns, size_t width)
{
    *table = (struct table){.columns = columns, .width = width};
}

void table_cell(struct table *table, const char *text)
{
    struct text shown = TEXT_INIT;
    char **cells = array_grow(table->cells, (int)table->filled, &table->capacity, sizeof *cells);
    table->cells = cells ? cells : table->cells;
    escape_append(&shown, text);
    char *cell = text_take(&shown);
    if (cells && cell) {
        cells[table->filled++] = cell;
        return;
    }
    free(cell);
    table->failed = true;
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
