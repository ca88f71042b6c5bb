/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * Compiled plans as cuDNN writes them down (dnn_plan_text), a file each, in a folder of the user's
 * cache. A file's name is a hash of its key; its first line holds a checksum of all that follows,
 * its second the key, and the rest is cuDNN's text. Files appear whole or not at all.
 */
#define CONV_STORE_FILES 256 /* the oldest are removed */

/* $XDG_CACHE_HOME/dpartui/cudnn-plans, a new string the caller frees; NULL: ERROR_FAILED. */
char *conv_store_path(struct error *err);

/*
 * The text kept for `key` (one line), a new string with a NUL after it, the caller's. NULL: none;
 * *err then is untouched where there simply is no file, and says in one line what is wrong with one
 * that is damaged or not ours.
 */
char *conv_store_read(const char *folder, const char *key, size_t *length, struct error *err);

/* Keep a text; the folder is made. False: ERROR_FAILED, nothing was changed. */
bool conv_store_write(const char *folder, const char *key, const char *text, size_t length,
                      struct error *err);
