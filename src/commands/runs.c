/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "commands/list.h"
#include "commands/runs_change.h"
#include "completion/argument.h"
#include "events/device_names.h"
#include "events/row_counts.h"
#include "events/strategy.h"
#include "output/table.h"
#include "runs/pick.h"
#include "runs/source.h"
#include "store/list.h"

/* The list of runs; with a word for it in front, changes of runs (runs_change.h). */

/* Columns that some list has nothing to say in. */
struct extra {
    bool validates;  /* some run has validation rows */
    bool some_rows;  /* some run does not use all rows */
    bool strategies; /* some run's devices do not divide the rows */
    bool energy;     /* it was asked for */
};

/* Its tags, each after a '#', and its note. */
static void add_words(struct table *table, const json_t *run)
{
    const char *note = member_string(run, "note");
    struct text words = TEXT_INIT;
    size_t index;
    json_t *tag;
    json_array_foreach(json_object_get(run, "tags"), index, tag)
    {
        text_printf(&words, "%s#%s", index > 0 ? " " : "", json_string_value(tag));
    }
    if (note[0] != '\0')
        text_printf(&words, "%s%s", words.length > 0 ? " " : "", note);
    const char *all = words.length > 0 ? text_cstr(&words) : "-";
    table_cell(table, all ? all : "");
    table->failed |= words.failed;
    text_free(&words);
}

static void add_run(struct table *table, const json_t *run, const struct extra *extra)
{
    struct figure text;
    char devices[60], epochs[100], rows[100];
    table_cell(table, figure_whole(&text, member_number(run, "run")));
    table_cell(table, figure_date(&text, member_number(run, "submitted_at")));
    table_cell(table, member_text(run, "status"));
    table_cell(table, member_text(run, "model"));
    table_cell(table, member_text(run, "data"));
    if (extra->some_rows)
        table_cell(table, row_counts_text(member_number(run, "train_rows"),
                                          member_number(run, "test_rows"), rows, sizeof rows));
    table_cell(table, run_devices_short(devices, sizeof devices, run));
    if (extra->strategies)
        table_cell(table, member_text(run, "strategy"));
    table_cell(table, figure_whole(&text, member_number(run, "batch")));
    table_cell(table, figure_digits(&text, member_number(run, "lr"), 6));
    snprintf(epochs, sizeof epochs, "%.0f/%.0f", member_number(run, "epochs_done"),
             member_number(run, "epochs"));
    table_cell(table, epochs);
    if (extra->validates)
        table_cell(table, figure_fixed(&text, member_number(run, "val_acc"), 3));
    table_cell(table, figure_fixed(&text, member_number(run, "test_acc"), 3));
    table_cell(table, figure_seconds(&text, member_number(run, "s_per_epoch")));
    table_cell(table, figure_count(&text, member_number(run, "samples_per_s")));
    if (extra->energy) {
        table_cell(table, figure_count(&text, member_number(run, "energy_j")));
        table_cell(table, figure_count(&text, member_number(run, "samples_per_j")));
    }
    add_words(table, run);
}

static struct extra extra_of(const json_t *list, bool energy)
{
    struct extra extra = {.energy = energy};
    size_t index;
    json_t *run;
    json_array_foreach(list, index, run)
    {
        extra.validates |= json_is_number(json_object_get(run, "val_acc"));
        extra.some_rows |= json_is_number(json_object_get(run, "train_rows")) ||
                           json_is_number(json_object_get(run, "test_rows"));
        extra.strategies |= *strategy_worth_telling(member_string(run, "strategy")) != '\0';
    }
    return extra;
}

/* Does the list have the column? */
static bool is_shown(const struct extra *extra, const char *title)
{
    if (strcmp(title, "VAL ACC") == 0)
        return extra->validates;
    if (strcmp(title, "ROWS") == 0)
        return extra->some_rows;
    if (strcmp(title, "STRATEGY") == 0)
        return extra->strategies;
    return extra->energy || (strcmp(title, "J/EPOCH") != 0 && strcmp(title, "SAMPLES/J") != 0);
}

static bool print_runs(const json_t *list, bool energy, struct error *err)
{
    static const struct column columns[] = {
        {"RUN", true},       {"DATE", false},   {"STATUS", false},   {"MODEL", false},
        {"DATA", false},     {"ROWS", true},    {"DEVICES", false},  {"STRATEGY", false},
        {"BATCH", true},     {"LR", true},      {"EPOCHS", true},    {"VAL ACC", true},
        {"TEST ACC", true},  {"S/EPOCH", true}, {"SAMPLES/S", true}, {"J/EPOCH", true},
        {"SAMPLES/J", true}, {"NOTE", false}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const struct extra extra = extra_of(list, energy);
    struct column shown[COLUMNS];
    size_t count = 0;
    struct table table;
    size_t index;
    json_t *run;
    for (size_t i = 0; i < COLUMNS; i++)
        if (is_shown(&extra, columns[i].title))
            shown[count++] = columns[i];
    table_begin(&table, shown, count);
    json_array_foreach(list, index, run)
    {
        add_run(&table, run, &extra);
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

/* "cpu:0,cpu:1" is the same as "cpu:0-1". */
static bool take_devices(const char *asked, struct text *devices, struct error *err)
{
    struct device_list list;
    struct error ignored = ERROR_INIT;
    char *usual = device_list_parse(asked, &list, &ignored) ? device_list_text(&list) : NULL;
    text_puts(devices, usual ? usual : asked);
    free(usual);
    return text_cstr(devices) || error_memory(err, "devices");
}

/* One of those that runs can have. */
static bool check_status(const char *status, struct error *err)
{
    static const struct option option = {"status", OPTION_VALUE, "STATUS", ""};
    struct argument known;
    struct text all = TEXT_INIT;
    if (!status || !argument_of_option(&option, &known))
        return true;
    for (size_t i = 0; i < known.count; i++) {
        if (strcasecmp(status, known.words[i]) == 0) {
            text_free(&all);
            return true;
        }
        text_printf(&all, "%s%s", i ? ", " : "", known.words[i]);
    }
    const char *list = text_cstr(&all);
    error_set(err, ERROR_USAGE, "--status '%.40s' must be one of %s", status,
              list ? list : "those in the manual");
    text_free(&all);
    return false;
}

static bool take_filter(const struct invocation *invocation, struct text *words,
                        struct text *devices, struct store_filter *filter, struct error *err)
{
    const char *limit = invocation_value(invocation, "limit");
    const char *asked = invocation_value(invocation, "devices");
    for (int i = 0; i < invocation->argument_count; i++)
        text_printf(words, "%s%s", i ? " " : "", invocation->arguments[i]);
    filter->model = invocation_value(invocation, "model");
    filter->data = invocation_value(invocation, "data");
    if (asked && !take_devices(asked, devices, err))
        return false;
    filter->devices = asked ? text_cstr(devices) : NULL;
    filter->status = invocation_value(invocation, "status");
    filter->tag = invocation_value(invocation, "tag");
    if (!check_status(filter->status, err))
        return false;
    filter->words = text_cstr(words);
    if (!filter->words)
        return error_memory(err, "words");
    if (limit && !parse_long(limit, 1, 1000000, &filter->limit))
        return error_set(err, ERROR_USAGE,
                         "--limit '%.40s' must be a whole number from 1 to 1000000", limit);
    return take_time(invocation, "since", false, &filter->since, err) &&
           take_time(invocation, "until", true, &filter->until, err);
}

/* *any: is there any run, also where none suits the filter? */
static bool read_list(const struct store_filter *filter, json_t **list, bool *any,
                      struct error *err)
{
    struct run_source source;
    if (!run_source_open(&source, err))
        return false;
    bool ok = run_source_list(&source, filter, list, err);
    *any = ok && json_array_size(*list) > 0;
    ok = ok && (*any || run_source_any(&source, any, err));
    if (ok)
        run_source_complain(&source);
    run_source_close(&source);
    return ok;
}

static bool list_runs(struct invocation *invocation, struct error *err)
{
    struct store_filter filter = STORE_FILTER_INIT;
    struct text words = TEXT_INIT, devices = TEXT_INIT;
    const char *sort = invocation_value(invocation, "sort");
    json_t *list = NULL;
    bool any = false, compares = false;
    bool ok = (!sort || run_pick_key_named(sort, &filter, err)) &&
              take_filter(invocation, &words, &devices, &filter, err) &&
              read_list(&filter, &list, &any, err);
    if (ok)
        compares = strpbrk(filter.words, "=<>");
    text_free(&words);
    text_free(&devices);
    if (!ok)
        return false;
    if (invocation_has(invocation, "json"))
        print_json(list);
    else
        ok = print_runs(list, invocation_has(invocation, "energy"), err);
    if (ok && json_array_size(list) == 0)
        print_to(stderr, "dpartui: %s\n",
                 !any       ? "there are no runs yet: 'dpartui train' makes one"
                 : compares ? "no run matches: comparisons are for the workbench's filter; here "
                              "words are searched, and --model, --status, --tag... choose"
                            : "no run matches");
    json_decref(list);
    return ok;
}

static bool run(struct invocation *invocation, struct error *err)
{
    const char *first = invocation->argument_count > 0 ? invocation->arguments[0] : "";
    runs_change *change = runs_change_named(first);
    return change ? change(invocation, err) : list_runs(invocation, err);
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
    {"energy", OPTION_FLAG, NULL, "with joules per epoch and samples per joule"},
    {"yes", OPTION_FLAG, NULL, "delete: several at once"},
    OPTION_JSON,
    OPTIONS_END,
};

const struct command command_runs = {
    .name = "runs",
    .place = PLACE_THERE,
    .arguments = "[WORD...]",
    .forms = "delete|note|tag|repair RUN...",
    .argument_max = ARGUMENTS_ANY,
    .dash_words = true,
    .summary = "List runs, or change what is kept of them",
    .details = "Of the words each must occur in a run's network, data, devices, status, note or\n"
               "tags. Runs are changed by\n"
               "  dpartui runs delete RUN...           delete them for good\n"
               "  dpartui runs note RUN TEXT           write a line to it; '': none\n"
               "  dpartui runs tag RUN [+]WORD|-WORD...  give it words to be found by, or take "
               "them\n"
               "  dpartui runs repair [FILE]           rebuild the damaged store from what can be\n"
               "                                       read of it, or add the runs of FILE to it\n",
    .options = options,
    .run = run,
};
