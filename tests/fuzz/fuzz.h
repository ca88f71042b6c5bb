/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Each fuzz_NAME.c is a program that feeds bytes from outside to one reader of the project. Built
 * with --enable-fuzzing libFuzzer makes the bytes up; else replay.c takes those of corpus/NAME, and
 * changes of them.
 */

/* One input; returns 0. What must hold whatever the input is checked by FUZZ_CHECK. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Is the end of the program, with the place. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A folder of this process, made when first asked for and removed at its end. */
const char *fuzz_folder(void);
/* Replace the file NAME in that folder; NAME may begin with a folder, which is created. */
void fuzz_put(const char *name, const void *data, size_t size);
/* Empty the folder. */
void fuzz_clear(void);
/* The bytes as a string that the caller frees. */
char *fuzz_string(const uint8_t *data, size_t size);
