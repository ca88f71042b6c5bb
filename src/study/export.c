/* SPDX-License-Identifier: MIT */
#include "study/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "experiment/sentence.h"
#include "output/svg_panel.h"
#include "study/json.h"

/* Of the picture, in its units. */
enum { WIDTH = 960, HEIGHT = 450, PANEL_TOP = 40, PANEL_HEIGHT = 375 };

static json_t *spread_json(const struct spread *spread)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o}", "count", spread->count, "median",
                     json_finite(spread->median), "mean", json_finite(spread->mean), "min",
                     json_finite(spread->low), "max", json_finite(spread->high));
}

static json_t *row_json(const struct study_row *row)
{
    const struct study_variant *variant = row->variant;
    const struct outcome *outcome = &row->outcome;
    json_t *devices = json_object_get(variant->spec, "devices");
    return json_pack(
        "{s:s, s:O?, s:o, s:I, s:f, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:O}",
        "label", variant->label, "devices", devices, "device_count",
        variant->devices > 0 ? json_integer(variant->devices) : json_null(), "batch",
        (json_int_t)variant->batch, "lr", variant->lr, "done", row->done, "failed", row->failed,
        "missing", row->missing, "s_per_epoch", spread_json(&outcome->s_per_epoch), "samples_per_s",
        spread_json(&outcome->samples_per_s), "speed_up", json_finite(outcome->speed_up),
        "efficiency", json_finite(outcome->efficiency), "sync_share",
        json_finite(outcome->sync_share), "wait_share", json_finite(outcome->wait_share),
        "device_samples_per_s", json_finite(outcome->device_rate), "device_rows",
        json_finite(outcome->rows), "test_acc", spread_json(&outcome->test_acc), "target_s",
        spread_json(&row->target_s), "spec", variant->spec);
}

/* Of the epochs that count. */
static json_t *samples_json(const struct measure *measure, bool rates)
{
    json_t *list = json_array();
    for (int i = 0; list && i < measure->count; i++)
        if (measure_counts(measure, i))
            json_array_append_new(list, json_finite(rates ? measure->epochs[i].samples_per_s
                                                          : measure->epochs[i].seconds));
    return list;
}

static json_t *run_json(const struct study *study, const struct study_entry *entry,
                        const struct measure *measure)
{
    return json_pack(
        "{s:s, s:i, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "label",
        study->variants[entry->variant].label, "repeat", entry->repeat, "seed",
        (json_int_t)entry->seed, "run", entry->run > 0 ? json_integer(entry->run) : json_null(),
        "state", study_state_name(entry->state), "reason",
        entry->state == STUDY_FAILED ? json_any_text(entry->reason) : json_null(), "s_per_epoch",
        samples_json(measure, false), "samples_per_s", samples_json(measure, true), "test_acc",
        json_finite(measure_test_acc(measure)), "target_s",
        json_finite(measure_seconds_to(measure, study->target_acc)));
}

json_t *study_table_json(const struct study_table *table, const struct study_run *runs)
{
    const struct study *study = table->study;
    static const char *const kinds[] = {"devices", "batch", "lr"};
    char sentence[1000];
    json_t *rows = json_array(), *entries = json_array();
    for (int i = 0; rows && i < table->count; i++)
        json_array_append_new(rows, row_json(&table->rows[i]));
    for (int i = 0; entries && i < study->entry_count; i++)
        json_array_append_new(entries, run_json(study, &study->entries[i], &runs[i].measure));
    bool scaled = study->kind == STUDY_DEVICES;
    return json_pack("{s:s, s:s, s:s?, s:i, s:i, s:o, s:o, s:s, s:s, s:o, s:o, s:i}", "id",
                     study->id, "kind", kinds[study->kind], "scaling",
                     !scaled                          ? NULL
                     : study->scaling == SCALING_WEAK ? "weak"
                                                      : "strong",
                     "repeats", study->repeats, "cores", study->cores, "target_acc",
                     json_finite(study->target_acc), "base",
                     table->base >= 0 ? json_string(table->rows[table->base].variant->label)
                                      : json_null(),
                     "warm_up", study_warm_up_words(table), "sentence",
                     sentence_of_study(table, sentence, sizeof sentence), "rows", rows, "runs",
                     entries, "unfinished", study_unfinished(study));
}

/* A text as RFC 4180 wants it, escaped: CSV has no escapes; JSON has the bytes. */
static void put_quoted(struct text *out, const char *words)
{
    char shown[ESCAPE_BYTES];
    text_puts(out, "\"");
    while (*words) {
        escape_next(&words, shown);
        text_puts(out, strcmp(shown, "\"") == 0 ? "\"\"" : shown);
    }
    text_puts(out, "\"");
}

static void put_number(struct text *out, double value)
{
    text_puts(out, ",");
    if (isfinite(value))
        text_printf(out, "%.10g", value);
}

static void put_spread(struct text *out, const struct spread *spread, double middle)
{
    put_number(out, middle);
    put_number(out, spread->low);
    put_number(out, spread->high);
}

void study_table_csv(const struct study_table *table, struct text *out)
{
    text_puts(out, "label,devices,batch,lr,done,failed,missing,"
                   "s_per_epoch,s_per_epoch_min,s_per_epoch_max,"
                   "samples_per_s,samples_per_s_min,samples_per_s_max,speed_up,efficiency,"
                   "sync_share,wait_share,device_samples_per_s,device_rows,"
                   "test_acc_mean,test_acc_min,test_acc_max,target_s,target_s_min,target_s_max,"
                   "target_reached\n");
    for (int i = 0; i < table->count; i++) {
        const struct study_row *row = &table->rows[i];
        const struct outcome *outcome = &row->outcome;
        put_quoted(out, row->variant->label);
        put_number(out, row->variant->devices > 0 ? row->variant->devices : NAN);
        put_number(out, (double)row->variant->batch);
        put_number(out, row->variant->lr);
        put_number(out, row->done);
        put_number(out, row->failed);
        put_number(out, row->missing);
        put_spread(out, &outcome->s_per_epoch, outcome->s_per_epoch.median);
        put_spread(out, &outcome->samples_per_s, outcome->samples_per_s.median);
        put_number(out, outcome->speed_up);
        put_number(out, outcome->efficiency);
        put_number(out, outcome->sync_share);
        put_number(out, outcome->wait_share);
        put_number(out, outcome->device_rate);
        put_number(out, outcome->rows);
        put_spread(out, &outcome->test_acc, outcome->test_acc.mean);
        put_spread(out, &row->target_s, row->target_s.median);
        put_number(out, row->target_s.count);
        text_puts(out, "\n");
    }
}

/* The x axis of both panels: counted devices stand in proportion, all else side by side. */
struct axis {
    size_t count;
    double at[STUDY_VARIANTS];
    const char *names[STUDY_VARIANTS];
    char numbers[STUDY_VARIANTS][16];
    const char *label;
};

static void make_axis(const struct study_table *table, struct axis *axis)
{
    static const char *const labels[] = {"devices", "batch size", "learning rate"};
    const struct study *study = table->study;
    bool counted = study->kind == STUDY_DEVICES && !study->lists;
    axis->count = (size_t)table->count;
    axis->label = labels[study->kind];
    for (int i = 0; i < table->count; i++) {
        const struct study_variant *variant = &study->variants[i];
        const char *blank = strchr(variant->label, ' ');
        axis->at[i] = counted ? variant->devices : i;
        snprintf(axis->numbers[i], sizeof axis->numbers[i], "%d", variant->devices);
        axis->names[i] = counted                                 ? axis->numbers[i]
                         : study->kind != STUDY_DEVICES && blank ? blank + 1
                                                                 : variant->label;
    }
}

static void put_speed(const struct study_table *table, const struct axis *axis, struct text *out)
{
    double speed[STUDY_VARIANTS], low[STUDY_VARIANTS], high[STUDY_VARIANTS], ideal[STUDY_VARIANTS];
    for (int i = 0; i < table->count; i++) {
        const struct outcome *outcome = &table->rows[i].outcome;
        speed[i] = outcome->samples_per_s.median;
        low[i] = outcome->samples_per_s.low;
        high[i] = outcome->samples_per_s.high;
        ideal[i] = outcome->efficiency > 0 ? speed[i] / outcome->efficiency : NAN;
    }
    const struct svg_series series[] = {
        {.name = "ideal", .x = axis->at, .y = ideal, .index = SVG_GUIDE},
        {.name = "median, minimum to maximum",
         .x = axis->at,
         .y = speed,
         .low = low,
         .high = high,
         .index = 0}};
    bool scaled = table->study->kind == STUDY_DEVICES;
    const struct svg_panel panel = {.title = "Speed",
                                    .x_label = axis->label,
                                    .y_label = "samples/s",
                                    .series = scaled ? series : series + 1,
                                    .series_count = scaled ? 2 : 1,
                                    .count = axis->count,
                                    .places = axis->at,
                                    .names = axis->names,
                                    .from_zero = true};
    svg_panel_draw(out, &panel, 0, PANEL_TOP, WIDTH / 2.0, PANEL_HEIGHT);
}

static void put_accuracy(const struct study_table *table, const struct axis *axis, struct text *out)
{
    double mean[STUDY_VARIANTS], low[STUDY_VARIANTS], high[STUDY_VARIANTS];
    for (int i = 0; i < table->count; i++) {
        mean[i] = table->rows[i].outcome.test_acc.mean;
        low[i] = table->rows[i].outcome.test_acc.low;
        high[i] = table->rows[i].outcome.test_acc.high;
    }
    const struct svg_series series = {.name = "mean, minimum to maximum over seeds",
                                      .x = axis->at,
                                      .y = mean,
                                      .low = low,
                                      .high = high,
                                      .index = 0};
    const struct svg_panel panel = {.title = "Accuracy on the test data",
                                    .x_label = axis->label,
                                    .y_label = "test accuracy",
                                    .series = &series,
                                    .series_count = 1,
                                    .count = axis->count,
                                    .places = axis->at,
                                    .names = axis->names};
    svg_panel_draw(out, &panel, WIDTH / 2.0, PANEL_TOP, WIDTH / 2.0, PANEL_HEIGHT);
}

void study_table_svg(const struct study_table *table, struct text *out)
{
    struct axis axis;
    char words[400];
    make_axis(table, &axis);
    snprintf(words, sizeof words, "Comparison %s: %s", table->study->id, study_title(table->study));
    svg_begin(out, WIDTH, HEIGHT, words);
    svg_label(out, "title", 16, 26, words);
    put_speed(table, &axis, out);
    put_accuracy(table, &axis, out);
    snprintf(words, sizeof words, "%d repeat%s; speeds %s", table->study->repeats,
             table->study->repeats == 1 ? "" : "s", study_warm_up_words(table));
    svg_label(out, "faint", 16, HEIGHT - 12, words);
    svg_end(out);
}
