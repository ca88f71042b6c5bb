/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/data/data.h"

/*
 * What the checks of data sets share: an empty folder, an opened data set, and small IDX sets: 20
 * and 10 rows of 4x3, pixel i of row r is r + i, the label r % 10.
 */
enum { TRAIN = 20, TEST = 10, HEIGHT = 4, WIDTH = 3, PIXELS = HEIGHT * WIDTH };

extern const char *const idx_names[4];

extern char *folder; /* the check's own; the data home is in it, too */
extern struct error err;
extern struct data data;

void data_setup(void);
void data_teardown(void);

/* A big-endian number. */
void put_number(uint8_t *to, uint32_t value);

/* The bytes of file `index` of idx_names; returns their number. At most 16 + 20 * 12. */
size_t idx_bytes(int index, uint8_t *to);

/* gzip `length` bytes into `to` (of 4096 bytes); returns the packed length. */
size_t pack_gzip(const uint8_t *bytes, size_t length, uint8_t *to);

/* The four files in `dir`, packed or plain. */
void put_idx(const char *dir, bool packed);

/* `set` holds what put_idx wrote. */
void check_idx_rows(const struct dataset *set, int rows);

/* Open into `data`. */
void open_or_fail(const char *name, const char *data_dir);

/* Refused in one line that holds `words`, and nothing is left to be released. */
void check_refused(const char *name, const char *data_dir, const char *words);
