/* SPDX-License-Identifier: MIT */
/*
 * A loadable extension of SQLite with the table `sqlite_dbpage`, for sqlite3 shells whose library
 * was built without it (Debian's): their `.recover` reads pages from there and from nowhere else.
 * It has the part of https://www.sqlite.org/dbpage.html that is read: pages of the file as they
 * are, one (pgno = ?) or all. The file must have no write-ahead log.
 */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <string.h>

/* In the order in which they are declared. */
enum { COLUMN_PGNO, COLUMN_DATA, COLUMN_SCHEMA };

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_file *file;
    int page_size;
    sqlite3_int64 page, last;
};

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    (void)context;
    (void)argc;
    (void)argv;
    (void)message;
    int status = sqlite3_declare_vtab(
        db, "CREATE TABLE x (pgno INTEGER PRIMARY KEY, data BLOB, schema HIDDEN)");
    struct table *table = status == SQLITE_OK ? sqlite3_malloc(sizeof *table) : NULL;
    if (!table)
        return status == SQLITE_OK ? SQLITE_NOMEM : status;
    *table = (struct table){.db = db};
    *out = &table->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* idxNum: 1 for one page, 2 for a named schema, both as arguments in this order. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    int page = -1, schema = -1, arguments = 0;
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (info->aConstraint[i].iColumn == COLUMN_SCHEMA) {
            if (!info->aConstraint[i].usable)
                return SQLITE_CONSTRAINT;
            schema = i;
        } else if (info->aConstraint[i].iColumn <= COLUMN_PGNO && info->aConstraint[i].usable) {
            page = i;
        }
    }
    if (page >= 0)
        info->aConstraintUsage[page].argvIndex = ++arguments;
    if (schema >= 0) {
        info->aConstraintUsage[schema].argvIndex = ++arguments;
        info->aConstraintUsage[schema].omit = 1;
    }
    info->idxNum = (page >= 0 ? 1 : 0) | (schema >= 0 ? 2 : 0);
    info->estimatedCost = page >= 0 ? 1 : 1e6;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);
    (void)table;
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* As the library has it, which reads it from a damaged header with more care than we could. */
static int read_page_size(sqlite3 *db, const char *schema, int *size)
{
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("PRAGMA \"%w\".page_size", schema);
    int status = sql ? sqlite3_prepare_v2(db, sql, -1, &statement, NULL) : SQLITE_NOMEM;
    *size = 0;
    if (status == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *size = sqlite3_column_int(statement, 0);
    int ended = sqlite3_finalize(statement);
    sqlite3_free(sql);
    return status != SQLITE_OK  ? status
           : ended != SQLITE_OK ? ended
           : *size > 0          ? ended
                                : SQLITE_ERROR;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    sqlite3 *db = ((struct table *)base->pVtab)->db;
    const char *schema = number & 2 ? (const char *)sqlite3_value_text(argv[argc - 1]) : "main";
    sqlite3_int64 size = 0;
    (void)text;
    cursor->page = 1;
    cursor->last = 0;
    if (!schema)
        return SQLITE_OK;
    int status = read_page_size(db, schema, &cursor->page_size);
    if (status == SQLITE_OK)
        status = sqlite3_file_control(db, schema, SQLITE_FCNTL_FILE_POINTER, &cursor->file);
    /* A data base in memory has no file. */
    if (status != SQLITE_OK || !cursor->file->pMethods)
        return status;
    status = cursor->file->pMethods->xFileSize(cursor->file, &size);
    cursor->last = size / cursor->page_size;
    if (number & 1) {
        sqlite3_int64 only = sqlite3_value_int64(argv[0]);
        cursor->page = only;
        cursor->last = only >= 1 && only <= cursor->last ? only : 0;
    }
    return status;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    ((struct cursor *)cursor)->page++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->page > cursor->last;
}

static int put_page(struct cursor *cursor, sqlite3_context *context)
{
    unsigned char *bytes = sqlite3_malloc(cursor->page_size);
    if (!bytes)
        return SQLITE_NOMEM;
    int status = cursor->file->pMethods->xRead(cursor->file, bytes, cursor->page_size,
                                               (cursor->page - 1) * cursor->page_size);
    /* What the disk does not return is as lost as what is damaged. */
    if (status != SQLITE_OK)
        memset(bytes, 0, (size_t)cursor->page_size);
    sqlite3_result_blob(context, bytes, cursor->page_size, sqlite3_free);
    return SQLITE_OK;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    struct cursor *cursor = (struct cursor *)base;
    if (number == COLUMN_DATA)
        return put_page(cursor, context);
    if (number == COLUMN_PGNO)
        sqlite3_result_int64(context, cursor->page);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = ((struct cursor *)cursor)->page;
    return SQLITE_OK;
}

/* Without xCreate: the table is there without being made. */
static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = row_id,
};

int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *db, char **message,
                                                                  const sqlite3_api_routines *api)
{
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    return sqlite3_create_module(db, "sqlite_dbpage", &module, NULL);
}
