/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SUPPORT_H
#define DPARTUI_TESTS_SUPPORT_H

#include <stddef.h>

/* Helpers of tests; what fails here fails the running test. */

/* A new empty directory below $TMPDIR or /tmp. Give it to support_remove. */
char *support_directory(void);
/* Remove the directory with everything in it, and free its name. */
void support_remove(char *directory);

/* Path of a model description in the source tree; free it. */
char *support_model(const char *name);

/* Make or replace a file. */
void support_write(const char *path, const void *data, size_t length);

#endif
