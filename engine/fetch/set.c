/* SPDX-License-Identifier: MIT */
#include "engine/fetch/set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "engine/fetch/address.h"
#include "engine/fetch/archive.h"
#include "engine/fetch/digest.h"
#include "engine/fetch/reporter.h"
#include "engine/fetch/transfer.h"

const struct fetch_patience fetch_patience_default = {
    .attempts = 6, .pause_s = 1, .connect_s = 20, .stall_s = 30, .report_each_s = 0.1};

static bool has_size(const char *path, int64_t size)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == size;
}

/* ERROR_USAGE or another kind: the address, followed by `words`. */
static bool address_error(const char *url, enum error_kind kind, const char *words,
                          struct error *err)
{
    char *shown = address_shown(url);
    bool failed = shown ? error_set(err, kind, "%s: %s", shown, words) : error_memory(err, words);
    free(shown);
    return failed;
}

/* "BASE/NAME" with exactly one slash between; only addresses that transfers are allowed to use. */
static char *address_of(const char *base, const char *name, struct error *err)
{
    static const char *const schemes[] = {"http://", "https://", "ftp://", "file://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncasecmp(base, schemes[i], strlen(schemes[i])) == 0) {
            return error_if_null(path_join(base, name), err, name);
        }
    }
    address_error(base, ERROR_USAGE,
                  "not an address that data can be fetched from: it must begin with http://, "
                  "https://, ftp:// or file://",
                  err);
    return NULL;
}

/*
 * Download into `part` until it has the right SHA-256. A partial file may stem from another place:
 * if the sum is wrong and anything was kept from an earlier fetch, one fresh download follows.
 */
static bool download(const char *url, const char *part, const struct fetch_file *file,
                     const struct fetch_patience *patience, struct fetch_reporter *reporter,
                     struct error *err)
{
    for (;;) {
        bool resumed = false, equal = false;
        if (!transfer_file(url, part, file->size, patience, reporter, &resumed, err) ||
            !digest_compare(part, file, reporter, &equal, err))
            return false;
        if (equal)
            return true;
        if (unlink(part) != 0)
            return error_errno(err, "%s: damaged, and cannot be removed", part);
        if (!resumed)
            return address_error(url, ERROR_FAILED,
                                 "what was fetched is not the expected file (its SHA-256 differs) "
                                 "and was removed: use --from with another mirror",
                                 err);
    }
}

/* Is the finished file in place already? */
static bool already_there(const char *path, const struct fetch_file *file,
                          struct fetch_reporter *reporter, bool *there, struct error *err)
{
    *there = false;
    return has_size(path, file->size) ? digest_compare(path, file, reporter, there, err) : true;
}

static bool fetch_file(const struct fetch_file *file, const char *dir, const char *base,
                       const struct fetch_patience *patience, struct fetch_reporter *reporter,
                       struct error *err)
{
    char *path = path_join(dir, file->name), *part = text_format("%s/%s.part", dir, file->name);
    char *url = NULL;
    bool there = false;
    bool ok = path && part ? already_there(path, file, reporter, &there, err)
                           : error_memory(err, file->name);
    if (ok && !there) {
        ok = (url = address_of(base, file->name, err)) &&
             download(url, part, file, patience, reporter, err);
        if (ok && rename(part, path) != 0)
            ok = error_errno(err, "%s: cannot rename the finished file to %s", part, path);
        ok = ok && sync_directory(dir, err);
    }
    free(path);
    free(part);
    free(url);
    return ok;
}

/* Does the folder hold all that the archive must have brought? */
static bool folder_complete(const struct fetch_set *set, const char *folder, const char **missing)
{
    for (int i = 0; i < set->member_count; i++) {
        char *path = path_join(folder, set->members[i].name);
        bool right = path && has_size(path, set->members[i].size);
        free(path);
        if (!right) {
            *missing = set->members[i].name;
            return false;
        }
    }
    return true;
}

/* Every file of a folder that holds files only: rename it into `to`, or unlink it. */
static bool empty_folder(const char *folder, const char *to, struct error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        error_errno(err, "%s: cannot open", folder);
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(stream));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *from = path_join(folder, entry->d_name),
             *into = to ? path_join(to, entry->d_name) : NULL;
        if (!from || (to && !into))
            ok = error_memory(err, folder);
        else if (to ? rename(from, into) != 0 : unlink(from) != 0)
            ok = error_errno(err, "%s: cannot %s", from, to ? "move to the data" : "remove");
        free(from);
        free(into);
    }
    closedir(stream);
    return ok;
}

/*
 * Move the unpacked folder into place: in one step, or where an incomplete one stands already,
 * file by file, so that nothing else in it is lost.
 */
static bool install_folder(const char *unpacked, const char *folder, const char *dir,
                           struct error *err)
{
    struct stat info;
    if (stat(folder, &info) == 0 && S_ISDIR(info.st_mode))
        return empty_folder(unpacked, folder, err) && sync_directory(folder, err);
    if (rename(unpacked, folder) != 0)
        return error_errno(err, "%s: cannot rename to %s", unpacked, folder);
    return sync_directory(dir, err);
}

/* An empty folder to unpack into; what an interrupted fetch left there goes. */
static bool fresh_folder(const char *path, struct error *err)
{
    if (mkdir(path, 0777) == 0)
        return true;
    if (errno != EEXIST)
        return error_errno(err, "%s: cannot make this folder", path);
    return empty_folder(path, NULL, err);
}

static bool unpack(const struct fetch_set *set, const char *part, const char *dir,
                   const char *folder, struct fetch_reporter *reporter, struct error *err)
{
    int64_t total = 0;
    const char *missing = NULL;
    for (int i = 0; i < set->member_count; i++)
        total += set->members[i].size;
    /* The lock on `dir` makes this name ours. */
    char *unpacked = path_join(dir, ".unpack");
    if (!unpacked)
        return error_memory(err, folder);
    bool ok = fresh_folder(unpacked, err) && reporter_begin(reporter, "unpack", 0, total, err) &&
              archive_unpack(part, set->folder, unpacked, reporter, err);
    if (ok && !folder_complete(set, unpacked, &missing))
        ok = error_set(err, ERROR_FAILED, "%s: the archive has no %s of the right size", part,
                       missing);
    ok = ok && install_folder(unpacked, folder, dir, err);
    struct error ignored = ERROR_INIT;
    if (access(unpacked, F_OK) == 0 && empty_folder(unpacked, NULL, &ignored))
        rmdir(unpacked);
    free(unpacked);
    return ok;
}

static bool fetch_archive(const struct fetch_set *set, const char *dir, const char *base,
                          const struct fetch_patience *patience, struct fetch_reporter *reporter,
                          struct error *err)
{
    const struct fetch_file *file = &set->files[0];
    const char *missing;
    char *folder = path_join(dir, set->folder), *url = NULL;
    char *part = text_format("%s/%s.part", dir, file->name);
    bool ok = true;
    if (!folder || !part) {
        ok = error_memory(err, set->name);
    } else if (!folder_complete(set, folder, &missing)) {
        ok = (url = address_of(base, file->name, err)) &&
             download(url, part, file, patience, reporter, err) &&
             unpack(set, part, dir, folder, reporter, err);
        if (ok && unlink(part) != 0)
            ok = error_errno(err, "%s: unpacked, but cannot be removed", part);
    }
    free(folder);
    free(part);
    free(url);
    return ok;
}

/* Two fetches into one folder would write into the same partial files. */
static int lock_folder(const char *dir, struct error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        error_errno(err, "%s: cannot open", dir);
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        error_set(err, ERROR_FAILED, "%s: another fetch into this folder is running", dir);
        close(fd);
        fd = -1;
    }
    return fd; /* a file system without locks does without */
}

bool fetch_set(const struct fetch_set *set, const char *data_dir, const char *from,
               const struct fetch_patience *patience, fetch_report *report, void *context,
               struct error *err)
{
    const char *base = from ? from : set->base;
    struct fetch_reporter reporter = {
        .report = report, .context = context, .each_s = patience->report_each_s};
    reporter.progress.count = set->file_count;
    char *dir = path_join(data_dir, set->name);
    if (!dir)
        return error_memory(err, data_dir);
    int lock = -1;
    bool ok = make_directories(dir, 0777, err) && (lock = lock_folder(dir, err)) >= 0;
    for (int i = 0; ok && i < set->file_count; i++) {
        reporter.progress.file = set->files[i].name;
        reporter.progress.index = i;
        ok = set->folder ? fetch_archive(set, dir, base, patience, &reporter, err)
                         : fetch_file(&set->files[i], dir, base, patience, &reporter, err);
    }
    if (lock >= 0)
        close(lock);
    free(dir);
    return ok;
}
