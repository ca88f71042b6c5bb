/* SPDX-License-Identifier: MIT */
#include "ui/state/run_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a run is sorted by: first the number, then the text. */
struct sort_key {
    double number;    /* NAN: not known, or the text alone counts */
    const char *text; /* "": not known */
    int index;
    bool running; /* or paused */
};

static const char *key_text(const struct state_run *run, enum run_column column)
{
    switch (column) {
    case RUN_COLUMN_MODEL:
        return run->model;
    case RUN_COLUMN_DATA:
        return run->data;
    case RUN_COLUMN_DEVICES:
        return run->devices;
    case RUN_COLUMN_STRATEGY:
        return run->strategy;
    case RUN_COLUMN_SPLIT:
        return run->split;
    case RUN_COLUMN_SYNC:
        return run->sync;
    case RUN_COLUMN_NOTE:
        return run->note;
    default:
        return "";
    }
}

static double key_number(const struct state_run *run, enum run_column column)
{
    switch (column) {
    case RUN_COLUMN_NUMBER:
        return (double)run->run;
    case RUN_COLUMN_DEVICES:
        return run->device_count > 0 ? run->device_count : NAN;
    case RUN_COLUMN_ROWS:
        return run->train_rows;
    case RUN_COLUMN_BATCH:
        return run->batch;
    case RUN_COLUMN_LR:
        return run->lr;
    case RUN_COLUMN_EPOCHS:
        return run->epochs_done;
    case RUN_COLUMN_TEST_ACC:
        return run->test_acc;
    case RUN_COLUMN_BEST_ACC:
        return run->best_acc;
    case RUN_COLUMN_S_PER_EPOCH:
        return run->s_per_epoch;
    case RUN_COLUMN_SPEED:
        return run->samples_per_s;
    case RUN_COLUMN_SPEED_UP:
        return run->speed_up;
    case RUN_COLUMN_ENERGY:
        return run->energy_j;
    case RUN_COLUMN_SAMPLES_PER_J:
        return run->samples_per_j;
    case RUN_COLUMN_STATUS:
        return run->status != RUN_UNKNOWN ? (double)run->status : NAN;
    case RUN_COLUMN_STARTED:
        return run->started_at;
    default:
        return NAN;
    }
}

static int compare_text(const char *a, const char *b)
{
    if ((*a == '\0') != (*b == '\0'))
        return *a == '\0' ? 2 : -2;
    return strcasecmp(a, b) > 0 ? 1 : strcasecmp(a, b) < 0 ? -1 : 0;
}

/* Beyond 1 in either direction: one of the two is not known and comes last whatever the order. */
static int compare_values(const struct sort_key *a, const struct sort_key *b)
{
    bool known = isfinite(a->number), other = isfinite(b->number);
    if (known != other)
        return known ? -2 : 2;
    if (known && a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return compare_text(a->text, b->text);
}

/* The running run is above all others. */
static int compare(const struct sort_key *first, const struct sort_key *second, bool ascending)
{
    int order = compare_values(first, second);
    if (first->running != second->running)
        return first->running ? -1 : 1;
    if (!ascending && (order == 1 || order == -1))
        order = -order;
    return order != 0 ? order : second->index - first->index;
}

static int rising(const void *a, const void *b)
{
    return compare(a, b, true);
}

static int falling(const void *a, const void *b)
{
    return compare(a, b, false);
}

/* The keys of the runs that fit the filter; their count. */
static int make_keys(const struct run_list *list, const struct state *state, struct sort_key *keys)
{
    struct run_filter filter;
    int count = 0;
    run_filter_parse(&filter, list->filter);
    for (int i = 0; i < state->run_count; i++) {
        const struct state_run *run = &state->runs[i];
        if (run_filter_fits(&filter, run))
            keys[count++] = (struct sort_key){
                key_number(run, list->column),
                key_text(run, list->column),
                i,
                run->status == RUN_RUNNING || run->status == RUN_PAUSED,
            };
    }
    return count;
}

static bool is_fresh(const struct run_list *list, const struct state *state)
{
    return list->made && list->runs_version == state->runs_version &&
           list->made_column == list->column && list->made_ascending == list->ascending &&
           strcmp(list->made_filter, list->filter) == 0;
}

static bool make_room(struct run_list *list, int count, struct error *err)
{
    if (count <= list->capacity)
        return true;
    int *lines = realloc(list->lines, (size_t)count * sizeof *lines);
    if (!lines)
        return error_memory(err, "the list of runs");
    list->lines = lines;
    list->capacity = count;
    return true;
}

bool run_list_update(struct run_list *list, const struct state *state, struct error *err)
{
    if (is_fresh(list, state))
        return true;
    struct sort_key *keys = calloc((size_t)state->run_count + 1, sizeof *keys);
    if (!keys)
        return error_memory(err, "the list of runs");
    if (!make_room(list, state->run_count, err)) {
        free(keys);
        return false;
    }
    int count = make_keys(list, state, keys);
    qsort(keys, (size_t)count, sizeof *keys, list->ascending ? rising : falling);
    for (int i = 0; i < count; i++)
        list->lines[i] = keys[i].index;
    free(keys);
    list->count = count;
    list->made = true;
    list->runs_version = state->runs_version;
    list->made_column = list->column;
    list->made_ascending = list->ascending;
    memcpy(list->made_filter, list->filter, sizeof list->filter);
    return true;
}

const struct state_run *run_list_run(const struct run_list *list, const struct state *state,
                                     int line)
{
    /* Between new runs and the next update an index may lie outside. */
    if (line < 0 || line >= list->count || list->lines[line] >= state->run_count)
        return NULL;
    return &state->runs[list->lines[line]];
}

bool run_list_problem(const struct run_list *list, const struct state *state, char *buffer,
                      size_t size)
{
    struct run_filter filter;
    run_filter_parse(&filter, list->filter);
    return state->run_count > 0 && run_filter_problem(&filter, state, buffer, size);
}

int run_list_find(const struct run_list *list, const struct state *state, long run)
{
    const struct state_run *found = state_run(state, run);
    for (int i = 0; found && i < list->count; i++)
        if (list->lines[i] == found - state->runs)
            return i;
    return -1;
}

static bool is_text(enum run_column column)
{
    return column == RUN_COLUMN_MODEL || column == RUN_COLUMN_DATA ||
           column == RUN_COLUMN_STRATEGY || column == RUN_COLUMN_SPLIT ||
           column == RUN_COLUMN_SYNC || column == RUN_COLUMN_NOTE;
}

static bool is_time(enum run_column column)
{
    return column == RUN_COLUMN_NUMBER || column == RUN_COLUMN_STARTED;
}

void run_list_sort(struct run_list *list, enum run_column column)
{
    list->column = column;
    /* The least time and what is running come first; otherwise the highest values. */
    list->ascending = is_text(list->column) || list->column == RUN_COLUMN_S_PER_EPOCH ||
                      list->column == RUN_COLUMN_ENERGY || list->column == RUN_COLUMN_STATUS ||
                      list->column == RUN_COLUMN_DEVICES;
}

void run_list_next_column(struct run_list *list, const struct run_columns *shown)
{
    int at = 0;
    while (at < shown->count && shown->column[at] != list->column)
        at++;
    run_list_sort(list, shown->column[at < shown->count ? (at + 1) % shown->count : 0]);
}

const char *run_list_direction(const struct run_list *list)
{
    if (list->column == RUN_COLUMN_STATUS)
        return list->ascending ? "waiting first" : "ended first";
    if (list->column == RUN_COLUMN_DEVICES)
        return list->ascending ? "fewest first" : "most first";
    if (is_text(list->column))
        return list->ascending ? "from a to z" : "from z to a";
    if (is_time(list->column))
        return list->ascending ? "oldest first" : "newest first";
    return list->ascending ? "lowest first" : "highest first";
}

void run_list_free(struct run_list *list)
{
    free(list->lines);
    *list = (struct run_list){0};
}
