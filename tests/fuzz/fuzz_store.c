/* SPDX-License-Identifier: MIT */
/*
 * A damaged or made-up run store: read as commands read it, then opened as the engine does, which
 * must leave a store that takes runs, or a reason.
 */
#include <math.h>

#include "base/file.h"
#include "store/list.h"
#include "store/store.h"
#include "store/write.h"
#include "tests/fuzz/fuzz.h"
#include "tests/src/store/store_show.h"

static void read_all(struct store *store)
{
    struct store_filter filter = STORE_FILTER_INIT;
    struct error err = ERROR_INIT;
    json_t *runs = NULL, *object = NULL;
    size_t index;
    const json_t *run;
    long last;
    filter.words = "done glyphs";
    if (store_list(store, &filter, true, &runs, &err))
        json_decref(runs);
    filter = (struct store_filter)STORE_FILTER_INIT;
    if (!store_list(store, &filter, false, &runs, &err)) {
        FUZZ_CHECK(err.text[0]);
        return;
    }
    json_array_foreach(runs, index, run)
    {
        FUZZ_CHECK(json_is_object(run));
        long number = (long)json_integer_value(json_object_get(run, "run"));
        if (store_show(store, number, &object, &err))
            json_decref(object);
    }
    json_decref(runs);
    store_last_number(store, &last, &err);
}

static void write_one(struct store *store)
{
    struct error err = ERROR_INIT;
    json_t *run = json_pack("{s:i, s:s}", "run", 77, "status", "queued");
    json_t *numbers = NULL;
    if (store_put_run(store, run, NULL, NULL, &err))
        store_add_event(store, 77, "epoch", "{\"event\":\"epoch\"}", &err);
    store_interrupt(store, "the engine ended", &numbers, &err);
    json_decref(numbers);
    json_decref(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct store *store = NULL;
    char notice[4096];
    fuzz_clear();
    fuzz_put("runs.db", data, size);
    char *path = path_join(fuzz_folder(), "runs.db");
    if (store_open_reading(path, &store, &err)) {
        read_all(store);
        store_close(store);
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    err = (struct error)ERROR_INIT;
    if (store_open(path, &store, notice, sizeof notice, &err)) {
        write_one(store);
        read_all(store);
        store_close(store);
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    free(path);
    return 0;
}
