/* SPDX-License-Identifier: MIT */
#include "runs/csv.h"

#include <stddef.h>
#include <stdlib.h>

static const char *const epoch_columns[] = {
    "epoch",         "step",       "steps",       "partial",   "rows",         "lr",
    "grad_norm",     "train_loss", "train_acc",   "test_loss", "test_acc",     "seconds",
    "samples_per_s", "compute_s",  "sync_s",      "wait_s",    "eval_s",       "sync_bytes",
    "val_loss",      "val_acc",    "noise_scale", "energy_j",  "samples_per_j"};
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

/* How many epochs of a thinned run are missing before this one. */
static void put_left_out(struct text *out, const json_t *row, json_int_t *last)
{
    json_int_t epoch = json_integer_value(json_object_get(row, "epoch"));
    text_printf(out, ",%" JSON_INTEGER_FORMAT, epoch > *last ? epoch - *last - 1 : 0);
    *last = epoch;
}

static bool put_run(const struct run_view *view, enum store_rows kind, const char *const *columns,
                    size_t count, struct stream *output, struct error *err)
{
    struct text *text = &output->text;
    struct run_rows rows;
    json_int_t last = 0;
    bool ok = true;
    run_rows_open(&rows, view, kind);
    while (ok && run_rows_next(&rows)) {
        put_value(text, json_object_get(view->head, "run"));
        for (size_t i = 0; i < count; i++) {
            text_puts(text, ",");
            put_value(text, json_object_get(rows.row, columns[i]));
        }
        if (kind == STORE_EPOCHS)
            put_left_out(text, rows.row, &last);
        text_puts(text, "\n");
        ok = stream_drain(output, err);
    }
    return run_rows_close(&rows, err) && ok;
}

bool run_csv_put(const struct run_view *views, int count, bool points, struct stream *output,
                 struct error *err)
{
    const char *const *columns = points ? point_columns : epoch_columns;
    size_t width = points ? sizeof point_columns / sizeof *point_columns
                          : sizeof epoch_columns / sizeof *epoch_columns;
    bool ok = true;
    text_puts(&output->text, "run");
    for (size_t i = 0; i < width; i++)
        text_printf(&output->text, ",%s", columns[i]);
    text_puts(&output->text, points ? "\n" : ",left_out\n");
    for (int i = 0; ok && i < count; i++)
        ok = put_run(&views[i], points ? STORE_POINTS : STORE_EPOCHS, columns, width, output, err);
    return ok;
}

bool run_csv_write(const char *path, json_t *const *shown, int count, struct error *err)
{
    struct stream out = STREAM_INIT;
    struct run_view *views = calloc((size_t)count, sizeof *views);
    if (!views)
        return error_memory(err, path);
    for (int i = 0; i < count; i++)
        run_view_take(&views[i], json_incref(shown[i]));
    bool ok = stream_open(&out, path, err) && run_csv_put(views, count, false, &out, err);
    ok = stream_close(&out, ok, err);
    while (count-- > 0)
        run_view_free(&views[count]);
    free(views);
    return ok;
}
