/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * What the engine and the first process of a run over hosts say to each other, over the latter's
 * standard input and output: JSON objects, one on each line.
 */

struct lines {
    char *data;
    size_t length, capacity, taken;
};

/* Read what is there now of a descriptor that does not block. False: it has ended, or failed. */
bool lines_fill(struct lines *lines, int fd);
/* The next whole line, without its newline, until the next call; NULL: there is none. */
char *lines_next(struct lines *lines);
void lines_free(struct lines *lines);

/* Write an object, stolen, as a line. False: it could not be. */
bool lines_put(int fd, json_t *object);
