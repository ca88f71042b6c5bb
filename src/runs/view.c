/* SPDX-License-Identifier: MIT */
#include "runs/view.h"

#include <math.h>

static double epoch_of(const json_t *row)
{
    return json_number_value(json_object_get(row, "epoch"));
}

void run_view_take(struct run_view *view, json_t *run)
{
    *view = (struct run_view){.head = run};
    for (int i = 0; i < STORE_ROWS; i++) {
        const char *name = store_rows_name((enum store_rows)i);
        view->live[i] = json_incref(json_object_get(run, name));
        json_object_del(run, name);
    }
}

void run_view_free(struct run_view *view)
{
    json_decref(view->head);
    for (int i = 0; i < STORE_ROWS; i++)
        json_decref(view->live[i]);
}

void run_rows_open(struct run_rows *rows, const struct run_view *view, enum store_rows kind)
{
    const json_t *live = view->live[kind];
    bool stored = view->store && (!live || (kind == STORE_EPOCHS && view->fills_in));
    long run = (long)json_integer_value(json_object_get(view->head, "run"));
    *rows = (struct run_rows){.live = live, .epoch = -INFINITY, .error = ERROR_INIT};
    rows->failed =
        stored && !store_cursor_open(view->store, run, kind, &rows->cursor, &rows->error);
}

json_t *run_rows_next(struct run_rows *rows)
{
    json_decref(rows->row);
    rows->row = NULL;
    if (rows->cursor) {
        rows->failed = rows->failed || !store_cursor_next(rows->cursor, &rows->row, &rows->error);
        if (rows->row)
            rows->epoch = epoch_of(rows->row);
        if (rows->row || rows->failed)
            return rows->row;
        store_cursor_close(rows->cursor);
        rows->cursor = NULL;
    }
    /* What the engine has beyond the store's last one. */
    while (!rows->failed && !rows->row && rows->next < json_array_size(rows->live)) {
        json_t *row = json_array_get(rows->live, rows->next++);
        if (!(epoch_of(row) <= rows->epoch))
            rows->row = json_incref(row);
    }
    return rows->row;
}

bool run_rows_close(struct run_rows *rows, struct error *err)
{
    json_decref(rows->row);
    store_cursor_close(rows->cursor);
    if (rows->failed)
        *err = rows->error;
    return !rows->failed;
}
