/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_FAULTS_SHIM_H
#define DPARTUI_TESTS_FAULTS_SHIM_H

#include <stddef.h>
#include <stdint.h>

/*
 * A library to be preloaded into the engine: calls of the C library that are made by the program
 * itself, jansson, SQLite or zlib are counted, and some of them fail. What other libraries do by
 * themselves (OpenMP, oneDNN, libconfig, the C library) is left alone: they end the process or use
 * what they did not get when memory runs out, and nothing here could change that.
 *
 *     FAULT_PAGE   a file of struct fault_page, shared with the test; nothing is done without it
 *     FAULT_CALL   the kind of call that fails, one of the names below
 *     FAULT_AT     which one of them, from 1 on; "all": each, while `active`
 *     FAULT_ERRNO  as a number
 *     FAULT_PATH   only calls on files with this in their path, for calls that have one
 */
#define FAULT_KINDS(KIND)                                                                          \
    KIND(malloc)                                                                                   \
    KIND(open)                                                                                     \
    KIND(read)                                                                                     \
    KIND(write)                                                                                    \
    KIND(fsync)                                                                                    \
    KIND(rename)                                                                                   \
    KIND(socket)                                                                                   \
    KIND(connect)                                                                                  \
    KIND(accept)                                                                                   \
    KIND(recv)                                                                                     \
    KIND(send)                                                                                     \
    KIND(mmap)                                                                                     \
    KIND(thread)                                                                                   \
    KIND(close)                                                                                    \
    KIND(truncate)                                                                                 \
    KIND(unlink)                                                                                   \
    KIND(mkdir)

#define FAULT_CONSTANT(NAME) FAULT_##NAME,
enum fault_kind { FAULT_KINDS(FAULT_CONSTANT) FAULT_KIND_COUNT };

/* tests/faults/engine.py knows the layout. */
struct fault_page {
    double clock_shift; /* seconds, added to the time of day */
    uint64_t active;    /* "all" is in force */
    uint64_t fired;     /* calls that were made to fail */
    uint64_t counts[FAULT_KIND_COUNT];
    uint64_t callers[8]; /* of the last one that failed: addresses, as offsets in the program */
};

#endif
