/* SPDX-License-Identifier: MIT */
#include "profile_print.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "table.h"

enum profile_order profile_order_of(const char *word)
{
    return strcmp(word, "order") == 0 ? PROFILE_BY_PLACE : PROFILE_BY_TIME;
}

/* Work is told where there is any, else memory traffic. */
static const char *format_speed(char *buffer, const struct profile_row *row)
{
    if (row->flops > 0)
        snprintf(buffer, FORMAT_SIZE, "%.1f GFLOP/s", row->flops / 1e9);
    else if (row->bytes > 0)
        snprintf(buffer, FORMAT_SIZE, "%.1f GB/s", row->bytes / 1e9);
    else
        snprintf(buffer, FORMAT_SIZE, "-");
    return buffer;
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

static void add_row(struct table *table, const struct profile_row *row)
{
    char text[FORMAT_SIZE];
    table_cell(table, or_dash(row->layer));
    table_cell(table, row->kind);
    table_cell(table, or_dash(row->direction));
    table_cell(table, format_fixed(text, row->calls > 0 ? row->calls : NAN, 0));
    table_cell(table, format_fixed(text, 1e3 * row->seconds, 3));
    snprintf(text, sizeof text, "%.2f %%", 100 * row->share);
    table_cell(table, text);
    table_cell(table, format_speed(text, row));
    table_cell(table, or_dash(row->method));
}

static bool print_device(const json_t *event, size_t device, enum profile_order order,
                         struct error *err)
{
    static const struct column columns[] = {{"LAYER", false}, {"KIND", false},   {"PART", false},
                                            {"CALLS", true},  {"MS/STEP", true}, {"OF STEP", true},
                                            {"SPEED", true},  {"METHOD", false}};
    struct table table;
    struct profile_row row;
    size_t count;
    struct profile_row *rows = profile_event_rows(event, device, order, &count);
    if (!rows)
        return error_memory(err, "the profile");
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++)
        add_row(&table, &rows[i]);
    for (size_t i = 0; profile_event_outside(event, device, i, &row); i++)
        add_row(&table, &row);
    free(rows);
    return table_end(&table, err);
}

/* Those whose passes are one thing only. */
static void print_remarks(const json_t *event)
{
    const json_t *devices = json_object_get(event, "devices");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        char name[FORMAT_TEXT], time[FORMAT_SIZE];
        double steps = profile_event_steps(event);
        if (json_is_true(json_object_get(device, "passes_only")))
            printf("%s: %s ms/step in passes whose operations cannot be told apart\n",
                   format_member(name, device, "device"),
                   format_fixed(time, 1e3 * member_number(device, "operations_s") / steps, 3));
    }
}

bool profile_print(const json_t *event, enum profile_order order, struct error *err)
{
    size_t devices = profile_event_devices(event);
    double step_s = profile_event_step_s(event);
    char time[FORMAT_SIZE], name[FORMAT_TEXT];
    printf("profile of %.0f steps, %s ms each\n", profile_event_steps(event),
           format_fixed(time, 1e3 * step_s, 3));
    print_remarks(event);
    if (devices > 1) {
        printf("\nall %zu devices, their times added: %s ms\n", devices,
               format_fixed(time, 1e3 * step_s * (double)devices, 3));
        if (!print_device(event, PROFILE_ALL_DEVICES, order, err))
            return false;
    }
    for (size_t i = 0; i < devices; i++) {
        const json_t *device = json_array_get(json_object_get(event, "devices"), i);
        printf("\n%s, %.0f rows\n", format_member(name, device, "device"),
               member_number(device, "rows"));
        if (!print_device(event, i, order, err))
            return false;
    }
    putchar('\n');
    return true;
}
