/* SPDX-License-Identifier: MIT */
#include "store/rescue/repair.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "store/database.h"
#include "store/doubt.h"
#include "store/examine.h"
#include "store/lock.h"
#include "store/place.h"
#include "store/query.h"
#include "store/rescue/copy.h"
#include "store/rescue/recover.h"
#include "store/write.h"
#include "store/writing.h"

/* A repair in progress: a folder next to the store in which the new one is made. */
struct repair {
    char *path, *folder;
    int lock_fd;
};

static void remove_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(folder);
}

static void end_repair(struct repair *repair)
{
    if (repair->folder)
        remove_folder(repair->folder);
    if (repair->lock_fd >= 0)
        close(repair->lock_fd);
    free(repair->folder);
    free(repair->path);
}

/* end_repair must be called in any case. */
static bool begin_repair(const char *path, struct repair *repair, struct error *err)
{
    *repair = (struct repair){.lock_fd = -1};
    repair->path = strdup(path);
    if (!repair->path)
        return error_memory(err, path);
    if (!store_settle_path(&repair->path, err))
        return false;
    if (!store_lock(repair->path, &repair->lock_fd, err)) {
        if (store_is_locked(repair->path))
            error_set(err, ERROR_FAILED,
                      "%s: an engine uses it: end that with 'dpartui engine stop'", repair->path);
        return false;
    }
    repair->folder = text_format("%s.repair-XXXXXX", repair->path);
    if (!repair->folder)
        return error_memory(err, path);
    if (mkdtemp(repair->folder))
        return true;
    free(repair->folder);
    repair->folder = NULL;
    return error_errno(err, "%s: no folder can be made next to it", repair->path);
}

/* FOLDER/new.db, closed, from the damaged file. */
static bool make_new(const struct repair *repair, const char *damaged, char *new,
                     struct store_salvaged *saved, struct error *err)
{
    char notice[300];
    struct store *store = NULL;
    char *recovered = path_join(repair->folder, "recovered.db");
    bool ok = recovered ? store_recover(damaged, repair->folder, err) &&
                              store_open(new, &store, notice, sizeof notice, err) &&
                              store_salvage(recovered, store, saved, err)
                        : error_memory(err, damaged);
    store_close(store);
    free(recovered);
    return ok && (saved->runs > 0 ||
                  error_set(err, ERROR_FAILED, "%s: no run can be saved of it", damaged));
}

static bool sync_file(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        error_errno(err, "%s: cannot be synced", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The damaged file gets a second name, its log moves there, and the new file takes its place. */
static bool swap(const struct repair *repair, const char *new, const char *kept, struct error *err)
{
    char *log = text_format("%s-wal", repair->path), *kept_log = text_format("%s-wal", kept);
    char *index = text_format("%s-shm", repair->path);
    bool ok = (log && kept_log && index) || error_memory(err, repair->path), linked, moved;
    ok = linked = ok && (link(repair->path, kept) == 0 ||
                         error_errno(err, "%s: cannot be kept as %s", repair->path, kept));
    moved = ok && rename(log, kept_log) == 0;
    ok = ok && (moved || errno == ENOENT || error_errno(err, "%s: cannot be moved", log));
    ok = ok && (unlink(index) == 0 || errno == ENOENT ||
                error_errno(err, "%s: cannot be removed", index));
    ok = ok && (rename(new, repair->path) == 0 ||
                error_errno(err, "%s: cannot be replaced", repair->path));
    /* The index is rebuilt from the log. */
    if (!ok && moved && rename(kept_log, log) != 0)
        error_errno(err, "%s: cannot be moved back to %s", kept_log, log);
    else if (!ok && linked)
        unlink(kept);
    free(log);
    free(kept_log);
    free(index);
    return ok;
}

static bool put_in_place(struct repair *repair, const char *new, struct store_repaired *repaired,
                         struct error *err)
{
    char *kept = store_damaged_path(repair->path);
    if (!kept)
        return error_memory(err, repair->path);
    int length = snprintf(repaired->kept, sizeof repaired->kept, "%s", kept);
    free(kept);
    if (length < 0 || (size_t)length >= sizeof repaired->kept)
        return error_set(err, ERROR_FAILED, "%s: this path is too long", repair->path);
    if (!sync_file(new, err) || !swap(repair, new, repaired->kept, err))
        return false;
    store_trust(repair->path);
    char *slash = strrchr(repair->path, '/');
    *slash = '\0';
    bool ok = sync_directory(repair->path, err);
    *slash = '/';
    return ok;
}

static bool next_number(struct store *a, struct store *b, long *number, struct error *err)
{
    long other;
    if (!store_last_number(a, number, err) || !store_last_number(b, &other, err))
        return false;
    *number = 1 + (*number > other ? *number : other);
    return true;
}

/* Under whatever number: a file may be added twice. */
static bool is_present(struct store *store, double submitted_at, bool *present, struct error *err)
{
    struct query query;
    query_begin(&query, store,
                "SELECT 1 FROM runs WHERE submitted_at BETWEEN ?1 - 1e-3 AND"
                " ?1 + 1e-3");
    query_bind_double(&query, submitted_at);
    *present = query_row(&query);
    return query_end(&query, "be read", err);
}

static bool add_run(struct store *to, struct store *from, long run, double submitted_at,
                    struct store_repaired *repaired, struct error *err)
{
    double time;
    long number = run;
    bool present;
    if (!is_present(to, submitted_at, &present, err))
        return false;
    if (present) {
        repaired->present++;
        return true;
    }
    if (store_submitted_at(to, run, &time, err)) {
        if (!next_number(to, from, &number, err) || !store_renumber(from, run, number, err))
            return false;
        repaired->renumbered++;
    } else if (err->kind != ERROR_ABSENT) {
        return false;
    }
    *err = (struct error)ERROR_INIT;
    repaired->added++;
    return store_copy_run(to, from, number, err);
}

/* Their numbers and times first: runs may get other numbers on the way. */
static bool add_runs(struct store *to, struct store *from, struct store_repaired *repaired,
                     struct error *err)
{
    struct query query;
    bool ok = store_exec(from,
                         "CREATE TEMP TABLE here AS SELECT number, submitted_at FROM runs"
                         " ORDER BY number",
                         "be read", err);
    query_begin(&query, from, "SELECT number, submitted_at FROM here ORDER BY number");
    while (ok && query_row(&query)) {
        bool dated = sqlite3_column_type(query.statement, 1) != SQLITE_NULL;
        ok = add_run(to, from, (long)sqlite3_column_int64(query.statement, 0),
                     dated ? sqlite3_column_double(query.statement, 1) : NAN, repaired, err);
    }
    return query_finish(&query, ok, "be read", err);
}

/* With the lock of the repair, which the store takes over. */
static bool open_present(struct repair *repair, struct store **store,
                         struct store_repaired *repaired, struct error *err)
{
    *store = store_new(repair->path, err);
    if (!*store)
        return false;
    (*store)->lock_fd = repair->lock_fd;
    repair->lock_fd = -1;
    return store_begin_writing(*store, repaired->notice, sizeof repaired->notice, err);
}

static bool add_from(struct repair *repair, const char *new, struct store_repaired *repaired,
                     struct error *err)
{
    char notice[300];
    struct store *from = NULL, *to = NULL;
    bool ok = store_open(new, &from, notice, sizeof notice, err) &&
              open_present(repair, &to, repaired, err) && store_begin(to, err);
    if (ok && !(add_runs(to, from, repaired, err) && store_commit(to, err))) {
        store_rollback(to);
        ok = false;
    }
    store_close(from);
    store_close(to);
    return ok;
}

/* `file`: to add its runs to the store; NULL: the store itself is damaged. */
static bool repair_with(const char *path, const char *file, struct store_repaired *repaired,
                        struct error *err)
{
    struct repair repair;
    *repaired = (struct store_repaired){0};
    bool ok = begin_repair(path, &repair, err);
    char *new = ok ? path_join(repair.folder, "new.db") : NULL;
    ok = ok && (new || error_memory(err, path)) &&
         make_new(&repair, file ? file : repair.path, new, &repaired->saved, err) &&
         (file ? add_from : put_in_place)(&repair, new, repaired, err);
    free(new);
    end_repair(&repair);
    return ok;
}

bool store_repair(const char *path, struct store_repaired *repaired, struct error *err)
{
    return repair_with(path, NULL, repaired, err);
}

bool store_repair_from(const char *path, const char *file, struct store_repaired *repaired,
                       struct error *err)
{
    bool ok = repair_with(path, file, repaired, err);
    snprintf(repaired->kept, sizeof repaired->kept, "%s", file);
    return ok;
}
