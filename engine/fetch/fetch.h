/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct fetch_progress {
    const char *file;    /* name of the file in progress */
    int index, count;    /* file index of count */
    int64_t done, total; /* bytes of this file; total 0 while unknown */
    double bytes_per_s;
    const char *phase; /* "download", "verify", "unpack" */
};

/*
 * Bring "fashion-mnist", "mnist" or "cifar10" into data_dir/NAME by libcurl: resumes partial files
 * (kept as FILE.part), checks size and SHA-256, unpacks CIFAR's archive refusing members outside
 * its folder, and installs atomically. `from` replaces the base address (http, https, ftp, file),
 * or is NULL. `report` is called at most about ten times a second; false from it cancels
 * (ERROR_CANCELLED, the partial file stays). Files already there and right are not fetched again.
 */
typedef bool fetch_report(void *context, const struct fetch_progress *progress);
bool fetch_dataset(const char *name, const char *data_dir, const char *from, fetch_report *report,
                   void *context, struct error *err);
