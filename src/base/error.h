/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * How the whole program reports failure.
 *
 * A function that can fail returns bool (true: done) and takes a `struct error *` as its last
 * parameter, which it fills before it returns false. The text is one line without a full stop or
 * newline that says what failed, where, and what to do about it; what is hidden in names
 * from outside is escaped (base/escape.h). Nothing is allocated, so running out of memory is
 * reported like everything else. `err` is never NULL.
 */

enum error_kind {
    ERROR_NONE = 0,
    ERROR_FAILED,    /* the operation failed: exit status 1 */
    ERROR_USAGE,     /* the request itself is wrong (option, spec, configuration): exit status 2 */
    ERROR_CANCELLED, /* stopped because somebody asked for it */
    ERROR_ABSENT,    /* what was asked for is not there, and that need not be an error */
    ERROR_SILENT,    /* the engine is there but does not answer */
    ERROR_LOST,      /* a host of the run has failed or is not heard from */
};

struct error {
    enum error_kind kind;
    char text[1024];
};

#define ERROR_INIT                                                                                 \
    {                                                                                              \
        .kind = ERROR_NONE                                                                         \
    }

/* Fill *err and return false, so that a caller can write `return error_set(err, ...)`. */
bool error_set(struct error *err, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ERROR_FAILED with ": " and the text of errno appended. */
bool error_errno(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ERROR_FAILED, "out of memory (WHAT)". */
bool error_memory(struct error *err, const char *what);
/* `made`, which is NULL where memory ran out: then that error is set. */
void *error_if_null(void *made, struct error *err, const char *what);

/* Put "PREFIX: " before the text that *err already holds; returns false. */
bool error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
