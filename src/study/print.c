/* SPDX-License-Identifier: MIT */
#include "study/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/print.h"
#include "events/format.h"
#include "output/table.h"

enum { RANGE_SIZE = 2 * FORMAT_SIZE };

/* "low-high"; one value has no range. */
static const char *range(char *buffer, const struct study_spread *spread,
                         const char *(*format)(char *buffer, double value))
{
    char low[FORMAT_SIZE], high[FORMAT_SIZE];
    if (spread->count < 2)
        snprintf(buffer, RANGE_SIZE, "-");
    else
        snprintf(buffer, RANGE_SIZE, "%s-%s", format(low, spread->low), format(high, spread->high));
    return buffer;
}

static const char *three_decimals(char *buffer, double value)
{
    return format_fixed(buffer, value, 3);
}

static const char *share(char *buffer, double value)
{
    if (!isfinite(value))
        return format_fixed(buffer, value, 0);
    snprintf(buffer, FORMAT_SIZE, "%.0f%%", 100 * value);
    return buffer;
}

static const char *times(char *buffer, double value)
{
    if (!isfinite(value))
        return format_fixed(buffer, value, 2);
    snprintf(buffer, FORMAT_SIZE, "%.2fx", value);
    return buffer;
}

static void add_row(struct table *out, const struct study_table *table, const struct study_row *row)
{
    char text[FORMAT_SIZE], wide[RANGE_SIZE];
    const struct study *study = table->study;
    table_cell(out, row->variant->label);
    if (study->kind == STUDY_DEVICES && study->scaling == COMPARE_GROWING) {
        table_cell(out, format_fixed(text, (double)row->variant->batch, 0));
        table_cell(out, format_general(text, row->variant->lr));
    }
    snprintf(text, sizeof text, "%d/%d", row->done, study->repeats);
    table_cell(out, text);
    table_cell(out, format_seconds(text, row->s_per_epoch.median));
    table_cell(out, range(wide, &row->s_per_epoch, format_seconds));
    table_cell(out, format_count(text, row->samples_per_s.median));
    table_cell(out, range(wide, &row->samples_per_s, format_count));
    table_cell(out, times(text, row->speed_up));
    if (study->kind == STUDY_DEVICES)
        table_cell(out, share(text, row->efficiency));
    table_cell(out, share(text, row->sync_share));
    table_cell(out, share(text, row->wait_share));
    table_cell(out, three_decimals(text, row->test_acc.mean));
    table_cell(out, range(wide, &row->test_acc, three_decimals));
    if (!isfinite(study->target_acc))
        return;
    if (row->target_s.count == 0)
        snprintf(wide, sizeof wide, row->done > 0 ? "never" : "-");
    else
        snprintf(wide, sizeof wide, "%s (%d/%d)", format_seconds(text, row->target_s.median),
                 row->target_s.count, row->done);
    table_cell(out, wide);
}

static void print_head(const struct study *study)
{
    const json_t *spec = study->variants[0].spec;
    const char *model = member_text(spec, "model"), *data = member_text(spec, "data");
    const char *no = "default";
    print("comparison %s: %s; model %s, data %s, %.0f epoch%s, %d repeat%s\n", study->id,
          study_title(study), strcmp(model, "-") == 0 ? no : model,
          strcmp(data, "-") == 0 ? no : data, member_number(spec, "epochs"),
          member_number(spec, "epochs") == 1 ? "" : "s", study->repeats,
          study->repeats == 1 ? "" : "s");
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
        print("%d of %d runs are not done: 'dpartui compare --resume %s' trains them\n", left,
              study->entry_count, study->id);
}

static void print_foot(const struct study_table *table)
{
    char sentence[1000];
    if (table->base >= 0)
        print("\ns/epoch, samples/s: median and minimum-maximum of the counted epochs, %s\n"
              "test acc: mean and minimum-maximum over the seeds; speed-up against %s\n"
              "sync: summing gradients, exposed; wait: for devices and data; of their time\n",
              study_warmup_words(table->warmup), table->rows[table->base].variant->label);
    if (isfinite(table->study->target_acc))
        print("to %g: seconds of training, evaluation excluded, until an epoch's test accuracy "
              "reached it\n",
              table->study->target_acc);
    if (study_sentence(table, sentence, sizeof sentence)[0])
        print("\n%s.\n", sentence);
}

bool study_print_table(const struct study_table *table, struct error *err)
{
    const struct study *study = table->study;
    struct column columns[16];
    char target[40];
    size_t count = 0;
    static const char *const titles[] = {"DEVICES", "BATCH SIZE", "LEARNING RATE"};
    bool devices = study->kind == STUDY_DEVICES;
    columns[count++] = (struct column){titles[study->kind], false};
    if (devices && study->scaling == COMPARE_GROWING) {
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
    columns[count++] = (struct column){"TEST ACC", true};
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
