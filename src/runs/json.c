/* SPDX-License-Identifier: MIT */
#include "runs/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* A new line, indented by a space per level. */
static void put_break(struct text *text, int depth)
{
    text_printf(text, "\n%*s", depth, "");
}

/* No string in JSON text contains a line break, so those between values can be indented. */
static bool put_value(const json_t *value, int depth, struct text *text, struct error *err)
{
    char *json = json_to_text(value, JSON_INDENT(1) | JSON_DIGITS | JSON_ENCODE_ANY);
    if (!json)
        return error_memory(err, "JSON");
    for (const char *line = json;;) {
        size_t length = strcspn(line, "\n");
        text_append(text, line, length);
        if (!line[length])
            break;
        put_break(text, depth);
        line += length + 1;
    }
    free(json);
    return true;
}

static bool put_key(const char *key, int depth, struct text *text, struct error *err)
{
    json_t *string = json_string(key);
    put_break(text, depth);
    bool ok = string ? put_value(string, depth, text, err) : error_memory(err, "JSON");
    text_puts(text, ": ");
    json_decref(string);
    return ok;
}

static bool put_rows(const struct run_view *view, enum store_rows kind, int depth,
                     struct stream *output, struct error *err)
{
    struct run_rows rows;
    bool any = false, ok = true;
    run_rows_open(&rows, view, kind);
    text_puts(&output->text, "[");
    while (ok && run_rows_next(&rows)) {
        text_puts(&output->text, any ? "," : "");
        put_break(&output->text, depth + 1);
        ok = put_value(rows.row, depth + 1, &output->text, err) && stream_drain(output, err);
        any = true;
    }
    if (any)
        put_break(&output->text, depth);
    text_puts(&output->text, "]");
    return run_rows_close(&rows, err) && ok;
}

/* How many epochs and changes there are is left to the lists of them. */
static bool names_rows(const char *key)
{
    for (int i = 0; i < STORE_ROWS; i++)
        if (strcmp(key, store_rows_name((enum store_rows)i)) == 0)
            return true;
    return false;
}

bool run_json_put(const struct run_view *view, int depth, struct stream *output, struct error *err)
{
    struct text *text = &output->text;
    const char *key, *comma = "";
    json_t *value;
    bool ok = true;
    text_puts(text, "{");
    json_object_foreach(view->head, key, value)
    {
        if (names_rows(key))
            continue;
        text_puts(text, comma);
        comma = ",";
        ok = ok && put_key(key, depth + 1, text, err) && put_value(value, depth + 1, text, err);
    }
    for (int i = 0; ok && i < STORE_ROWS; i++) {
        text_puts(text, comma);
        comma = ",";
        ok = put_key(store_rows_name((enum store_rows)i), depth + 1, text, err) &&
             put_rows(view, (enum store_rows)i, depth + 1, output, err);
    }
    put_break(text, depth);
    text_puts(text, "}");
    return ok && stream_drain(output, err);
}
