/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/table.h"
#include "engine/device/cuda/dnn/conv/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char request[256];      /* as text, which differs for different requests */
    struct conv_plan *plan; /* NULL: cannot be had, for this reason */
    struct error reason;
    int users;
};

struct conv_table {
    struct entry *entries; /* the oldest first */
    int count, capacity;
    double compile_left;
};

struct conv_table *conv_table_create(struct error *err)
{
    struct conv_table *table = calloc(1, sizeof *table);
    if (table)
        table->compile_left = CONV_COMPILE_SECONDS;
    else
        error_memory(err, "plans of convolutions");
    return table;
}

void conv_table_destroy(struct conv_table *table)
{
    if (!table)
        return;
    for (int i = 0; i < table->count; i++)
        conv_plan_destroy(table->entries[i].plan);
    free(table->entries);
    free(table);
}

static struct entry *find(const struct conv_table *table, const struct conv_request *request)
{
    char text[256];
    conv_request_text(request, text, sizeof text);
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->entries[i].request, text) == 0)
            return &table->entries[i];
    return NULL;
}

/* Shares that change leave plans that nothing uses. */
static void drop_unused(struct conv_table *table)
{
    int kept = 0, excess = table->count - (CONV_TABLE_PLANS - 1);
    for (int i = 0; i < table->count; i++) {
        if (excess > 0 && table->entries[i].users == 0) {
            conv_plan_destroy(table->entries[i].plan);
            excess--;
            continue;
        }
        table->entries[kept++] = table->entries[i];
    }
    table->count = kept;
}

static struct entry *add(struct conv_table *table, struct error *err)
{
    drop_unused(table);
    if (table->count == table->capacity) {
        const int capacity = table->capacity ? 2 * table->capacity : 64;
        struct entry *grown = realloc(table->entries, (size_t)capacity * sizeof *grown);
        if (!grown) {
            error_memory(err, "plans of convolutions");
            return NULL;
        }
        table->entries = grown;
        table->capacity = capacity;
    }
    struct entry *entry = &table->entries[table->count++];
    *entry = (struct entry){.reason = ERROR_INIT};
    return entry;
}

bool conv_table_take(struct conv_table *table, struct conv_maker *maker,
                     const struct conv_request *request, const struct conv_plan **out,
                     struct error *err)
{
    struct entry *entry = find(table, request);
    *out = NULL;
    if (!entry) {
        entry = add(table, err);
        if (!entry)
            return false;
        conv_request_text(request, entry->request, sizeof entry->request);
        maker->compile_left = &table->compile_left;
        (void)conv_plan_create(maker, request, &entry->plan, &entry->reason);
    }
    if (!entry->plan) {
        *err = entry->reason;
        return false;
    }
    entry->users++;
    *out = entry->plan;
    return true;
}

void conv_table_give(struct conv_table *table, const struct conv_plan *plan)
{
    for (int i = 0; plan && i < table->count; i++)
        if (table->entries[i].plan == plan)
            table->entries[i].users--;
}

double conv_table_seconds(const struct conv_table *table, const struct conv_maker *maker,
                          const struct conv_request *request)
{
    const struct entry *entry = find(table, request);
    if (!entry)
        return conv_search_remembered(maker, request);
    return entry->plan ? conv_plan_seconds(entry->plan) : (double)INFINITY;
}
