/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/file.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "client/session.h"
#include "commands/compare_options.h"
#include "commands/display.h"
#include "commands/list.h"
#include "output/table.h"
#include "spec/json.h"
#include "study/export.h"
#include "study/file.h"
#include "study/forecast.h"
#include "study/json.h"
#include "study/print.h"
#include "study/train.h"

static bool write_svg(const struct study_table *table, const char *path, struct error *err)
{
    struct text text = TEXT_INIT;
    study_table_svg(table, &text);
    return file_write(path, &text, err);
}

static bool print_csv(const struct study_table *table, struct error *err)
{
    struct text text = TEXT_INIT;
    study_table_csv(table, &text);
    const char *lines = text_cstr(&text);
    bool ok = lines || error_memory(err, "table");
    if (ok)
        fputs(lines, stdout);
    text_free(&text);
    return ok;
}

/* What was measured in the form that was asked for, and the picture; all the same where it is not
 * enough to predict from, which is said last. */
static bool give_out(struct invocation *invocation, const struct study *study,
                     const struct study_run *runs, struct study_forecast *forecast,
                     struct error *err)
{
    struct study_table *table = calloc(1, sizeof *table);
    struct error fault = ERROR_INIT;
    const char *picture = invocation_value(invocation, "svg");
    bool ok = (table || error_memory(err, "table")) && study_tabulate(study, runs, table, err);
    if (ok && !study_forecast_make(forecast, table, &fault))
        forecast->count = 0;
    if (ok && invocation_has(invocation, "json"))
        ok = print_json_made(study_forecast_put(forecast, study_table_json(table, runs)), "table",
                             err);
    else if (ok && invocation_has(invocation, "csv"))
        ok = print_csv(table, err);
    else if (ok)
        ok = study_print_table(table, err) && study_forecast_print(forecast, err);
    if (ok && picture)
        ok = write_svg(table, picture, err);
    free(table);
    if (ok)
        *err = fault;
    return ok && fault.kind == ERROR_NONE;
}

/* Where the lines go; NULL: there is a live one on standard output. */
static FILE *lines_of(struct invocation *invocation)
{
    bool data = invocation_has(invocation, "json") || invocation_has(invocation, "csv");
    if (data)
        return stderr;
    return display_choose(false) == DISPLAY_TERMINAL ? NULL : stdout;
}

/* Where there is no table, whose foot says it. */
static void say_left(const struct study *study, enum study_ending ending, bool has_table)
{
    fflush(stdout);
    if (ending == STUDY_LEFT)
        print_to(stderr, "dpartui: left; the current run continues\n");
    if (ending != STUDY_ENDED && !has_table)
        print_to(
            stderr, "dpartui: %d of %d run%s not done: 'dpartui compare --resume %s' continues\n",
            study_unfinished(study), study->entry_count, plural(study->entry_count), study->id);
}

/* Train what the study lacks, and print what it measured. */
static bool train(struct invocation *invocation, struct study *study,
                  struct study_forecast *forecast, struct error *err)
{
    struct run_source source = {.client = NULL};
    struct study_run *runs = NULL;
    enum study_ending ending = STUDY_ENDED;
    FILE *lines = lines_of(invocation);
    bool ok = run_source_open_live(&source, err);
    ok = ok && study_source_runs(&source, study, &runs, err);
    if (ok) {
        print_to(lines ? lines : stdout, "comparison %s: %d of %d run%s to train\n", study->id,
                 study_unfinished(study), study->entry_count, plural(study->entry_count));
        ok = study_train(study, &source, runs, lines, &ending, err);
        if (!ok)
            error_prefix(err, "comparison %s (--resume %s continues it)", study->id, study->id);
    }
    if (ok)
        ok = give_out(invocation, study, runs, forecast, err);
    if (ok)
        say_left(study, ending, lines != stderr);
    study_runs_free(study, runs);
    run_source_close(&source);
    return ok && study_count(study, STUDY_DONE) == study->entry_count;
}

/* Weak scaling takes the largest run to the highest rate at once, unless its spec, resolved with
 * the model's recipe, has a warm-up. */
static bool advise_warmup(struct client *client, const struct study *study, struct error *err)
{
    const struct study_variant *last = &study->variants[study->variant_count - 1];
    json_t *resolved = NULL;
    struct spec spec;
    if (study->kind != STUDY_DEVICES || study->scaling != SCALING_WEAK ||
        !(last->lr > study->variants[0].lr))
        return true;
    spec_init(&spec);
    bool ok =
        client_call(client, "check", json_deep_copy(last->spec), SESSION_SECONDS, &resolved, err) &&
        spec_from_json(&spec, resolved, err);
    if (ok && lr_begins_highest(&spec.schedule))
        print_to(stderr,
                 "dpartui: lr grows to %g with the devices, from the first step on: --warmup 1 may "
                 "help\n",
                 last->lr);
    spec_free(&spec);
    json_decref(resolved);
    return ok;
}

static bool start(struct invocation *invocation, struct study_forecast *forecast, struct error *err)
{
    struct client *client = NULL;
    struct study study = {.variant_count = 0};
    struct study_lock lock = STUDY_LOCK_INIT;
    bool ok = session_open(&invocation->remote, &client, err) &&
              study_of_options(invocation, client, &study, err) &&
              study_forecast_check(forecast, &study, err) && advise_warmup(client, &study, err) &&
              study_claim(&study, &lock, err) && study_save(&study, err) &&
              train(invocation, &study, forecast, err);
    study_release(&lock);
    study_free(&study);
    client_close(client);
    return ok;
}

static bool resume(struct invocation *invocation, const char *id, struct study_forecast *forecast,
                   struct error *err)
{
    struct client *client = NULL;
    struct study study = {.variant_count = 0};
    struct study_lock lock = STUDY_LOCK_INIT;
    bool ok = study_take(id, &lock, err) && study_load(id, &study, err) &&
              study_forecast_check(forecast, &study, err) &&
              session_open(&invocation->remote, &client, err) &&
              train(invocation, &study, forecast, err);
    study_release(&lock);
    study_free(&study);
    client_close(client);
    return ok;
}

static bool show(struct invocation *invocation, const char *id, struct study_forecast *forecast,
                 struct error *err)
{
    struct study study = {.variant_count = 0};
    struct run_source source = {.client = NULL};
    struct study_run *runs = NULL;
    bool ok = study_load(id, &study, err) && run_source_open(&source, err) &&
              study_source_runs(&source, &study, &runs, err) &&
              give_out(invocation, &study, runs, forecast, err);
    study_runs_free(&study, runs);
    run_source_close(&source);
    study_free(&study);
    return ok;
}

static bool give_out_range(struct invocation *invocation, const struct range_run *test,
                           struct error *err)
{
    if (invocation_has(invocation, "csv")) {
        range_print_csv(test);
        return true;
    }
    return invocation_has(invocation, "json") ? print_json_made(range_json(test), "steps", err)
                                              : range_print(test, err);
}

static bool try_range(struct invocation *invocation, struct error *err)
{
    struct range_run test = {.from = 0};
    struct client *client = NULL;
    bool data = invocation_has(invocation, "json") || invocation_has(invocation, "csv");
    json_t *params = range_of_options(invocation, &test, err);
    if (!params)
        return false;
    if (!session_open(&invocation->remote, &client, err)) {
        json_decref(params);
        return false;
    }
    bool ok = range_train(&test, client, params, !data && display_choose(false) == DISPLAY_TERMINAL,
                          err) &&
              give_out_range(invocation, &test, err);
    if (ok && test.failure[0])
        print_to(stderr, "dpartui: run %ld failed: %s\n", test.run, test.failure);
    bool done = ok && !test.failure[0] && !test.interrupted;
    range_run_free(&test);
    client_close(client);
    return done;
}

static void add_count(struct table *table, int count)
{
    struct figure text;
    table_cell(table, figure_whole(&text, count));
}

static void add_study(struct table *table, const struct study *study)
{
    struct figure date, title;
    char done[40];
    table_cell(table, study->id);
    table_cell(table, figure_date(&date, study->created));
    table_cell(table, study_title(study, &title));
    add_count(table, study->variant_count);
    add_count(table, study->repeats);
    snprintf(done, sizeof done, "%d/%d", study_count(study, STUDY_DONE), study->entry_count);
    table_cell(table, done);
    add_count(table, study_count(study, STUDY_FAILED));
}

/* All studies, in their order. One that cannot be read is reported and left out. */
static bool visit_studies(bool (*visit)(const struct study *study, void *context), void *context,
                          struct error *err)
{
    json_t *ids = NULL, *entry;
    size_t index;
    if (!study_ids(&ids, err))
        return false;
    json_array_foreach(ids, index, entry)
    {
        struct study study;
        struct error bad = ERROR_INIT;
        char id[16];
        snprintf(id, sizeof id, "%d", (int)json_integer_value(entry));
        if (!study_load(id, &study, &bad)) {
            print_to(stderr, "dpartui: %s\n", bad.text);
            continue;
        }
        bool ok = visit(&study, context);
        study_free(&study);
        if (!ok) {
            json_decref(ids);
            return error_memory(err, "comparisons");
        }
    }
    json_decref(ids);
    return true;
}

static bool add_object(const struct study *study, void *context)
{
    return json_array_append_new(context, study_to_json(study)) == 0;
}

static bool add_line(const struct study *study, void *context)
{
    add_study(context, study);
    return true; /* the table remembers */
}

static bool list(struct invocation *invocation, struct error *err)
{
    static const struct column columns[] = {{"ID", true},       {"BEGUN", false},  {"OF", false},
                                            {"VARIANTS", true}, {"REPEATS", true}, {"DONE", true},
                                            {"FAILED", true}};
    bool ok;
    if (invocation_has(invocation, "json")) {
        json_t *all = json_array();
        ok = all ? visit_studies(add_object, all, err) : error_memory(err, "comparisons");
        if (ok)
            print_json(all);
        json_decref(all);
    } else {
        struct table table;
        struct error ignored = ERROR_INIT;
        table_begin(&table, columns, sizeof columns / sizeof *columns);
        ok = visit_studies(add_line, &table, err);
        ok = table_end(&table, ok ? err : &ignored) && ok;
    }
    return ok;
}

/* Options that only make sense for a new comparison, or for the results of one. */
static bool check_alone(struct invocation *invocation, const char *name, struct error *err)
{
    static const char *const of_list[] = {"list", "json", NULL};
    static const char *const of_results[] = {"resume", "show", "json",    "csv",
                                             "svg",    "link", "predict", NULL};
    const char *const *allowed = strcmp(name, "list") == 0 ? of_list : of_results;
    const struct option *options = invocation->command->options;
    for (size_t i = 0; options[i].name; i++) {
        bool known = false;
        for (size_t j = 0; allowed[j]; j++)
            known |= strcmp(options[i].name, allowed[j]) == 0;
        if (!known && invocation->values[i])
            return error_set(err, ERROR_USAGE, "--%s has no meaning with --%s", options[i].name,
                             name);
    }
    return true;
}

static bool run(struct invocation *invocation, struct error *err)
{
    static const char *const modes[] = {"resume", "show", "list", "lr-range"};
    const char *mode = NULL;
    struct study_forecast forecast;
    if (invocation_has(invocation, "json") && invocation_has(invocation, "csv"))
        return error_set(err, ERROR_USAGE, "--json and --csv exclude each other");
    if (invocation_has(invocation, "predict") && invocation_has(invocation, "csv"))
        return error_set(err, ERROR_USAGE, "--csv has no predictions: --json has them");
    if (!study_forecast_read(&forecast, invocation_value(invocation, "predict"),
                             invocation_value(invocation, "link"), err))
        return false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!invocation_has(invocation, modes[i]))
            continue;
        if (mode)
            return error_set(err, ERROR_USAGE, "--%s and --%s exclude each other", mode, modes[i]);
        mode = modes[i];
    }
    if (!mode)
        return start(invocation, &forecast, err);
    if (strcmp(mode, "lr-range") == 0)
        return try_range(invocation, err);
    if (!check_alone(invocation, mode, err))
        return false;
    if (strcmp(mode, "list") == 0)
        return list(invocation, err);
    const char *id = invocation_value(invocation, mode);
    return strcmp(mode, "show") == 0 ? show(invocation, id, &forecast, err)
                                     : resume(invocation, id, &forecast, err);
}

static const struct option options[] = {
    {"devices-counts", OPTION_VALUE, "N,...", "compare the first N of the devices [1,2,4...]"},
    {"hosts-counts", OPTION_VALUE, "N,...", "compare the first N of the hosts, with their devices"},
    {"devices-list", OPTION_VALUE, "LIST;...", "compare these lists of devices"},
    {"strategies", OPTION_VALUE, "data,pipeline,tensor,mixed",
     "all devices with each of these, and one alone"},
    {"scaling", OPTION_VALUE, "strong|weak",
     "the same batch, or batch and lr in proportion to the devices [strong]"},
    {"repeats", OPTION_VALUE, "N", "runs of each, with fresh seeds, interleaved [1]"},
    {"target-acc", OPTION_VALUE, "X", "also measure the seconds to this test accuracy"},
    {"predict", OPTION_VALUE, "N,...", "the speed of numbers of devices that are not trained"},
    {"link", OPTION_VALUE, "SPEED", "for it: what the devices' link carries, such as 450GB/s"},
    {"lr-range", OPTION_VALUE, "X:Y", "one short run in which lr rises, and a rate to try"},
    OPTIONS_PLACE,
    OPTIONS_PACE,
    OPTIONS_TRAINING,
    {"list", OPTION_FLAG, NULL, "list all comparisons"},
    {"show", OPTION_VALUE, "ID", "print what one measured, without training"},
    {"resume", OPTION_VALUE, "ID", "train the runs that one lacks"},
    {"svg", OPTION_VALUE, "FILE", "draw speed and accuracy"},
    {"csv", OPTION_FLAG, NULL, "print comma-separated values"},
    OPTION_JSON,
    OPTIONS_END,
};

const struct command command_compare = {
    .name = "compare",
    .place = PLACE_THERE_TERMINAL,
    .lists = true,
    .summary = "Train with several numbers of devices, strategies or other settings, and compare",
    .details =
        "One or two settings with several values each, as in --batch 128,256 --lr 0.05,0.1,\n"
        "are compared in all combinations; --strategies data,pipeline,tensor,mixed ways to use\n"
        "the same devices. The runs go to the background engine one by one.\n"
        "Ctrl-C once ends the comparison after the current step and keeps what is done;\n"
        "--resume continues it. The exit status is 0 when all runs are done.\n",
    .options = options,
    .run = run,
};
