/* SPDX-License-Identifier: MIT */
#include "output/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "output/table.h"

enum profile_order profile_order_of(const char *word)
{
    return strcmp(word, "order") == 0 ? PROFILE_BY_PLACE : PROFILE_BY_TIME;
}

/* "3.2 GFLOP/s", "1.1 TB/s" */
static const char *rate_text(struct figure *figure, double rate, const char *unit)
{
    if (rate <= 0)
        strcpy(figure->text, "-");
    else if (rate >= 1e12)
        snprintf(figure->text, sizeof figure->text, "%.1f T%s", rate / 1e12, unit);
    else
        snprintf(figure->text, sizeof figure->text, "%.1f G%s", rate / 1e9, unit);
    return figure->text;
}

static const char *part_text(struct figure *figure, double rate, double limit)
{
    if (rate <= 0 || limit <= 0)
        strcpy(figure->text, "-");
    else
        snprintf(figure->text, sizeof figure->text, "%.1f %%", 100 * rate / limit);
    return figure->text;
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

/* `limits`: with columns for them. */
static void add_row(struct table *table, const struct profile_row *row, bool limits)
{
    struct figure text;
    table_cell(table, or_dash(row->layer));
    table_cell(table, row->kind);
    table_cell(table, or_dash(row->direction));
    table_cell(table, figure_whole(&text, row->calls > 0 ? row->calls : NAN));
    table_cell(table, figure_fixed(&text, 1e3 * row->seconds, 3));
    snprintf(text.text, sizeof text.text, "%.2f %%", 100 * row->share);
    table_cell(table, text.text);
    table_cell(table, rate_text(&text, row->flops, "FLOP/s"));
    if (limits)
        table_cell(table, part_text(&text, row->flops, row->flops_limit));
    table_cell(table, rate_text(&text, row->bytes, "B/s"));
    if (limits)
        table_cell(table, part_text(&text, row->bytes, row->bytes_limit));
    table_cell(table, or_dash(row->method));
}

static bool print_device(const json_t *event, size_t device, enum profile_order order,
                         struct error *err)
{
    static const struct column plain[] = {{"LAYER", false}, {"KIND", false},   {"PART", false},
                                          {"CALLS", true},  {"MS/STEP", true}, {"OF STEP", true},
                                          {"WORK", true},   {"MEMORY", true},  {"METHOD", false}};
    static const struct column limited[] = {
        {"LAYER", false},  {"KIND", false},    {"PART", false},  {"CALLS", true},
        {"MS/STEP", true}, {"OF STEP", true},  {"WORK", true},   {"OF LIMIT", true},
        {"MEMORY", true},  {"OF LIMIT", true}, {"METHOD", false}};
    struct table table;
    struct profile_row row;
    size_t count;
    double flops, bytes;
    const bool limits = profile_event_limits(event, device, &flops, &bytes);
    struct profile_row *rows = profile_event_rows(event, device, order, &count);
    if (!rows)
        return error_memory(err, "the profile");
    if (limits)
        table_begin(&table, limited, sizeof limited / sizeof *limited);
    else
        table_begin(&table, plain, sizeof plain / sizeof *plain);
    for (size_t i = 0; i < count; i++)
        add_row(&table, &rows[i], limits);
    for (size_t i = 0; profile_event_outside(event, device, i, &row); i++)
        add_row(&table, &row, limits);
    free(rows);
    return table_end(&table, err);
}

/* Those whose passes are not split into operations. */
static void print_remarks(const json_t *event)
{
    const json_t *devices = json_object_get(event, "devices");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        struct figure time;
        double steps = profile_event_steps(event);
        if (json_is_true(json_object_get(device, "passes_only")))
            print("%s: %s ms/step in passes whose operations cannot be separated\n",
                  member_text(device, "device"),
                  figure_fixed(&time, 1e3 * member_number(device, "operations_s") / steps, 3));
    }
}

static void print_limits(const json_t *event, size_t device)
{
    double flops, bytes;
    struct figure work, memory;
    if (profile_event_limits(event, device, &flops, &bytes))
        print("; limits by its units and clocks: %s, %s", rate_text(&work, flops, "FLOP/s"),
              rate_text(&memory, bytes, "B/s"));
}

bool profile_print(const json_t *event, enum profile_order order, struct error *err)
{
    size_t devices = profile_event_devices(event);
    double step_s = profile_event_step_s(event);
    struct figure time;
    double unprofiled, unprofiled_s = profile_event_unprofiled_s(event, &unprofiled);
    print("profile of %.0f step%s, %s ms each", profile_event_steps(event),
          plural(profile_event_steps(event)), figure_fixed(&time, 1e3 * step_s, 3));
    if (unprofiled > 0)
        print("; %.0f step%s without it took %s ms each", unprofiled, plural(unprofiled),
              figure_fixed(&time, 1e3 * unprofiled_s, 3));
    putchar('\n');
    print_remarks(event);
    if (devices > 1) {
        print("\nall %zu devices, their times added: %s ms\n", devices,
              figure_fixed(&time, 1e3 * step_s * (double)devices, 3));
        if (!print_device(event, PROFILE_ALL_DEVICES, order, err))
            return false;
    }
    for (size_t i = 0; i < devices; i++) {
        const json_t *device = json_array_get(json_object_get(event, "devices"), i);
        print("\n%s, %.0f row%s", member_text(device, "device"), member_number(device, "rows"),
              plural(member_number(device, "rows")));
        print_limits(event, i);
        putchar('\n');
        if (!print_device(event, i, order, err))
            return false;
    }
    putchar('\n');
    return true;
}
