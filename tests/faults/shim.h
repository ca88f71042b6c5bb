/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A library to be preloaded into the engine: calls of the C library that are made by the program
 * itself, jansson, SQLite or zlib are counted, and some of them fail. What other libraries do by
 * themselves (OpenMP, oneDNN, libconfig) is left alone: they end the process or use what they did
 * not get when memory runs out, and nothing here could change that. What the C library allocates
 * for one of the former counts as theirs.
 *
 * A call fails because of its number, or, of allocations, because of its call stack: each stack
 * that comes by is noted, as a hash of its innermost return addresses relative to their modules, so
 * that it is the same in every run of the same program. One of them may be named as the target:
 * then the next allocation with this stack fails, and no other.
 *
 *     FAULT_PAGE   a file of struct fault_page, shared with the test; nothing is done without it
 *     FAULT_CALL   the kind of call that fails, one of the names below
 *     FAULT_AT     which one of them, from 1 on; "all": each, while `active`
 *     FAULT_ERRNO  as a number
 *     FAULT_PATH   only calls on files with this in their path, for calls that have one
 */
#define FAULT_KINDS(KIND)                                                                          \
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

#define FAULT_STACKS 16384 /* a power of two */

#define FAULT_CONSTANT(NAME) FAULT_##NAME,
enum fault_kind { FAULT_KINDS(FAULT_CONSTANT) FAULT_KIND_COUNT };

/* tests/faults/engine.py knows the layout. */
struct fault_page {
    double clock_shift; /* seconds, added to the time of day */
    uint64_t active;    /* "all" is in force */
    uint64_t fired;     /* calls that were made to fail */
    uint64_t counts[FAULT_KIND_COUNT];
    uint64_t callers[8];  /* of the first one that failed: addresses, as offsets in the program */
    uint64_t phase;       /* a bit that the test sets; 0: stacks are not looked at */
    uint64_t allocations; /* while there is a phase */
    uint64_t target;      /* the stack that fails next; 0 once it has, or none */
    uint64_t left_out;    /* stacks for which there was no room */
    struct fault_stack {
        uint64_t hash;   /* 0: no stack */
        uint64_t phases; /* in which it came by */
    } stacks[FAULT_STACKS];
};

/* Learn where the modules are that are loaded. Before all below; allocates. */
void fault_stacks_begin(void);
/* Is this address in the C library? */
bool fault_in_c_library(const void *address);
/*
 * The return addresses of whoever called this library, innermost first; their number. Allocates
 * nothing; none when called from within itself.
 */
int fault_stack_walk(void **frames, int limit);
/* Note the stack of an allocation; true: it was the target, and no longer is. */
bool fault_stack_is_target(struct fault_page *page, void *const *frames, int count);
