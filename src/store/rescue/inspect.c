/* SPDX-License-Identifier: MIT */
#include "store/rescue/inspect.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "store/database.h"
#include "store/doubt.h"
#include "store/replace.h"

/* Instructions of SQLite's virtual machine between two looks at whether to end. */
#define LOOK_STEPS 1000
/* How often who waits for the end asks for it, in nanoseconds. */
#define ASK_NS 10000000L
/* Damage is what is found so often: a disk that fails may return the page the next time. */
#define TRIES 2

struct store_inspection {
    char *path;
    void (*found)(void *context, const char *text);
    void *context;
    sqlite3 *db;
    struct store_identity identity; /* of the file that `db` reads */
    pthread_t thread;
    atomic_bool leaving, ended;
};

static int is_leaving(void *context)
{
    struct store_inspection *inspection = context;
    return atomic_load(&inspection->leaving);
}

/* What is wrong, in one line, a new string; NULL: nothing, or that is not known. *sound says which.
 */
static char *check(struct store_inspection *inspection, bool *sound)
{
    sqlite3_stmt *statement = NULL;
    char *wrong = NULL;
    *sound = false;
    int status = sqlite3_prepare_v2(inspection->db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    const char *text =
        status == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if ((status & 0xff) == SQLITE_CORRUPT || (status & 0xff) == SQLITE_NOTADB)
        text = sqlite3_errmsg(inspection->db);
    /* What an interrupted check says means nothing. */
    if (text && !is_leaving(inspection)) {
        *sound = strcmp(text, "ok") == 0;
        wrong = *sound ? NULL : strdup(text);
    }
    sqlite3_finalize(statement);
    return wrong;
}

static void report(struct store_inspection *inspection, char *wrong)
{
    for (char *at = wrong; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    char *text = text_format("%s: is damaged (%s): 'dpartui runs repair' saves what can be read; "
                             "the next engine that starts sets it aside",
                             inspection->path, wrong);
    store_doubt(inspection->path);
    inspection->found(inspection->context, text ? text : "the run store is damaged");
    free(text);
}

static void *inspect(void *context)
{
    struct store_inspection *inspection = context;
    bool sound = false;
    char *wrong = NULL;
    /* Of this thread alone, on Linux. */
    setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
    for (int i = 0; i < TRIES && !sound && !is_leaving(inspection); i++) {
        free(wrong);
        wrong = check(inspection, &sound);
    }
    /* Of another file that is there by now nothing is known. */
    bool there = !store_identity_left(inspection->path, &inspection->identity);
    /* What was met meanwhile counts more. */
    if (there && sound && !store_is_doubted(inspection->path))
        store_trust(inspection->path);
    else if (there && !sound && wrong)
        report(inspection, wrong);
    free(wrong);
    atomic_store(&inspection->ended, true);
    return NULL;
}

static bool open_database(struct store_inspection *inspection, struct error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW;
    store_identity_take(inspection->path, &inspection->identity);
    if (sqlite3_open_v2(inspection->path, &inspection->db, flags, NULL) != SQLITE_OK)
        return error_set(err, ERROR_FAILED, "%s: cannot be opened: %s", inspection->path,
                         inspection->db ? sqlite3_errmsg(inspection->db) : "out of memory");
    sqlite3_busy_timeout(inspection->db, 1000);
    sqlite3_progress_handler(inspection->db, LOOK_STEPS, is_leaving, inspection);
    return true;
}

static void release(struct store_inspection *inspection)
{
    sqlite3_close(inspection->db);
    free(inspection->path);
    free(inspection);
}

bool store_inspect_start(const char *path, void (*found)(void *context, const char *text),
                         void *context, struct store_inspection **out, struct error *err)
{
    struct store_inspection *inspection = calloc(1, sizeof *inspection);
    if (!inspection)
        return error_memory(err, path);
    *inspection = (struct store_inspection){.found = found, .context = context};
    /* The real path: SQLite follows no links, and names the log after it. */
    inspection->path = realpath(path, NULL);
    bool ok = inspection->path || error_errno(err, "%s: cannot be checked", path);
    ok = ok && open_database(inspection, err);
    if (ok) {
        errno = pthread_create(&inspection->thread, NULL, inspect, inspection);
        ok = errno == 0 || error_errno(err, "cannot start the thread that checks the run store");
    }
    if (ok)
        *out = inspection;
    else
        release(inspection);
    return ok;
}

void store_inspect_stop(struct store_inspection *inspection)
{
    if (!inspection)
        return;
    atomic_store(&inspection->leaving, true);
    /* An interruption that comes before a statement has begun is lost. */
    while (!atomic_load(&inspection->ended)) {
        sqlite3_interrupt(inspection->db);
        nanosleep(&(struct timespec){.tv_nsec = ASK_NS}, NULL);
    }
    pthread_join(inspection->thread, NULL);
    release(inspection);
}
