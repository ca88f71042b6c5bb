/* SPDX-License-Identifier: MIT */
#include "events/confusion.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Data sets have no more. */
enum { MOST_CLASSES = 256 };

static bool read_counts(struct confusion_table *table, const json_t *matrix)
{
    const int classes = table->classes;
    for (int label = 0; label < classes; label++) {
        const json_t *row = json_array_get(matrix, (size_t)label);
        if (json_array_size(row) != (size_t)classes)
            return false;
        for (int k = 0; k < classes; k++) {
            const json_t *count = json_array_get(row, (size_t)k);
            if (!json_is_integer(count) || json_integer_value(count) < 0 ||
                json_integer_value(count) > INT32_MAX)
                return false;
            table->counts[label * classes + k] = (long)json_integer_value(count);
        }
    }
    return true;
}

static double share(long part, long whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

static void sum_up(struct confusion_table *table, const json_t *names)
{
    for (int label = 0; label < table->classes; label++) {
        struct confusion_class *class = &table->class[label];
        const char *name = json_string_value(json_array_get(names, (size_t)label));
        class->name = name ? name : "";
        for (int k = 0; k < table->classes; k++) {
            const long count = confusion_at(table, label, k);
            class->rows += count;
            class->predicted += confusion_at(table, k, label);
            table->most = count > table->most ? count : table->most;
            if (k != label && count > 0)
                table->pairs[table->pair_count++] = (struct confusion_pair){label, k, count};
        }
        class->right = confusion_at(table, label, label);
        class->recall = share(class->right, class->rows);
        class->precision = share(class->right, class->predicted);
        table->rows += class->rows;
        table->right += class->right;
    }
}

static int worse_first(const void *a, const void *b)
{
    const struct confusion_pair *x = a, *y = b;
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    return x->label != y->label ? x->label - y->label : x->predicted - y->predicted;
}

bool confusion_table_read(struct confusion_table *table, const json_t *answer, struct error *err)
{
    const json_t *matrix = json_object_get(answer, "confusion");
    const size_t classes = json_array_size(matrix);
    *table = (struct confusion_table){0};
    if (classes < 1 || classes > MOST_CLASSES)
        return error_set(err, ERROR_FAILED, "the engine's answer has no confusion matrix");
    table->classes = (int)classes;
    table->counts = calloc(classes * classes, sizeof *table->counts);
    table->class = calloc(classes, sizeof *table->class);
    table->pairs = calloc(classes * classes, sizeof *table->pairs);
    if (!table->counts || !table->class || !table->pairs)
        return error_memory(err, "confusion matrix");
    if (!read_counts(table, matrix))
        return error_set(err, ERROR_FAILED, "the engine's answer has no whole confusion matrix");
    sum_up(table, json_object_get(answer, "class_names"));
    qsort(table->pairs, table->pair_count, sizeof *table->pairs, worse_first);
    return true;
}

void confusion_table_free(struct confusion_table *table)
{
    free(table->counts);
    free(table->class);
    free(table->pairs);
    *table = (struct confusion_table){0};
}

const char *confusion_name(const struct confusion_table *table, int class, char *buffer)
{
    if (*table->class[class].name)
        return table->class[class].name;
    snprintf(buffer, CONFUSION_NAME, "class %d", class);
    return buffer;
}
