/* SPDX-License-Identifier: MIT */
#include "store/rescue/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "store/database.h"
#include "store/examine.h"
#include "store/query.h"
#include "store/update.h"

/* Problems of one kind that are named; a damaged file may have as many as pages. */
#define NAMED "20"
/* Steps of SQLite's virtual machine between two looks at the clock. */
#define STEPS 10000

struct checking {
    struct store *store;
    struct store_check *check;
    const char *what;
    double shown;
};

static int show_progress(void *context)
{
    struct checking *c = context;
    double now = clock_seconds();
    if (now - c->shown >= 0.1) {
        c->shown = now;
        c->check->progress(c->check->context, c->what);
    }
    return 0;
}

static void found(struct checking *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void found(struct checking *c, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c->check->found(c->check->context, text);
}

static bool is_damage(const struct store *store)
{
    int code = sqlite3_errcode(store->db) & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
}

/* Each line is a problem, but for headings and "ok". */
static void found_lines(struct checking *c, const char *text)
{
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (strncmp(text, "***", 3) != 0 && !(length == 2 && strncmp(text, "ok", 2) == 0))
            found(c, "%.*s", (int)length, text);
    }
}

/* Each row of `sql` has problems. A statement that fails on damage is one, too. */
static bool each_row(struct checking *c, const char *what, const char *sql, struct error *err)
{
    struct query query;
    c->what = what;
    query_begin(&query, c->store, sql);
    while (query_row(&query))
        found_lines(c, query_text(&query, 0));
    bool ok = !query.memory && query.status == SQLITE_DONE;
    bool damage = !query.memory && is_damage(c->store);
    if (!ok && damage)
        found(c, "%s cannot be read: %s", what, sqlite3_errmsg(c->store->db));
    else if (!ok)
        store_error(c->store, "be checked", err);
    sqlite3_finalize(query.statement);
    return ok || damage;
}

/* Tables without rows in `like` as in the store, brought up to date as an engine would do it. */
static bool imitate(struct checking *c, struct store *like, int version, struct error *err)
{
    struct query query;
    bool ok = true;
    query_begin(&query, c->store,
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%'"
                " ESCAPE '!' ORDER BY type = 'index', rowid");
    while (ok && query_row(&query))
        ok = store_exec(like, query_text(&query, 0), "have its tables", err);
    sqlite3_finalize(query.statement);
    return ok && store_migrate(like, version, err);
}

/* Tables with their columns, and indexes. */
#define PARTS                                                                                      \
    "SELECT m.type || ' ' || m.name || iif(p.name IS NULL, '', ', column ' || p.name)"             \
    " FROM sqlite_schema AS m LEFT JOIN pragma_table_info(m.name) AS p ON m.type = 'table'"        \
    " WHERE m.name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY 1"

static bool has_part(struct store *store, const char *part)
{
    struct query query;
    query_begin(&query, store, "SELECT 1 WHERE ?1 IN (" PARTS ")");
    query_bind_text(&query, part);
    bool has = query_row(&query);
    sqlite3_finalize(query.statement);
    return has;
}

static bool compare_parts(struct checking *c, struct store *like, struct store *fresh,
                          struct error *err)
{
    struct query query;
    query_begin(&query, fresh, PARTS);
    while (query_row(&query))
        if (!has_part(like, query_text(&query, 0)))
            found(c, "its tables are not those of its version: %s is missing",
                  query_text(&query, 0));
    return query_end(&query, "be checked", err);
}

static bool check_tables(struct checking *c, int version, struct error *err)
{
    struct error reason = ERROR_INIT;
    struct store *like = store_new(":memory:", err), *fresh = store_new(":memory:", err);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    bool ok = like && fresh && store_open_database(like, flags, err) &&
              store_open_database(fresh, flags, err) && store_migrate(fresh, 0, err);
    if (ok && !imitate(c, like, version, &reason))
        found(c, "its tables are not those of its version %d: %s", version,
              sqlite3_errmsg(like->db));
    else if (ok)
        ok = compare_parts(c, like, fresh, err);
    store_close(like);
    store_close(fresh);
    return ok;
}

static bool check_rows(struct checking *c, struct error *err)
{
    struct query query;
    if (!each_row(c, "the settings of runs",
                  "SELECT 'run ' || number || ': its record is no JSON, or of another run' FROM"
                  " runs WHERE coalesce(iif(json_valid(object), json_extract(object, '$.run'), 0),"
                  " 0) <> number UNION ALL SELECT 'run ' || number || ': its settings are no JSON'"
                  " FROM runs WHERE NOT json_valid(coalesce(spec, '{}')) OR NOT"
                  " json_valid(coalesce(environment, '{}')) LIMIT " NAMED,
                  err) ||
        !each_row(c, "the events of runs",
                  "SELECT 'run ' || run || ': event ' || number || ' is no JSON' FROM events WHERE"
                  " NOT json_valid(event) LIMIT " NAMED,
                  err))
        return false;
    query_begin(&query, c->store, "SELECT count(*) FROM runs");
    if (query_row(&query))
        c->check->runs = (long)sqlite3_column_int64(query.statement, 0);
    sqlite3_finalize(query.statement);
    return true;
}

static bool check_content(struct checking *c, int version, struct error *err)
{
    return each_row(c, "the pages and indexes", "PRAGMA integrity_check(" NAMED ")", err) &&
           each_row(c, "the references",
                    "SELECT \"table\" || ': row of a run that is not there'"
                    " FROM pragma_foreign_key_check LIMIT " NAMED,
                    err) &&
           check_tables(c, version, err) && check_rows(c, err);
}

static bool check_open(struct checking *c, struct error *err)
{
    int version;
    enum store_condition condition = store_identify(c->store, &version, err);
    if (condition == STORE_UNKNOWN)
        return false;
    *err = (struct error)ERROR_INIT;
    if (condition == STORE_DAMAGED)
        found(c, "it is damaged from its first page on, or no run store");
    else if (version > STORE_VERSION)
        return error_set(err, ERROR_FAILED,
                         "%s: is of a newer version of dpartui (store version %d): check it with "
                         "that one",
                         c->store->path, version);
    else if (version > 0)
        return check_content(c, version, err);
    return true;
}

bool store_check(const char *path, struct store_check *check, struct error *err)
{
    struct stat info;
    struct checking c = {.check = check, .what = "the first page", .shown = clock_seconds()};
    check->runs = 0;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? error_set(err, ERROR_ABSENT, "%s: there is no run store yet", path)
                   : error_errno(err, "%s: cannot be read", path);
    c.store = store_new(path, err);
    if (!c.store)
        return false;
    if (!S_ISREG(info.st_mode)) {
        found(&c, "it is no regular file: move it away");
    } else if (info.st_size == 0) {
        found(&c, "it is empty (0 bytes): put a backup in its place, or remove it");
    } else if (!store_open_for_reading(c.store, err)) {
        store_close(c.store);
        return false;
    } else {
        sqlite3_progress_handler(c.store->db, STEPS, show_progress, &c);
        bool ok = check_open(&c, err);
        store_close(c.store);
        return ok;
    }
    store_close(c.store);
    return true;
}
