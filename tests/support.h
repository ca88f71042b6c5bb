/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What several test programs need. All of it fails the running check when it cannot be done. */

/* A new empty folder below $TMPDIR; release with remove_tree. */
char *temporary_folder(void);
/* Remove a folder with all that is in it, and free its name. NULL is fine. */
void remove_tree(char *folder);

/* printf into a string that the caller frees. */
char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

/* Path of a model description in the source tree, for the caller to free. */
char *shipped_model(const char *name);

/* Write DIR/NAME; NULL data: zeros. Folders in between are made. */
void put_file(const char *dir, const char *name, const void *data, size_t length);

/* Whether the processor has instructions for bf16, by its own word. */
static inline bool processor_has_bf16(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}
