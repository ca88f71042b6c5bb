/* SPDX-License-Identifier: MIT */
#include "tests/src/store/store_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/list.h"
#include "store/write.h"
#include "tests/support.h"

char *folder, *path;

void store_setup(void)
{
    folder = temporary_folder();
    path = format("%s/data/runs.db", folder);
}

void store_teardown(void)
{
    free(path);
    remove_tree(folder);
}

struct store *open_store(void)
{
    struct store *store = NULL;
    struct error err = ERROR_INIT;
    char notice[300];
    must(store_open(path, &store, notice, sizeof notice, &err));
    ck_assert_str_eq(notice, "");
    return store;
}

json_t *run_object(long number, const char *status, const char *model, double submitted)
{
    json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:[s,s], s:i, s:f, s:f, s:n, s:s}", "run",
                               (json_int_t)number, "status", status, "model", model, "data",
                               "glyphs", "devices", "cpu:0", "cpu:1", "batch", 256, "lr", 0.1,
                               "submitted_at", submitted, "test_acc", "note", "Warm start");
    ck_assert_ptr_nonnull(object);
    return object;
}

void put_run(struct store *store, long number, const char *status, const char *model,
             double submitted)
{
    struct error err = ERROR_INIT;
    json_t *object = run_object(number, status, model, submitted);
    json_t *spec = json_pack("{s:i}", "seed", 7);
    must(store_put_run(store, object, spec, NULL, &err));
    json_decref(spec);
    json_decref(object);
}

void add_event(struct store *store, long run, const char *name, const char *text)
{
    struct error err = ERROR_INIT;
    must(store_add_event(store, run, name, text, &err));
}

void check_list(struct store *store, const struct store_filter *filter, const char *numbers)
{
    struct error err = ERROR_INIT;
    json_t *runs = NULL;
    char text[200] = "";
    must(store_list(store, filter, false, &runs, &err));
    for (size_t i = 0; i < json_array_size(runs); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i ? " " : "",
                 (int)json_integer_value(json_object_get(json_array_get(runs, i), "run")));
    ck_assert_str_eq(text, numbers);
    json_decref(runs);
}
