/* SPDX-License-Identifier: MIT */
#include "store/examine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "store/database.h"
#include "store/doubt.h"
#include "store/query.h"

/* After a failure. When memory runs out, or when the disk fails, the file may be whole. */
static enum store_condition condition_of_failure(struct store *store)
{
    int code = sqlite3_errcode(store->db) & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? STORE_DAMAGED : STORE_UNKNOWN;
}

/* Nobody's tables are in it: one that is being made, and not another program's. */
static bool is_blank(struct store *store, bool *blank, struct error *err)
{
    struct query query;
    query_begin(&query, store, "SELECT 1 FROM sqlite_schema LIMIT 1");
    *blank = !query_row(&query);
    return query_end(&query, "be read", err);
}

enum store_condition store_identify(struct store *store, int *version, struct error *err)
{
    int id;
    bool blank = true;
    if (!store_pragma(store, "PRAGMA application_id", &id, err) ||
        !store_pragma(store, "PRAGMA user_version", version, err))
        return condition_of_failure(store);
    if (*version == 0 && !is_blank(store, &blank, err))
        return condition_of_failure(store);
    return *version < 0 || (*version > 0 ? id != STORE_APPLICATION_ID : !blank) ? STORE_DAMAGED
                                                                                : STORE_SOUND;
}

/*
 * Is the file whole, and a store of ours (or empty)? All of it with `thorough`; else what an engine
 * reads when it starts. STORE_UNKNOWN: *err says why.
 */
static enum store_condition examine(struct store *store, bool thorough, struct error *err)
{
    struct query query;
    int version;
    enum store_condition condition = store_identify(store, &version, err);
    if (condition != STORE_SOUND)
        return condition;
    query_begin(&query, store,
                thorough      ? "PRAGMA quick_check(1)"
                : version > 0 ? "SELECT 'ok', sum(length(object)) FROM"
                                " (SELECT object FROM runs ORDER BY number DESC LIMIT 1000)"
                              : "SELECT 'ok'");
    /* "": there was no memory for the text. */
    const char *text = query_row(&query) ? query_text(&query, 0) : "";
    if (strcmp(text, "ok") != 0)
        condition = *text ? STORE_DAMAGED : STORE_UNKNOWN;
    if (!query_end(&query, "be checked", err))
        return condition_of_failure(store);
    if (condition == STORE_UNKNOWN)
        error_memory(err, store->path);
    return condition;
}

/* Can all of a file be read? One that is not there can. */
static bool is_readable(const struct store *store, const char *suffix, struct error *err)
{
    char buffer[16384], *path = text_format("%s%s", store->path, suffix);
    if (!path)
        return error_memory(err, store->path);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    bool ok = fd >= 0 || errno == ENOENT || error_errno(err, "%s: cannot be read", path);
    ssize_t got = fd >= 0 ? 1 : 0;
    while (ok && got != 0) {
        got = read(fd, buffer, sizeof buffer);
        ok = got >= 0 || errno == EINTR || error_errno(err, "%s: cannot be read", path);
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return ok;
}

enum store_condition store_examine_twice(struct store *store, bool thorough, int flags,
                                         struct error *err)
{
    enum store_condition condition = examine(store, thorough, err);
    if (condition == STORE_DAMAGED) {
        store_close_database(store);
        if (!is_readable(store, "", err) || !is_readable(store, "-wal", err) ||
            !store_open_database(store, flags, err))
            return STORE_UNKNOWN;
        condition = examine(store, true, err);
    }
    if (condition == STORE_SOUND && thorough)
        store_trust(store->path);
    return condition;
}

char *store_damaged_path(const char *path)
{
    char date[32] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(date, sizeof date, "%Y%m%d-%H%M%S", &local);
    return text_format("%s.damaged-%s-%d", path, date, (int)getpid());
}

bool store_set_aside(struct store *store, char *notice, size_t notice_size, struct error *err)
{
    static const char *const parts[] = {"", "-wal", "-shm"};
    char *aside = store_damaged_path(store->path);
    bool ok = aside || error_memory(err, store->path);
    for (size_t i = 0; ok && i < sizeof parts / sizeof *parts; i++) {
        char *to = text_format("%s%s", aside, parts[i]);
        char *from = text_format("%s%s", store->path, parts[i]);
        if (!to || !from)
            ok = error_memory(err, store->path);
        else if (rename(from, to) != 0 && errno != ENOENT)
            ok = error_errno(err, "%s: is damaged and cannot be set aside", store->path);
        if (ok && i == 0)
            snprintf(notice, notice_size,
                     "%s was damaged or no run store: it was set aside as %s, and a new one begun; "
                     "'dpartui runs repair' with that file adds what can be read of it",
                     store->path, to);
        free(to);
        free(from);
    }
    free(aside);
    if (ok)
        store_trust(store->path);
    return ok;
}
