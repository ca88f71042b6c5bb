/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/fetch/fetch.h"

/* What a data set to fetch consists of, and how patient a transfer is. */

struct fetch_file {
    const char *name;
    int64_t size;
    const char *sha256; /* lower-case hexadecimal; NULL for members of a checked archive */
};

struct fetch_set {
    const char *name;
    const char *base; /* address that file names are appended to */
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
