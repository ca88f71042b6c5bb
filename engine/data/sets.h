/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DATA_SETS_H
#define DPARTUI_ENGINE_DATA_SETS_H

#include "base/error.h"
#include "engine/data/data.h"

/*
 * The kinds of data sets that data_open knows. Each `describe` fills the shape, the classes and the
 * number of training rows without taking memory for rows; each `load` or `make` fills the train
 * and test parts, which dataset_free releases, also after a failure.
 */

#define DATA_MAX_ROWS    10000000    /* per part */
#define DATA_MAX_VALUES  (1LL << 32) /* per part: pixels, or numbers */
#define DATA_MAX_CLASSES 256         /* labels are bytes */

void dataset_free(struct dataset *set);

/* Take memory for labels and for pixels or numbers; `set` holds rows and shape already. */
bool dataset_allocate(struct dataset *set, bool numbers, const char *what, struct error *err);

/* Every label below set->classes? `path` is the file that the labels came from. */
bool dataset_check_labels(const struct dataset *set, const char *path, struct error *err);

/* idx.c: four files in `dir`, each plain or with .gz after its name. */
bool idx_present(const char *dir); /* all four are there */
bool idx_any(const char *dir);     /* at least one is there: the folder is meant to be this kind */
bool idx_describe(const char *dir, int classes, struct dataset *shape, int *test_rows,
                  struct error *err);
bool idx_load(const char *dir, int classes, struct dataset *train, struct dataset *test,
              struct error *err);

/* cifar.c: data_batch_1.bin to data_batch_5.bin and test_batch.bin in `dir`; ten classes. */
bool cifar_present(const char *dir);
bool cifar_any(const char *dir);
bool cifar_describe(const char *dir, struct dataset *shape, int *test_rows, struct error *err);
bool cifar_load(const char *dir, struct dataset *train, struct dataset *test, struct error *err);

/* glyphs.c: pictures drawn from a seed. */
void glyphs_describe(struct dataset *shape, int *test_rows);
bool glyphs_make(uint64_t seed, struct dataset *train, struct dataset *test, struct error *err);

/* random.c: "random:ROWSxCOLUMNS". */
bool random_describe(const char *name, struct dataset *shape, struct error *err);
bool random_make(const char *name, uint64_t seed, struct dataset *train, struct dataset *test,
                 struct error *err);

/* classes.c: `count` class names in one block that one free() releases, or NULL where the folder
 * has none. */
const char *const *classes_copy(const char *const *names, int count, struct error *err);
/* The names in DIR/classes.txt, one a line; *count stays as it is where there is no such file. */
bool classes_read(const char *dir, const char *const **names, int *count, struct error *err);

#endif
