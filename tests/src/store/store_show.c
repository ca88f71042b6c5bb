/* SPDX-License-Identifier: MIT */
#include "tests/src/store/store_show.h"

#include "store/read.h"
#include "store/rows.h"

static bool put_rows(struct store *store, long run, enum store_rows rows, json_t *object,
                     struct error *err)
{
    struct store_cursor *cursor;
    json_t *row = NULL, *list = json_array();
    if (json_object_set_new(object, store_rows_name(rows), list) != 0)
        return error_memory(err, "rows");
    if (!store_cursor_open(store, run, rows, &cursor, err))
        return false;
    bool ok;
    while ((ok = store_cursor_next(cursor, &row, err)) && row)
        json_array_append_new(list, row);
    store_cursor_close(cursor);
    return ok;
}

bool store_show(struct store *store, long run, json_t **object, struct error *err)
{
    json_t *read = NULL;
    bool ok = store_head(store, run, &read, err);
    for (int i = 0; ok && i < STORE_ROWS; i++)
        ok = put_rows(store, run, (enum store_rows)i, read, err);
    if (ok)
        *object = read;
    else
        json_decref(read);
    return ok;
}
