/* SPDX-License-Identifier: MIT */
#include "study/forecast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "output/table.h"
#include "study/export.h"

/* Of a sentence, and of what is assumed. */
enum { WORDS = 400 };

static bool read_counts(struct study_forecast *asked, const char *text, struct error *err)
{
    for (const char *at = text; at;) {
        const size_t length = strcspn(at, ",");
        char part[8];
        long count;
        snprintf(part, sizeof part, "%.*s", (int)length, at);
        if (length >= sizeof part || !parse_long(part, 2, SPEC_MAX_DEVICES, &count))
            return error_set(err, ERROR_USAGE,
                             "--predict '%.60s' must be whole numbers from 2 to %d with commas "
                             "between",
                             text, SPEC_MAX_DEVICES);
        if (asked->count == STUDY_FORECASTS)
            return error_set(err, ERROR_USAGE, "--predict: at most %d numbers", STUDY_FORECASTS);
        asked->counts[asked->count++] = (int)count;
        at = at[length] ? at + length + 1 : NULL;
    }
    return true;
}

static bool read_link(struct study_forecast *asked, const char *text, struct error *err)
{
    static const struct {
        const char *name;
        double bytes_per_s;
    } units[] = {{"GB/s", 1e9}, {"MB/s", 1e6}, {"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}};
    const size_t length = strspn(text, "0123456789.");
    char number[24];
    double value = 0;
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text + length, units[i].name) == 0 && length < sizeof number &&
            parse_double(number, 0, 1e9, &value) && value > 0) {
            asked->bandwidth = value * units[i].bytes_per_s;
            return true;
        }
    return error_set(err, ERROR_USAGE,
                     "--link '%.40s' must be a speed, such as 450GB/s, 900MB/s or 25Gbit/s", text);
}

bool study_forecast_read(struct study_forecast *asked, const char *counts, const char *link,
                         struct error *err)
{
    *asked = (struct study_forecast){.bandwidth = NAN};
    if (link && !counts)
        return error_set(err, ERROR_USAGE, "--link is for --predict");
    return read_counts(asked, counts, err) && (!link || read_link(asked, link, err));
}

bool study_forecast_check(struct study_forecast *asked, const struct study *study,
                          struct error *err)
{
    struct study_run *none = calloc((size_t)study->entry_count + 1, sizeof *none);
    struct study_table *table = malloc(sizeof *table);
    bool ok = asked->count == 0 || (none && table) || error_memory(err, "predictions");
    if (ok && asked->count > 0) {
        ok = study_tabulate(study, none, table, err) &&
             forecast_of_study(&asked->basis, table, asked->bandwidth, true, err);
        for (int i = 0; ok && i < asked->count; i++)
            ok = forecast_check(&asked->basis, asked->counts[i], err);
    }
    free(none);
    free(table);
    return ok;
}

bool study_forecast_make(struct study_forecast *asked, const struct study_table *table,
                         struct error *err)
{
    bool ok =
        asked->count == 0 || forecast_of_study(&asked->basis, table, asked->bandwidth, false, err);
    for (int i = 0; ok && i < asked->count; i++)
        ok = forecast_make(&asked->basis, asked->counts[i], &asked->forecasts[i], err);
    return ok;
}

static const char *limit_of(const struct forecast *forecast)
{
    return forecast->limit == CAUSES ? "-" : loss_name(forecast->limit);
}

static void add_row(struct table *out, const struct forecast *forecast)
{
    const struct outcome *outcome = &forecast->outcome;
    struct figure text;
    char range[2 * sizeof text];
    table_cell(out, figure_whole(&text, forecast->count));
    table_cell(out, figure_whole(&text, forecast->batch));
    table_cell(out, figure_whole(&text, outcome->rows));
    table_cell(out, figure_seconds(&text, outcome->s_per_epoch.median));
    table_cell(out, spread_range(&outcome->s_per_epoch, figure_seconds, range, sizeof range));
    table_cell(out, figure_count(&text, outcome->samples_per_s.median));
    table_cell(out, spread_range(&outcome->samples_per_s, figure_count, range, sizeof range));
    table_cell(out, figure_times(&text, outcome->speed_up));
    table_cell(out, figure_efficiency(&text, outcome->efficiency));
    table_cell(out, figure_efficiency(&text, outcome->sync_share));
    table_cell(out, figure_efficiency(&text, outcome->wait_share));
    table_cell(out, limit_of(forecast));
}

bool study_forecast_print(const struct study_forecast *made, struct error *err)
{
    const struct column columns[] = {
        {forecast_counts_hosts(&made->basis) ? "HOSTS" : "DEVICES", true},
        {"BATCH", true},
        {"ROWS", true},
        {"S/EPOCH", true},
        {"RANGE", true},
        {"SAMPLES/S", true},
        {"RANGE", true},
        {"SPEED-UP", true},
        {"EFFICIENCY", true},
        {"SYNC", true},
        {"WAIT", true},
        {"LIMIT", false}};
    struct table out;
    char words[WORDS];
    if (made->count == 0)
        return true;
    print("\npredicted, not measured:\n");
    table_begin(&out, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < made->count; i++)
        add_row(&out, &made->forecasts[i]);
    if (!table_end(&out, err))
        return false;
    print("\n");
    for (int i = 0; i < made->count; i++)
        print("%s.\n", forecast_sentence(&made->basis, &made->forecasts[i], words, sizeof words));
    for (int i = 0; i < made->count; i++)
        if (forecast_reach_sentence(&made->basis, &made->forecasts[i], words, sizeof words)[0])
            print("%s.\n", words);
    print("%s.\n", forecast_assumptions(&made->basis, words, sizeof words));
    return true;
}

static json_t *forecast_json(const struct forecast_basis *basis, const struct forecast *forecast)
{
    const struct outcome *outcome = &forecast->outcome;
    const struct noise_reach reach = forecast_reach(basis, forecast);
    char words[WORDS];
    return json_pack("{s:i, s:i, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:s}",
                     "count", forecast->count, "device_count", outcome->devices, "batch",
                     (json_int_t)forecast->batch, "device_rows", (json_int_t)outcome->rows,
                     "s_per_epoch", study_spread_json(&outcome->s_per_epoch), "samples_per_s",
                     study_spread_json(&outcome->samples_per_s), "speed_up",
                     json_finite(outcome->speed_up), "efficiency", json_finite(outcome->efficiency),
                     "sync_share", json_finite(outcome->sync_share), "wait_share",
                     json_finite(outcome->wait_share), "device_samples_per_s",
                     json_finite(outcome->device_rate), "to_accuracy", study_reach_json(&reach),
                     "limit", forecast->limit == CAUSES ? NULL : loss_name(forecast->limit),
                     "sentence", forecast_sentence(basis, forecast, words, sizeof words));
}

json_t *study_forecast_put(const struct study_forecast *made, json_t *object)
{
    char words[WORDS];
    json_t *list = json_array();
    bool ok = list && object;
    for (int i = 0; ok && i < made->count; i++)
        ok = json_array_append_new(list, forecast_json(&made->basis, &made->forecasts[i])) == 0;
    if (ok && made->count > 0)
        ok = json_object_set(object, "predictions", list) == 0 &&
             json_object_set_new(
                 object, "assumptions",
                 json_string(forecast_assumptions(&made->basis, words, sizeof words))) == 0;
    json_decref(list);
    return json_kept_if(ok, object);
}
