/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Shared libraries that are opened while the program runs, each into a table of its functions. */

/* What is wanted. A table is a structure that has nothing but pointers to functions. */
struct library_request {
    const char *name;           /* "cuDNN" */
    const char *file;           /* "libcudnn.so.9": its major version is that of the headers */
    const char *folder;         /* where configure found it; "": nowhere */
    const char *const *symbols; /* one for each pointer of the table, in order */
    size_t symbol_count;
    int version; /* at least this one: major * 10000 + minor * 100 */
    /* That of an opened library, in the same form or with a patch level; 0: it does not say. */
    int (*version_of)(const void *table);
};

/*
 * Opens the first library that will do: found by the loader (LD_LIBRARY_PATH, its cache), in
 * `folder`, or, where that belongs to Python's packages (.../nvidia/PACKAGE/lib), in those next to
 * it. Fills `table`; the library stays open to the end of the process. ERROR_FAILED says what the
 * first one lacks that was found, or where none is, and what to do.
 */
bool library_open(const struct library_request *request, void *table, struct error *err);

/* A library that the whole process uses once somebody asked for it; start with
 * LIBRARY_ONCE_INIT. A failure is not kept: the library may have been installed meanwhile. */
struct library_once {
    pthread_mutex_t lock;
    bool is_open;
};

#define LIBRARY_ONCE_INIT                                                                          \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* library_open at the first call, nothing once that succeeded; any thread. */
bool library_open_once(struct library_once *once, const struct library_request *request,
                       void *table, struct error *err);
