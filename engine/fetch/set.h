/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_FETCH_SET_H
#define DPARTUI_ENGINE_FETCH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/fetch/fetch.h"

/*
 * What fetch_dataset is made of: what a set consists of, how patient a transfer is, and how
 * progress is told.
 */

struct fetch_file {
    const char *name;
    int64_t size;
    const char *sha256; /* lower-case hexadecimal; NULL for members of a checked archive */
};

struct fetch_set {
    const char *name;
    const char *base; /* address that file names are put behind */
    int file_count;
    struct fetch_file files[4];
    /* NULL, or: the one file is a tar.gz of this folder, which must hold at least `members` */
    const char *folder;
    int member_count;
    struct fetch_file members[6];
};

struct fetch_patience {
    int attempts;         /* of a transfer that breaks off */
    double pause_s;       /* before the second attempt, doubled for each one after it */
    long connect_s;       /* to connect */
    double stall_s;       /* without a byte */
    double report_each_s; /* at least this long between two reports */
};

extern const struct fetch_patience fetch_patience_default;

/* fetch_dataset for one set, given its table. */
bool fetch_set(const struct fetch_set *set, const char *data_dir, const char *from,
               const struct fetch_patience *patience, fetch_report *report, void *context,
               struct error *err);

struct fetch_reporter {
    fetch_report *report;
    void *context;
    double each_s, last_time;
    int64_t last_done;
    struct fetch_progress progress;
};

/* Begin a phase ("verify", ...) of `total` bytes, `done` of them there already. */
bool reporter_begin(struct fetch_reporter *reporter, const char *phase, int64_t done, int64_t total,
                    struct error *err);
/* Tell how far it is, if it is time to. False with ERROR_CANCELLED: stop. */
bool reporter_update(struct fetch_reporter *reporter, int64_t done, struct error *err);

/*
 * address.c: an address for people to read, without the user's name and password in it; a new
 * string that the caller frees, NULL: memory ran out. What stands before the last '@' goes, because
 * a password that should have been escaped may hold any character.
 */
char *address_shown(const char *url);

/* transfer.c: bring `url` into the file `path` of exactly `size` bytes, going on behind what the
 * file holds already (*resumed: it held something that was kept). */
bool transfer_file(const char *url, const char *path, int64_t size,
                   const struct fetch_patience *patience, struct fetch_reporter *reporter,
                   bool *resumed, struct error *err);

/* digest.c: is the file's SHA-256 the expected one? *equal is set when true is returned. */
bool digest_compare(const char *path, const struct fetch_file *file,
                    struct fetch_reporter *reporter, bool *equal, struct error *err);

/*
 * archive.c: unpack the regular files of FOLDER/ in the tar.gz `path` (`name` in messages) into
 * the existing directory `target`. Anything else in the archive is refused: other folders, absolute
 * paths, "..", links, devices, sparse files, names twice, too many or too large members.
 */
bool archive_unpack(const char *path, const char *folder, const char *target,
                    struct fetch_reporter *reporter, struct error *err);

#endif
