/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "command.h"
#include "format.h"
#include "run_pick.h"
#include "run_source.h"
#include "runs_change.h"
#include "table.h"

/* The list of runs; with a word for it in front, changes of runs (runs_change.h). */

static void add_run(struct table *table, const json_t *run)
{
    char text[FORMAT_SIZE], devices[60], epochs[2 * FORMAT_SIZE];
    table_cell(table, format_fixed(text, member_number(run, "run"), 0));
    table_cell(table, format_date(text, member_number(run, "submitted_at")));
    table_cell(table, member_text(run, "status"));
    table_cell(table, member_text(run, "model"));
    table_cell(table, member_text(run, "data"));
    table_cell(table, format_devices(devices, sizeof devices, run));
    table_cell(table, format_fixed(text, member_number(run, "batch"), 0));
    table_cell(table, format_general(text, member_number(run, "lr")));
    snprintf(epochs, sizeof epochs, "%.0f/%.0f", member_number(run, "epochs_done"),
             member_number(run, "epochs"));
    table_cell(table, epochs);
    table_cell(table, format_fixed(text, member_number(run, "test_acc"), 3));
    table_cell(table, format_seconds(text, member_number(run, "s_per_epoch")));
    table_cell(table, format_count(text, member_number(run, "samples_per_s")));
    table_cell(table, member_text(run, "note"));
}

static bool print_runs(const json_t *list, struct error *err)
{
    static const struct column columns[] = {
        {"RUN", true},    {"DATE", false},    {"STATUS", false}, {"MODEL", false},
        {"DATA", false},  {"DEVICES", false}, {"BATCH", true},   {"LR", true},
        {"EPOCHS", true}, {"TEST ACC", true}, {"S/EPOCH", true}, {"SAMPLES/S", true},
        {"NOTE", false}};
    struct table table;
    size_t index;
    json_t *run;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(list, index, run)
    {
        add_run(&table, run);
    }
    return table_end(&table, err);
}

static bool take_time(const struct invocation *invocation, const char *option, bool end,
                      double *out, struct error *err)
{
    const char *text = invocation_value(invocation, option);
    if (!text || run_pick_time(text, clock_date(), end, out, err))
        return true;
    return error_prefix(err, "--%s", option);
}

static bool take_filter(const struct invocation *invocation, struct text *words,
                        struct store_filter *filter, struct error *err)
{
    const char *limit = invocation_value(invocation, "limit");
    for (int i = 0; i < invocation->argument_count; i++)
        text_printf(words, "%s%s", i ? " " : "", invocation->arguments[i]);
    filter->model = invocation_value(invocation, "model");
    filter->data = invocation_value(invocation, "data");
    filter->devices = invocation_value(invocation, "devices");
    filter->status = invocation_value(invocation, "status");
    filter->tag = invocation_value(invocation, "tag");
    filter->words = text_cstr(words);
    if (!filter->words)
        return error_memory(err, "words");
    if (limit && !parse_long(limit, 1, 1000000, &filter->limit))
        return error_set(err, ERROR_USAGE, "--limit '%.40s' must be a whole number from 1", limit);
    return take_time(invocation, "since", false, &filter->since, err) &&
           take_time(invocation, "until", true, &filter->until, err);
}

/* What there is at all, and of that what suits the filter. */
static bool read_list(const struct store_filter *filter, const char *sort, json_t **list, bool *any,
                      struct error *err)
{
    struct run_source source;
    json_t *all = NULL;
    if (!run_source_open(&source, err))
        return false;
    bool ok = run_source_list(&source, &all, err);
    if (ok && source.unread.kind != ERROR_NONE)
        fprintf(stderr, "dpartui: only the engine's runs: %s\n", source.unread.text);
    run_source_close(&source);
    *any = json_array_size(all) > 0;
    for (size_t i = ok ? json_array_size(all) : 0; i-- > 0;)
        if (!run_pick_matches(json_array_get(all, i), filter))
            json_array_remove(all, i);
    if (ok && run_pick_sort(all, sort, filter->limit, err)) {
        *list = all;
        return true;
    }
    json_decref(all);
    return false;
}

static bool list_runs(struct invocation *invocation, struct error *err)
{
    struct store_filter filter = STORE_FILTER_INIT;
    struct text words = TEXT_INIT;
    json_t *list = NULL;
    bool any = false;
    bool ok = take_filter(invocation, &words, &filter, err) &&
              read_list(&filter, invocation_value(invocation, "sort"), &list, &any, err);
    text_free(&words);
    if (!ok)
        return false;
    if (invocation_has(invocation, "json"))
        print_json(list);
    else
        ok = print_runs(list, err);
    if (ok && json_array_size(list) == 0)
        fprintf(stderr, any ? "dpartui: no run is like that\n"
                            : "dpartui: there are no runs yet: 'dpartui train' makes one\n");
    json_decref(list);
    return ok;
}

static int run(struct invocation *invocation, struct error *err)
{
    const char *first = invocation->argument_count > 0 ? invocation->arguments[0] : "";
    runs_change *change = runs_change_named(first);
    bool ok = change ? change(invocation, err) : list_runs(invocation, err);
    return ok ? STATUS_DONE : STATUS_FAILED;
}

static const struct option options[] = {
    {"sort", OPTION_VALUE, "KEY", "acc, date, speed...; -acc: the highest first"},
    {"limit", OPTION_VALUE, "N", "at most N: the first by --sort, else the newest"},
    {"model", OPTION_VALUE, "NAME|FILE", "only of this network"},
    {"data", OPTION_VALUE, "NAME|DIR", "only on these data"},
    {"devices", OPTION_VALUE, "LIST", "only on these devices"},
    {"status", OPTION_VALUE, "STATUS", "only done, failed, interrupted..."},
    {"tag", OPTION_VALUE, "WORD", "only with this tag"},
    {"since", OPTION_VALUE, "TIME", "only later: 2026-11-20, '2026-11-20 14:30', 12h, 7d"},
    {"until", OPTION_VALUE, "TIME", "only until then"},
    {"yes", OPTION_FLAG, NULL, "delete: several at once"},
    OPTION_JSON,
    OPTIONS_END,
};

const struct command command_runs = {
    .name = "runs",
    .arguments = "[WORD...]",
    .forms = "delete|note|tag RUN...",
    .argument_max = ARGUMENTS_MAX,
    .dash_words = true,
    .summary = "List runs, or change what is kept of them",
    .details = "Of the words each must occur in a run's network, data, devices, status, note or\n"
               "tags. Runs are changed by\n"
               "  dpartui runs delete RUN...           forget them for good\n"
               "  dpartui runs note RUN TEXT           write a line to it; '': none\n"
               "  dpartui runs tag RUN [+]WORD|-WORD...  give it words to be found by, or take "
               "them\n",
    .options = options,
    .run = run,
};
