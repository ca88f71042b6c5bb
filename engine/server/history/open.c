/* SPDX-License-Identifier: MIT */
#include "engine/server/history/open.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "store/doubt.h"
#include "store/list.h"
#include "store/lock.h"
#include "store/update.h"
#include "store/write.h"

/* How often a store that is brought up to date is logged. */
#define LOG_PERCENT 25
/* How long the kernel may take to clear a killed engine away. */
#define CLEARING_S 30.0

/* What a crash left, in the log and in the store. */
static bool take_interrupted(struct store *store, struct engine_log *log, json_t **interrupted,
                             struct error *err)
{
    json_t *numbers = NULL;
    size_t index;
    json_t *number;
    if (!store_interrupt(store, STORE_LOST, &numbers, err))
        return false;
    json_array_foreach(numbers, index, number)
    {
        long run = (long)json_integer_value(number);
        engine_log(log, MESSAGE_WARNING, run,
                   "run %ld was interrupted: the engine before this one crashed or was killed",
                   run);
    }
    json_decref(*interrupted);
    *interrupted = json_array_size(numbers) > 0 ? json_incref(numbers) : NULL;
    json_decref(numbers);
    return true;
}

struct updating {
    const char *path;
    struct engine_log *log;
    int next; /* percent to log at */
};

/* On the server's thread, before it serves anybody. */
static void log_progress(void *context, int percent)
{
    struct updating *updating = context;
    if (percent < updating->next)
        return;
    updating->next = percent / LOG_PERCENT * LOG_PERCENT + LOG_PERCENT;
    engine_log(updating->log, MESSAGE_INFO, 0, "%s: is brought up to date: %d %%", updating->path,
               percent);
    engine_log_write(updating->log);
}

static bool open_and_read(const char *path, struct engine_log *log, struct store **store,
                          struct stored_runs *past, struct error *err)
{
    struct store_filter filter = STORE_FILTER_INIT;
    struct updating updating = {.path = path, .log = log};
    const struct store_progress progress = {log_progress, &updating};
    filter.limit = STORED_RUNS_MOST;
    *store = NULL;
    if (!store_open_showing(path, &progress, store, past->notice, sizeof past->notice, err))
        return false;
    if (*past->notice)
        engine_log(log, MESSAGE_ERROR, 0, "%s", past->notice);
    snprintf(past->trouble, sizeof past->trouble, "%s", past->notice);
    bool ok = take_interrupted(*store, log, &past->interrupted, err) &&
              store_last_number(*store, &past->last_number, err) &&
              store_count_runs(*store, &past->older, err) &&
              store_list(*store, &filter, true, &past->runs, err);
    past->older = ok ? past->older - (long)json_array_size(past->runs) : 0;
    if (ok && store_list_unread(*store, past->trouble, sizeof past->trouble))
        engine_log(log, MESSAGE_ERROR, 0, "%s", past->trouble);
    return ok;
}

bool history_open(const char *path, struct engine_log *log, struct store **store,
                  struct stored_runs *past, struct error *err)
{
    if (open_and_read(path, log, store, past, err))
        return true;
    if (!*store || !store_is_doubted(path))
        return false;
    store_close(*store);
    *err = (struct error)ERROR_INIT;
    return open_and_read(path, log, store, past, err);
}

bool history_claim(bool own, const char *path, const char *socket, struct error *err)
{
    const double deadline = clock_seconds() + CLEARING_S;
    bool ends = true;
    if (own) {
        store_lock_say_socket(path, socket);
        return true;
    }
    while (path && !store_check_engine(path, socket, &ends, err)) {
        if (!ends || clock_seconds() > deadline)
            return false;
        *err = (struct error)ERROR_INIT;
        nanosleep(&(struct timespec){.tv_nsec = 20000000L}, NULL);
    }
    return true;
}
