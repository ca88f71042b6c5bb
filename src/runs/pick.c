/* SPDX-License-Identifier: MIT */
#include "runs/pick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"
#include "events/device_names.h"
#include "store/list.h"

static bool has_tag(const json_t *run, const char *asked)
{
    const json_t *tags = json_object_get(run, "tags");
    for (size_t i = 0; i < json_array_size(tags); i++) {
        const char *tag = json_string_value(json_array_get(tags, i));
        if (tag && strcasecmp(tag, asked) == 0)
            return true;
    }
    return false;
}

/* Each of the words occurs somewhere in what a run is known by. */
static bool has_words(const json_t *run, const char *devices, const char *words)
{
    static const char *const keys[] = {"model", "data", "status", "note"};
    const json_t *tags = json_object_get(run, "tags");
    struct text all = TEXT_INIT;
    text_puts(&all, devices ? devices : "");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        text_printf(&all, " %s", member_text(run, keys[i]));
    for (size_t i = 0; i < json_array_size(tags); i++)
        text_printf(&all, " %s", json_string_value(json_array_get(tags, i)));
    const char *text = text_cstr(&all);
    bool found = text != NULL;
    for (const char *at = words; found && *(at += strspn(at, " "));) {
        char word[256];
        size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        found = strcasestr(text, word) != NULL;
        at += length;
    }
    text_free(&all);
    return found;
}

static bool same_text(const json_t *run, const char *key, const char *asked)
{
    return !asked || strcasecmp(member_text(run, key), asked) == 0;
}

bool run_pick_matches(const json_t *run, const struct store_filter *filter)
{
    double submitted = member_number(run, "submitted_at");
    if (!same_text(run, "model", filter->model) || !same_text(run, "data", filter->data) ||
        !same_text(run, "status", filter->status) || (filter->tag && !has_tag(run, filter->tag)) ||
        (isfinite(filter->since) && !(submitted >= filter->since)) ||
        (isfinite(filter->until) && !(submitted < filter->until)))
        return false;
    char *devices = run_devices_text(run);
    bool matches = (!filter->devices || (devices && strcasecmp(devices, filter->devices) == 0)) &&
                   (!filter->words || has_words(run, devices, filter->words));
    free(devices);
    return matches;
}

/* What each key sorts by, as store_list has it: a number of the run object, or a text. */
static const struct sort_key {
    const char *name, *member;
    bool text;
} sort_keys[] = {
    {"run", "run", false},
    {"date", "submitted_at", false},
    {"status", "status", true},
    {"model", "model", true},
    {"data", "data", true},
    {"batch", "batch", false},
    {"lr", "lr", false},
    {"epochs", "epochs_done", false},
    {"acc", "test_acc", false},
    {"best", "best_test_acc", false},
    {"seconds", "s_per_epoch", false},
    {"speed", "samples_per_s", false},
    {"note", "note", true},
    {"devices", "devices", false},
};
enum { SORT_KEYS = sizeof sort_keys / sizeof *sort_keys };

const char *run_pick_key(size_t index)
{
    return index < SORT_KEYS ? sort_keys[index].name : NULL;
}

static const struct sort_key *key_of(const char *member)
{
    for (size_t i = 0; i < SORT_KEYS; i++)
        if (strcmp(sort_keys[i].member, member) == 0)
            return &sort_keys[i];
    return NULL;
}

bool run_pick_key_named(const char *text, struct store_filter *filter, struct error *err)
{
    const char *names[SORT_KEYS], *name = text + (*text == '-');
    struct text all = TEXT_INIT;
    filter->descending = name != text;
    for (size_t i = 0; i < SORT_KEYS; i++)
        if (strcmp(sort_keys[i].name, name) == 0) {
            filter->sort = sort_keys[i].member;
            return true;
        }
    for (size_t i = 0; i < SORT_KEYS; i++) {
        names[i] = sort_keys[i].name;
        text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = nearest_name(name, names, SORT_KEYS), *list = text_cstr(&all);
    error_set(err, ERROR_USAGE, "--sort '%.40s': %s %s", name,
              near ? "did you mean" : "it is one of",
              near   ? near
              : list ? list
                     : "those in the manual");
    text_free(&all);
    return false;
}

struct sortable {
    json_t *run;
    json_int_t run_number;
    double number; /* NAN: not known */
    const char *text;
    int direction;
};

static struct sortable make_sortable(json_t *run, const struct sort_key *key, int direction)
{
    struct sortable made = {.run = run, .direction = direction, .number = NAN};
    made.run_number = json_integer_value(json_object_get(run, "run"));
    if (strcmp(key->member, "devices") == 0)
        made.number = (double)json_array_size(json_object_get(run, "devices"));
    else if (key->text)
        made.text = json_string_value(json_object_get(run, key->member));
    else if (strcmp(key->member, "best_test_acc") == 0 &&
             json_is_number(json_object_get(run, "best_val_acc")))
        made.number = member_number(run, "best_val_acc");
    else
        made.number = member_number(run, key->member);
    return made;
}

static int compare(const void *left, const void *right)
{
    const struct sortable *a = left, *b = right;
    bool a_known = a->text || isfinite(a->number), b_known = b->text || isfinite(b->number);
    int order = 0;
    if (a_known != b_known)
        return a_known ? -1 : 1;
    if (a->text && b->text)
        order = strcasecmp(a->text, b->text);
    else if (a_known)
        order = (a->number > b->number) - (a->number < b->number);
    if (order)
        return order * a->direction;
    return a->run_number < b->run_number ? -1 : 1;
}

static bool sort(json_t *runs, const struct sort_key *key, int direction, struct error *err)
{
    size_t count = json_array_size(runs);
    struct sortable *list = calloc(count ? count : 1, sizeof *list);
    if (!list)
        return error_memory(err, "sorted runs");
    for (size_t i = 0; i < count; i++)
        list[i] = make_sortable(json_incref(json_array_get(runs, i)), key, direction);
    qsort(list, count, sizeof *list, compare);
    for (size_t i = 0; i < count; i++)
        json_array_set_new(runs, i, list[i].run);
    free(list);
    return true;
}

bool run_pick_sort(json_t *runs, const struct store_filter *filter, struct error *err)
{
    const struct sort_key *key = key_of(filter->sort ? filter->sort : "run");
    if (!key || !sort(runs, key, filter->descending ? -1 : 1, err))
        return false;
    while (filter->limit > 0 && json_array_size(runs) > (size_t)filter->limit)
        json_array_remove(runs, filter->sort ? json_array_size(runs) - 1 : 0);
    return true;
}

/* "7d" as seconds. */
static bool parse_span(const char *text, double *seconds)
{
    static const struct {
        char unit;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400.0}};
    size_t length = strlen(text);
    char number[24];
    if (length < 2 || length >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)length - 1, text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text[length - 1] == units[i].unit && parse_double(number, 0, 1e6, seconds)) {
            *seconds *= units[i].seconds;
            return true;
        }
    return false;
}

static bool parse_date(const char *text, bool end, double *out)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm date = {.tm_isdst = -1};
        const char *rest = strptime(text, forms[i], &date);
        if (!rest || *rest)
            continue;
        int day = date.tm_mday;
        time_t seconds = mktime(&date);
        /* mktime takes the 31st of November for the first of December: that is no such day. */
        if (seconds == -1 || date.tm_mday != day)
            return false;
        if (end && i == 0) {
            date.tm_mday++;
            date.tm_isdst = -1;
            seconds = mktime(&date);
        }
        *out = (double)seconds;
        return true;
    }
    return false;
}

bool run_pick_time(const char *text, double now, bool end, double *out, struct error *err)
{
    double span;
    if (parse_span(text, &span)) {
        *out = now - span;
        return true;
    }
    return parse_date(text, end, out) ||
           error_set(err, ERROR_USAGE,
                     "'%.40s' is no time: 2026-11-20, '2026-11-20 14:30', or 30m, 12h, 7d, 2w ago",
                     text);
}
