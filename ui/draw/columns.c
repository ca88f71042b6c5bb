/* SPDX-License-Identifier: MIT */
#include "ui/draw/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define RUN_COLUMN_NAME(id, name) [id] = name,
static const char *const names[RUN_COLUMNS] = {RUN_COLUMN_NAMES(RUN_COLUMN_NAME)};
#undef RUN_COLUMN_NAME

static const char separators[] = ", ";

static bool refuse(const char *word, int length, struct error *err)
{
    struct text all = TEXT_INIT;
    for (int i = 0; i < RUN_COLUMNS; i++)
        text_printf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    const char *choices = text_cstr(&all) ? all.data : "the names in the manual";
    if (length == 0)
        error_set(err, ERROR_USAGE, "columns is empty: give 'default' or some of %s", choices);
    else
        error_set(err, ERROR_USAGE, "columns: '%.*s' is neither 'default' alone nor one of %s",
                  length < 40 ? length : 40, word, choices);
    text_free(&all);
    return false;
}

const char *run_column_name(enum run_column column)
{
    return names[column];
}

/* RUN_COLUMNS: there is none of that name. */
static int find(const char *word, size_t length)
{
    int i = 0;
    while (i < RUN_COLUMNS && (strlen(names[i]) != length || memcmp(names[i], word, length) != 0))
        i++;
    return i;
}

static void write_text(struct run_columns *columns)
{
    size_t used = 0;
    columns->text[0] = '\0';
    for (int i = 0; i < columns->count; i++)
        used += (size_t)snprintf(columns->text + used, sizeof columns->text - used, "%s%s",
                                 i > 0 ? "," : "", names[columns->column[i]]);
}

bool run_columns_set(struct run_columns *columns, const char *text, struct error *err)
{
    struct run_columns wanted = {.count = 0};
    if (strcmp(text, "default") == 0) {
        *columns = wanted;
        return true;
    }
    for (text += strspn(text, separators); *text != '\0'; text += strspn(text, separators)) {
        size_t length = strcspn(text, separators);
        int column = find(text, length);
        if (column == RUN_COLUMNS)
            return refuse(text, (int)length, err);
        if (wanted.count > 0 && run_columns_have(&wanted, (enum run_column)column))
            return error_set(err, ERROR_USAGE, "columns: '%s' is there twice", names[column]);
        wanted.column[wanted.count++] = (enum run_column)column;
        text += length;
    }
    if (wanted.count == 0)
        return refuse("", 0, err);
    write_text(&wanted);
    *columns = wanted;
    return true;
}

void run_columns_add(struct run_columns *columns, enum run_column column)
{
    int at = 0;
    if (columns->count > 0 && run_columns_have(columns, column))
        return;
    while (at < columns->count && columns->column[at] < column)
        at++;
    memmove(&columns->column[at + 1], &columns->column[at],
            (size_t)(columns->count - at) * sizeof columns->column[0]);
    columns->column[at] = column;
    columns->count++;
    write_text(columns);
}

void run_columns_remove(struct run_columns *columns, enum run_column column)
{
    int kept = 0;
    for (int i = 0; i < columns->count; i++)
        if (columns->column[i] != column)
            columns->column[kept++] = columns->column[i];
    columns->count = kept;
    write_text(columns);
}

const char *run_columns_text(const struct run_columns *columns)
{
    return columns->count > 0 ? columns->text : "default";
}

bool run_columns_have(const struct run_columns *columns, enum run_column column)
{
    for (int i = 0; i < columns->count; i++)
        if (columns->column[i] == column)
            return true;
    return columns->count == 0;
}
