/* SPDX-License-Identifier: MIT */
#include "study/print.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "experiment/noise.h"
#include "experiment/sentence.h"
#include "output/table.h"
#include "spec/fields.h"
#include "spec/names.h"

static void add_range(struct table *out, const struct spread *spread,
                      const char *(*format)(struct figure *figure, double value))
{
    char both[2 * sizeof(struct figure)];
    table_cell(out, spread_range(spread, format, both, sizeof both));
}

/* Marked where the warm-up is part of it. */
static void add_speed(struct table *out, const struct outcome *outcome, const char *speed)
{
    char marked[60];
    snprintf(marked, sizeof marked, "%s%s", speed, outcome->warm_up ? "*" : "");
    table_cell(out, marked);
}

static bool tells_energy(const struct study_table *table)
{
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].outcome.energy_j.count > 0)
            return true;
    return false;
}

static void add_row(struct table *out, const struct study_table *table, const struct study_row *row)
{
    struct figure text;
    char wide[80];
    const struct study *study = table->study;
    const struct outcome *outcome = &row->outcome;
    for (int i = 0; i < study->varied_count; i++)
        table_cell(out, study_value(study, row->variant, i, &text));
    if (study->kind == STUDY_DEVICES)
        table_cell(out, study->strategies ? study_devices(row->variant->devices, &text)
                                          : row->variant->label);
    if (study->strategies)
        table_cell(out, strategy_name(row->variant->strategy));
    if (study->kind == STUDY_DEVICES && study->scaling == SCALING_WEAK) {
        table_cell(out, figure_whole(&text, (double)row->variant->batch));
        table_cell(out, figure_digits(&text, row->variant->lr, 6));
    }
    snprintf(wide, sizeof wide, "%d/%d", row->done, study->repeats);
    table_cell(out, wide);
    add_speed(out, outcome, figure_seconds(&text, outcome->s_per_epoch.median));
    add_range(out, &outcome->s_per_epoch, figure_seconds);
    add_speed(out, outcome, figure_count(&text, outcome->samples_per_s.median));
    add_range(out, &outcome->samples_per_s, figure_count);
    table_cell(out, figure_times(&text, outcome->speed_up));
    if (study->kind == STUDY_DEVICES)
        table_cell(out, figure_efficiency(&text, outcome->efficiency));
    table_cell(out, figure_efficiency(&text, outcome->sync_share));
    table_cell(out, figure_efficiency(&text, outcome->wait_share));
    if (study->strategies) {
        table_cell(out, figure_count(&text, outcome->step_bytes / 1e6));
        table_cell(out, figure_bytes(&text, outcome->memory));
    }
    if (tells_energy(table)) {
        table_cell(out, figure_count(&text, outcome->energy_j.median));
        table_cell(out, figure_count(&text, outcome->samples_per_j.median));
    }
    table_cell(out, figure_accuracy(&text, outcome->test_acc.mean));
    add_range(out, &outcome->test_acc, figure_accuracy);
    if (!isfinite(study->target_acc))
        return;
    if (row->outcome.target_s.count == 0)
        snprintf(wide, sizeof wide, row->outcome.target_runs > 0 ? "never" : "-");
    else
        snprintf(wide, sizeof wide, "%s (%d/%d)",
                 figure_seconds(&text, row->outcome.target_s.median), row->outcome.target_s.count,
                 row->outcome.target_runs);
    table_cell(out, wide);
}

static void print_head(const struct study *study)
{
    const json_t *spec = study->variants[0].spec;
    const char *model = member_text(spec, "model"), *data = member_text(spec, "data");
    const char *no = "default";
    struct figure title;
    char rows[40] = "";
    if (study->train_rows > 0)
        snprintf(rows, sizeof rows, " (%ld row%s)", study->train_rows, plural(study->train_rows));
    print("comparison %s: %s; model %s, data %s%s, %.0f epoch%s, %d repeat%s\n", study->id,
          study_title(study, &title), strcmp(model, "-") == 0 ? no : model,
          strcmp(data, "-") == 0 ? no : data, rows, member_number(spec, "epochs"),
          plural(member_number(spec, "epochs")), study->repeats, plural(study->repeats));
}

/* Devices may compute in another type than was asked for: they lack it, or f32 is faster. */
static void print_types(const struct study_table *table)
{
    for (int i = 0; i < table->count; i++) {
        const struct study_variant *variant = table->rows[i].variant;
        const char *asked = member_text(variant->spec, "dtype"), *got = table->rows[i].outcome.type;
        if (*got && strcmp(asked, "-") != 0 && strcmp(asked, number_type_name(TYPE_DEFAULT)) != 0 &&
            strcmp(asked, got) != 0)
            print("%s: computed in %s, not in %s\n", variant->label, got, asked);
    }
}

static void print_faults(const struct study *study)
{
    for (int i = 0; i < study->entry_count; i++) {
        const struct study_entry *entry = &study->entries[i];
        const char *label = study->variants[entry->variant].label;
        if (entry->state == STUDY_FAILED)
            print("%s, seed %llu, failed: %s\n", label, (unsigned long long)entry->seed,
                  entry->reason);
        else if (entry->state == STUDY_DELETED)
            print("%s, seed %llu: run %ld was deleted\n", label, (unsigned long long)entry->seed,
                  entry->run);
    }
    int left = study_unfinished(study);
    if (left > 0)
        print("%d of %d run%s %s not done: 'dpartui compare --resume %s' trains %s\n", left,
              study->entry_count, plural(study->entry_count), left == 1 ? "is" : "are", study->id,
              left == 1 ? "it" : "them");
}

/* What larger batches are worth, where the noise of the gradients was measured. */
static void print_noise(const struct study_table *table)
{
    const double noise = noise_of_study(table);
    const struct study_row *base = table->base >= 0 ? &table->rows[table->base] : NULL;
    char words[SENTENCE_SIZE];
    if (!base || !noise_sentence(noise, (double)base->variant->batch, words, sizeof words)[0])
        return;
    print("\n%s.\n", words);
    for (int i = 0; i < table->count; i++) {
        const struct study_row *row = &table->rows[i];
        const struct noise_reach reach = study_reach(table, i);
        if (row->variant->batch != base->variant->batch &&
            noise_reach_sentence(&reach,
                                 &(struct noise_choice){&row->outcome, (double)row->variant->batch},
                                 table->study->target_acc, words, sizeof words)[0])
            print("%s.\n", words);
    }
}

static void print_foot(const struct study_table *table)
{
    char sentence[SENTENCE_SIZE];
    if (table->base >= 0)
        print(
            "\ns/epoch, samples/s: median and minimum-maximum of the counted epochs, %s%s\n"
            "%s acc: mean and minimum-maximum over the seeds; speed-up against %s\n"
            "sync: all-reduce, exposed; wait: for other devices and input; of the devices' time\n",
            study_warm_up_words(table), table->warm_up ? " (*)" : "",
            study_validated(table) ? "val" : "test", table->rows[table->base].variant->label);
    if (table->base >= 0 && table->study->strategies)
        print("MB/step: gradients that are all-reduced (data), values and gradients that stages "
              "hand over (pipeline), those that devices read of each other (tensor); both (mixed, "
              "pipelines in parallel)\n"
              "memory: of the device that needs most\n");
    if (tells_energy(table))
        print("J/epoch, samples/J: medians of the same epochs, of GPUs, and of whole CPU packages "
              "with all that computes there\n");
    if (isfinite(table->study->target_acc))
        print("to %g: seconds of training, evaluation excluded, until an epoch's %s accuracy "
              "reached it\n",
              table->study->target_acc, study_validated(table) ? "validation" : "test");
    print_types(table);
    if (sentence_of_study(table, sentence, sizeof sentence)[0])
        print("\n%s.\n", sentence);
    print_noise(table);
}

/* "LR SCHEDULE", in `title`; numbers stand on the right. */
static struct column setting_column(const char *key, char *title)
{
    const struct spec_field *field = spec_find_field(key);
    size_t i = 0;
    do
        title[i] = key[i] == '-' ? ' ' : (char)toupper((unsigned char)key[i]);
    while (title[i++]);
    return (struct column){title, field->kind == FIELD_LONG || field->kind == FIELD_DOUBLE};
}

bool study_print_table(const struct study_table *table, struct error *err)
{
    const struct study *study = table->study;
    struct column columns[22];
    char target[40];
    size_t count = 0;
    bool devices = study->kind == STUDY_DEVICES;
    char names[STUDY_VARIED][sizeof study->varied[0]];
    if (devices)
        columns[count++] = (struct column){"DEVICES", false};
    if (study->strategies)
        columns[count++] = (struct column){"STRATEGY", false};
    for (int i = 0; i < study->varied_count; i++)
        columns[count++] = setting_column(study->varied[i], names[i]);
    if (devices && study->scaling == SCALING_WEAK) {
        columns[count++] = (struct column){"BATCH", true};
        columns[count++] = (struct column){"LR", true};
    }
    columns[count++] = (struct column){"RUNS", true};
    columns[count++] = (struct column){"S/EPOCH", true};
    columns[count++] = (struct column){"RANGE", true};
    columns[count++] = (struct column){"SAMPLES/S", true};
    columns[count++] = (struct column){"RANGE", true};
    columns[count++] = (struct column){"SPEED-UP", true};
    if (devices)
        columns[count++] = (struct column){"EFFICIENCY", true};
    columns[count++] = (struct column){"SYNC", true};
    columns[count++] = (struct column){"WAIT", true};
    if (study->strategies) {
        columns[count++] = (struct column){"MB/STEP", true};
        columns[count++] = (struct column){"MEMORY", true};
    }
    if (tells_energy(table)) {
        columns[count++] = (struct column){"J/EPOCH", true};
        columns[count++] = (struct column){"SAMPLES/J", true};
    }
    columns[count++] = (struct column){study_validated(table) ? "VAL ACC" : "TEST ACC", true};
    columns[count++] = (struct column){"RANGE", true};
    snprintf(target, sizeof target, "TO %g", study->target_acc);
    if (isfinite(study->target_acc))
        columns[count++] = (struct column){target, true};
    struct table out;
    print_head(study);
    putchar('\n');
    table_begin(&out, columns, count);
    for (int i = 0; i < table->count; i++)
        add_row(&out, table, &table->rows[i]);
    if (!table_end(&out, err))
        return false;
    print_foot(table);
    print_faults(study);
    return true;
}
