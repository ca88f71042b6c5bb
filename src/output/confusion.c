/* SPDX-License-Identifier: MIT */
#include "output/confusion.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/figure.h"
#include "base/print.h"
#include "base/text.h"
#include "events/confusion.h"
#include "output/bar.h"
#include "output/table.h"

/* The most pairs that are listed. */
enum { PAIRS = 10 };

static void print_pairs(const struct confusion_table *table)
{
    const size_t shown = table->pair_count < PAIRS ? table->pair_count : PAIRS;
    long others = table->rows - table->right;
    if (shown > 0)
        print("\nmost often mistaken:\n");
    for (size_t i = 0; i < shown; i++) {
        const struct confusion_pair *pair = &table->pairs[i];
        char label[CONFUSION_NAME], predicted[CONFUSION_NAME];
        print("  %s taken for %s: %ld of %ld\n", confusion_name(table, pair->label, label),
              confusion_name(table, pair->predicted, predicted), pair->rows,
              table->class[pair->label].rows);
        others -= pair->rows;
    }
    if (others > 0)
        print("  and %ld row%s of %zu other pair%s\n", others, plural(others),
              table->pair_count - shown, plural(table->pair_count - shown));
}

static bool print_classes(const struct confusion_table *table, struct error *err)
{
    static const struct column columns[] = {
        {"class", false}, {"rows", true}, {"accuracy", true}, {"precision", true}};
    struct table out;
    struct figure f;
    table_begin(&out, columns, sizeof columns / sizeof *columns);
    for (int k = 0; k < table->classes; k++) {
        const struct confusion_class *class = &table->class[k];
        char name[CONFUSION_NAME];
        table_cell(&out, confusion_name(table, k, name));
        table_cell(&out, figure_whole(&f, (double)class->rows));
        table_cell(&out, figure_fixed(&f, class->recall, 4));
        table_cell(&out, figure_fixed(&f, class->precision, 4));
    }
    print("\n");
    return table_end(&out, err);
}

/* A line per class, its number and name first: "3 dress". */
static void fill_matrix(const struct confusion_table *table, struct table *out)
{
    struct figure f;
    for (int label = 0; label < table->classes; label++) {
        char text[400];
        snprintf(text, sizeof text, "%d %s", label, table->class[label].name);
        table_cell(out, text);
        for (int k = 0; k < table->classes; k++) {
            long count = confusion_at(table, label, k);
            table_cell(out, count ? figure_whole(&f, (double)count) : ".");
        }
    }
}

static bool print_matrix(const struct confusion_table *table, bool whole, struct error *err)
{
    const size_t width = (size_t)table->classes + 1;
    struct column *columns = calloc(width, sizeof *columns);
    struct figure *titles = calloc(width, sizeof *titles);
    struct table out;
    bool ok = columns && titles;
    if (ok) {
        columns[0].title = "";
        for (size_t k = 1; k < width; k++)
            columns[k] = (struct column){figure_whole(&titles[k], (double)k - 1), true};
        table_begin(&out, columns, width);
        fill_matrix(table, &out);
        if (whole || table_width(&out) <= (size_t)terminal_columns()) {
            print("\nrows of a class, by the class that they were taken for:\n");
            ok = table_end(&out, err);
        } else {
            print("\nthe matrix of %d classes is wider than the terminal: --matrix prints it\n",
                  table->classes);
            table_free(&out);
        }
    } else {
        error_memory(err, "table");
    }
    free(columns);
    free(titles);
    return ok;
}

bool confusion_print(const json_t *answer, bool whole, struct error *err)
{
    struct confusion_table table;
    bool ok = confusion_table_read(&table, answer, err);
    if (ok)
        print_pairs(&table);
    ok = ok && print_classes(&table, err) && print_matrix(&table, whole, err);
    confusion_table_free(&table);
    return ok;
}
