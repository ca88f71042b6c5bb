/* SPDX-License-Identifier: MIT */
#include "study/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/figure.h"
#include "base/json.h"
#include "base/text.h"
#include "experiment/sentence.h"
#include "output/svg_panel.h"
#include "spec/names.h"
#include "study/json.h"

/* Of the picture, in its units. */
enum { WIDTH = 960, HEIGHT = 450, PANEL_TOP = 40, PANEL_HEIGHT = 375 };

json_t *study_spread_json(const struct spread *spread)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o}", "count", spread->count, "median",
                     json_finite(spread->median), "mean", json_finite(spread->mean), "min",
                     json_finite(spread->low), "max", json_finite(spread->high));
}

json_t *study_reach_json(const struct noise_reach *reach)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "per_epoch", json_finite(reach->faster), "epochs",
                     json_finite(reach->epochs), "times", json_finite(reach->sooner), "min",
                     json_finite(reach->low), "max", json_finite(reach->high));
}

/* NULL: nobody tells. */
static json_t *spread_if_known(const struct spread *spread)
{
    return spread->count > 0 ? study_spread_json(spread) : NULL;
}

static json_t *row_json(const struct study_table *table, int i)
{
    const struct study_row *row = &table->rows[i];
    const struct noise_reach reach = study_reach(table, i);
    const struct study_variant *variant = row->variant;
    const struct outcome *outcome = &row->outcome;
    json_t *devices = json_object_get(variant->spec, "devices");
    return json_pack(
        "{s:s, s:O?, s:o, s:s, s:I, s:f, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:O, s:o*, s:o*, s:o*}",
        "label", variant->label, "devices", devices, "device_count",
        variant->devices > 0 ? json_integer(variant->devices) : json_null(), "strategy",
        strategy_name(variant->strategy), "batch", (json_int_t)variant->batch, "lr", variant->lr,
        "done", row->done, "failed", row->failed, "missing", row->missing, "s_per_epoch",
        study_spread_json(&outcome->s_per_epoch), "samples_per_s",
        study_spread_json(&outcome->samples_per_s), "speed_up", json_finite(outcome->speed_up),
        "efficiency", json_finite(outcome->efficiency), "sync_share",
        json_finite(outcome->sync_share), "wait_share", json_finite(outcome->wait_share),
        "device_samples_per_s", json_finite(outcome->device_rate), "device_rows",
        json_finite(outcome->rows), "sync_bytes_per_step", json_finite(outcome->step_bytes),
        "memory_most", json_finite(outcome->memory), "test_acc",
        study_spread_json(&outcome->test_acc), "target_s",
        study_spread_json(&row->outcome.target_s), "noise_scale", json_finite(outcome->noise),
        "to_accuracy", study_reach_json(&reach), "spec", variant->spec, "energy_j",
        spread_if_known(&outcome->energy_j), "samples_per_j",
        spread_if_known(&outcome->samples_per_j), "target_j", spread_if_known(&outcome->target_j));
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
    char sentence[SENTENCE_SIZE], kind[sizeof study->varied + 1];
    json_t *rows = json_array(), *entries = json_array();
    study_kind_text(study, kind, sizeof kind);
    for (int i = 0; rows && i < table->count; i++)
        json_array_append_new(rows, row_json(table, i));
    for (int i = 0; entries && i < study->entry_count; i++)
        json_array_append_new(entries, run_json(study, &study->entries[i], &runs[i].measure));
    bool scaled = study->kind == STUDY_DEVICES;
    return json_pack("{s:s, s:s, s:s?, s:i, s:i, s:o, s:o, s:s, s:s, s:o, s:o, s:i}", "id",
                     study->id, "kind", kind, "scaling",
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

/* Batch, lr and strategy have a column in any case. */
static bool needs_column(const char *key)
{
    return strcmp(key, "batch") != 0 && strcmp(key, "lr") != 0 && strcmp(key, "strategy") != 0;
}

static void put_values(const struct study *study, const struct study_variant *variant,
                       struct text *out)
{
    struct figure value;
    for (int i = 0; i < study->varied_count; i++) {
        if (!needs_column(study->varied[i]))
            continue;
        text_puts(out, ",");
        put_quoted(out, study_value(study, variant, i, &value));
    }
}

void study_table_csv(const struct study_table *table, struct text *out)
{
    const struct study *study = table->study;
    text_puts(out, "label,devices,batch,lr");
    for (int i = 0; i < study->varied_count; i++)
        if (needs_column(study->varied[i]))
            text_printf(out, ",%s", study->varied[i]);
    text_puts(out, ",done,failed,missing,"
                   "s_per_epoch,s_per_epoch_min,s_per_epoch_max,"
                   "samples_per_s,samples_per_s_min,samples_per_s_max,speed_up,efficiency,"
                   "sync_share,wait_share,device_samples_per_s,device_rows,"
                   "test_acc_mean,test_acc_min,test_acc_max,target_s,target_s_min,target_s_max,"
                   "target_reached,strategy,sync_bytes_per_step,memory_most,"
                   "energy_j,energy_j_min,energy_j_max,samples_per_j\n");
    for (int i = 0; i < table->count; i++) {
        const struct study_row *row = &table->rows[i];
        const struct outcome *outcome = &row->outcome;
        put_quoted(out, row->variant->label);
        put_number(out, row->variant->devices > 0 ? row->variant->devices : NAN);
        put_number(out, (double)row->variant->batch);
        put_number(out, row->variant->lr);
        put_values(study, row->variant, out);
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
        put_spread(out, &row->outcome.target_s, row->outcome.target_s.median);
        put_number(out, row->outcome.target_s.count);
        text_printf(out, ",%s", strategy_name(row->variant->strategy));
        put_number(out, outcome->step_bytes);
        put_number(out, outcome->memory);
        put_spread(out, &outcome->energy_j, outcome->energy_j.median);
        put_number(out, outcome->samples_per_j.median);
        text_puts(out, "\n");
    }
}

enum {
    LINES_MOST = 8, /* the smaller number of values of a grid, of STUDY_VARIANTS at most */
    POINTS_MOST = STUDY_VARIANTS + LINES_MOST, /* all lines of strategies begin with one device */
};

/*
 * The x axis of both panels and the lines over it. Counted devices stand in proportion, all else
 * side by side. The setting of a grid that has more values is the axis, the other has a line for
 * each value.
 */
struct layout {
    int places, lines;
    bool across;          /* the lines are the values of the setting that varies fastest */
    int row[POINTS_MOST]; /* of each line after the other, at each place */
    double at[STUDY_VARIANTS];
    const char *names[STUDY_VARIANTS];
    struct figure values[STUDY_VARIANTS];
    char line_names[LINES_MOST][80];
    const char *label;
};

static int row_of(const struct layout *layout, int line, int place)
{
    return layout->row[line * layout->places + place];
}

/* Numbers of devices of which each has all strategies, and one device before them for all. */
static void place_strategies(const struct study *study, struct layout *layout)
{
    const int more = study->variant_count - 1;
    while (layout->lines < more &&
           study->variants[1 + layout->lines].devices == study->variants[1].devices)
        layout->lines++;
    layout->places = 1 + more / layout->lines;
    for (int line = 0; line < layout->lines; line++)
        for (int place = 0; place < layout->places; place++)
            layout->row[line * layout->places + place] =
                place == 0 ? 0 : 1 + (place - 1) * layout->lines + line;
}

/* How many values the setting has that varies fastest. */
static int count_fastest(const struct study *study)
{
    struct figure first, other;
    int count = 1;
    study_value(study, &study->variants[0], 0, &first);
    while (count < study->variant_count &&
           strcmp(first.text, study_value(study, &study->variants[count], 0, &other)) == 0)
        count++;
    return count;
}

static void place_lines(const struct study *study, struct layout *layout)
{
    *layout = (struct layout){.places = study->variant_count, .lines = 1, .label = "devices"};
    for (int i = 0; i < study->variant_count; i++)
        layout->row[i] = i;
    if (study->strategies)
        place_strategies(study, layout);
    if (study->kind == STUDY_DEVICES)
        return;
    int fastest = study->varied_count > 1 ? count_fastest(study) : study->variant_count;
    int slowest = study->variant_count / fastest;
    layout->across = slowest > fastest;
    layout->places = layout->across ? slowest : fastest;
    layout->lines = layout->across ? fastest : slowest;
    layout->label = study->varied[study->varied_count > 1 && !layout->across];
    for (int line = 0; line < layout->lines; line++)
        for (int place = 0; place < layout->places; place++)
            layout->row[line * layout->places + place] =
                layout->across ? place * layout->lines + line : line * layout->places + place;
}

static void name_line(const struct study *study, struct layout *layout, int line)
{
    char *name = layout->line_names[line];
    const struct study_variant *variant =
        &study->variants[row_of(layout, line, layout->places - 1)];
    struct figure value;
    if (study->strategies)
        snprintf(name, sizeof layout->line_names[line], "%s", strategy_name(variant->strategy));
    else
        snprintf(name, sizeof layout->line_names[line], "%s %s", study->varied[layout->across],
                 study_value(study, variant, layout->across, &value));
}

static void make_layout(const struct study_table *table, struct layout *layout)
{
    const struct study *study = table->study;
    bool counted = study->kind == STUDY_DEVICES && !study->lists;
    place_lines(study, layout);
    for (int i = 0; i < layout->places; i++) {
        const struct study_variant *variant = &study->variants[row_of(layout, 0, i)];
        layout->at[i] = counted ? variant->devices : i;
        layout->names[i] =
            counted ? figure_whole(&layout->values[i], variant->devices)
            : study->kind == STUDY_DEVICES
                ? variant->label
                : study_value(study, variant, study->varied_count > 1 && !layout->across,
                              &layout->values[i]);
    }
    for (int i = 0; i < layout->lines; i++)
        if (study->strategies || study->varied_count > 1)
            name_line(study, layout, i);
}

/* What a panel shows of a row. */
struct point {
    double y, low, high;
};

static struct point speed_of(const struct study_row *row)
{
    const struct spread *speed = &row->outcome.samples_per_s;
    return (struct point){speed->median, speed->low, speed->high};
}

static struct point accuracy_of(const struct study_row *row)
{
    const struct spread *accuracy = &row->outcome.test_acc;
    return (struct point){accuracy->mean, accuracy->low, accuracy->high};
}

/* The lines of a panel, each at all places, after what would be ideal. */
struct lines {
    double y[POINTS_MOST], low[POINTS_MOST], high[POINTS_MOST], ideal[STUDY_VARIANTS];
    struct svg_series series[1 + LINES_MOST];
};

static void make_lines(const struct study_table *table, const struct layout *layout,
                       struct point (*point_of)(const struct study_row *row), const char *name,
                       struct lines *lines)
{
    for (int line = 0; line < layout->lines; line++) {
        int first = line * layout->places;
        for (int i = 0; i < layout->places; i++) {
            const struct study_row *row = &table->rows[row_of(layout, line, i)];
            struct point point = point_of(row);
            lines->y[first + i] = point.y;
            lines->low[first + i] = point.low;
            lines->high[first + i] = point.high;
            lines->ideal[i] = row->outcome.efficiency > 0 ? point.y / row->outcome.efficiency : NAN;
        }
        lines->series[1 + line] =
            (struct svg_series){.name = layout->lines > 1 ? layout->line_names[line] : name,
                                .x = layout->at,
                                .y = lines->y + first,
                                .low = lines->low + first,
                                .high = lines->high + first,
                                .index = line};
    }
    lines->series[0] = (struct svg_series){
        .name = "ideal", .x = layout->at, .y = lines->ideal, .index = SVG_GUIDE};
}

static void put_panel(struct svg_panel *panel, const struct layout *layout,
                      const struct lines *lines, bool ideal, double left, struct text *out)
{
    panel->x_label = layout->label;
    panel->series = lines->series + !ideal;
    panel->series_count = (size_t)(layout->lines + ideal);
    panel->count = (size_t)layout->places;
    panel->places = layout->at;
    panel->names = layout->names;
    svg_panel_draw(out, panel, left, PANEL_TOP, WIDTH / 2.0, PANEL_HEIGHT);
}

void study_table_svg(const struct study_table *table, struct text *out)
{
    struct svg_panel speed = {.title = "Speed", .y_label = "samples/s", .from_zero = true};
    const bool validated = study_validated(table);
    struct svg_panel accuracy = {.title = validated ? "Accuracy on the validation rows"
                                                    : "Accuracy on the test data",
                                 .y_label = validated ? "validation accuracy" : "test accuracy"};
    struct layout layout;
    struct lines lines;
    struct figure title;
    char words[400];
    make_layout(table, &layout);
    snprintf(words, sizeof words, "Comparison %s: %s", table->study->id,
             study_title(table->study, &title));
    svg_begin(out, WIDTH, HEIGHT, words);
    svg_label(out, "title", 16, 26, words);
    make_lines(table, &layout, speed_of, "median, minimum to maximum", &lines);
    put_panel(&speed, &layout, &lines, table->study->kind == STUDY_DEVICES, 0, out);
    make_lines(table, &layout, accuracy_of, "mean, minimum to maximum over seeds", &lines);
    put_panel(&accuracy, &layout, &lines, false, WIDTH / 2.0, out);
    snprintf(words, sizeof words, "%d repeat%s; %s%s", table->study->repeats,
             plural(table->study->repeats),
             layout.lines > 1 ? "bars from minimum to maximum; speeds " : "speeds ",
             study_warm_up_words(table));
    svg_label(out, "faint", 16, HEIGHT - 12, words);
    svg_end(out);
}
