/* SPDX-License-Identifier: MIT */
#include "tests/engine/server/history/fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/read.h"
#include "tests/support.h"

char *folder, *path;
struct engine_log messages;

static void ignore(void *context)
{
    (void)context;
}

void setup(void)
{
    folder = temporary_folder();
    path = format("%s/runs.db", folder);
    engine_log_begin(&messages, -1, ignore, NULL);
}

void teardown(void)
{
    engine_log_end(&messages);
    free(path);
    remove_tree(folder);
}

struct history *start(struct stored_runs *past)
{
    struct history *history;
    history_start(path, &messages, &history, past);
    ck_assert_ptr_nonnull(history);
    return history;
}

struct history *start_afresh(void)
{
    struct stored_runs past;
    struct history *history = start(&past);
    ck_assert_int_eq(past.last_number, 0);
    json_decref(past.runs);
    return history;
}

void put_run(struct history *history, long run, const char *status)
{
    history_put_run(history,
                    json_pack("{s:I, s:s, s:s, s:f}", "run", (json_int_t)run, "status", status,
                              "model", "linear", "submitted_at", 1.7e9),
                    json_pack("{s:s}", "model", "linear"), NULL);
}

void add_events(struct history *history, long run, long first, long count)
{
    for (long i = first; i < first + count; i++) {
        char text[160];
        snprintf(text, sizeof text, "{\"event\":\"warning\",\"text\":\"%ld %0100d\"}", i, 0);
        history_add_event(history, run, "warning", text);
    }
}

/* Ten steps each. */
void add_epoch(struct history *history, long run, long epoch, double score)
{
    char text[160];
    snprintf(text, sizeof text, "{\"event\":\"epoch\",\"epoch\":%ld,\"step\":%ld}", epoch,
             10 * epoch);
    history_add_epoch(history, run, epoch, score, text);
}

struct store *reader(void)
{
    struct store *store = NULL;
    struct error err = ERROR_INIT;
    ck_assert_msg(store_open_reading(path, &store, &err), "%s", err.text);
    return store;
}

/* The store has the events 0 to count - 1 of a run, in their order. */
void check_events(long run, long count)
{
    struct store *store = reader();
    struct error err = ERROR_INIT;
    json_t *events;
    ck_assert_msg(store_events(store, run, NULL, &events, &err), "%s", err.text);
    ck_assert_int_eq((long)json_array_size(events), count);
    long right = 0; /* not an assertion each: Check writes a line for every one */
    for (long i = 0; i < count; i++) {
        const json_t *event = json_array_get(events, (size_t)i);
        const char *text = json_string_value(json_object_get(event, "text"));
        right += text && strtol(text, NULL, 10) == i;
    }
    ck_assert_int_eq(right, count);
    json_decref(events);
    store_close(store);
}

/* The store has just these epochs of a run. */
void check_epochs(long run, const long *wanted, size_t count)
{
    struct store *store = reader();
    struct error err = ERROR_INIT;
    json_t *epochs;
    ck_assert_msg(store_events(store, run, "epoch", &epochs, &err), "%s", err.text);
    ck_assert_uint_eq(json_array_size(epochs), count);
    size_t right = 0; /* as above */
    for (size_t i = 0; i < count; i++) {
        const json_t *epoch = json_object_get(json_array_get(epochs, i), "epoch");
        right += json_integer_value(epoch) == wanted[i];
    }
    ck_assert_uint_eq(right, count);
    json_decref(epochs);
    store_close(store);
}

/* How many messages hold these words. */
long told(const char *words)
{
    long count = 0;
    size_t index;
    const json_t *message;
    json_t *list = engine_log_newest(&messages, ENGINE_LOG_KEPT);
    json_array_foreach(list, index, message)
    {
        if (strstr(json_string_value(json_object_get(message, "text")), words))
            count++;
    }
    json_decref(list);
    return count;
}

void wait_told(const char *words)
{
    for (int i = 0; i < 3000 && told(words) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert_msg(told(words) > 0, "nothing about: %s", words);
}

long count_events(long run, const char *name)
{
    struct store *store = reader();
    struct error err = ERROR_INIT;
    json_t *events;
    ck_assert_msg(store_events(store, run, name, &events, &err), "%s", err.text);
    long count = (long)json_array_size(events);
    json_decref(events);
    store_close(store);
    return count;
}

void check_status(long number, const char *status)
{
    struct store *store = reader();
    struct error err = ERROR_INIT;
    json_t *run;
    ck_assert_msg(store_head(store, number, &run, &err), "%s", err.text);
    ck_assert_str_eq(json_string_value(json_object_get(run, "status")), status);
    json_decref(run);
    store_close(store);
}
