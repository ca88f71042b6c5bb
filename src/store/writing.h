/* SPDX-License-Identifier: MIT */
#pragma once

#include "store/database.h"

/* The part of store_open after store_new; where store->lock_fd is the lock already, it is kept. */
bool store_begin_writing(struct store *store, char *notice, size_t notice_size, struct error *err);
