/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* Who is told what a check finds, while it works. */
struct store_check {
    /* One line: what is wrong with the store. */
    void (*found)(void *context, const char *problem);
    /* Some ten times a second: what is being checked. */
    void (*progress)(void *context, const char *what);
    void *context;
    long runs; /* that were read */
};

/*
 * Read a whole store, also while an engine writes: all pages and indexes, references, whether the
 * tables are those of its version, and the JSON of every run and event. Nothing is changed.
 * ERROR_ABSENT: there is no store; ERROR_FAILED: it cannot be read, which is no problem of the file
 * itself.
 */
bool store_check(const char *path, struct store_check *check, struct error *err);
