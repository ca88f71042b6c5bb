/* SPDX-License-Identifier: MIT */
#include "run_csv.h"

#include <math.h>
#include <stddef.h>

#include "format.h"

static const char *const epoch_columns[] = {
    "epoch",      "step",      "steps",     "partial",  "rows",      "lr",
    "train_loss", "train_acc", "test_loss", "test_acc", "seconds",   "samples_per_s",
    "compute_s",  "sync_s",    "wait_s",    "eval_s",   "sync_bytes"};
static const char *const point_columns[] = {"epoch",      "step",      "steps",         "rows",
                                            "train_loss", "train_acc", "samples_per_s", "lr"};

static void put_value(struct text *out, const json_t *value)
{
    if (json_is_integer(value))
        text_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        text_printf(out, "%.15g", json_real_value(value));
    else if (json_is_boolean(value))
        text_puts(out, json_is_true(value) ? "1" : "0");
}

void run_csv_put(const json_t *runs, bool points, struct text *out)
{
    const char *const *columns = points ? point_columns : epoch_columns;
    size_t count = points ? sizeof point_columns / sizeof *point_columns
                          : sizeof epoch_columns / sizeof *epoch_columns;
    text_puts(out, "run");
    for (size_t i = 0; i < count; i++)
        text_printf(out, ",%s", columns[i]);
    text_puts(out, "\n");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        const json_t *lines = json_object_get(run, points ? "points" : "epochs");
        for (size_t j = 0; j < json_array_size(lines); j++) {
            put_value(out, json_object_get(run, "run"));
            for (size_t k = 0; k < count; k++) {
                text_puts(out, ",");
                put_value(out, json_object_get(json_array_get(lines, j), columns[k]));
            }
            text_puts(out, "\n");
        }
    }
}
