/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SRC_STORE_STORE_SHOW_H
#define DPARTUI_TESTS_SRC_STORE_STORE_SHOW_H

#include <jansson.h>

#include "store/store.h"

/* All of a run: as store_head, with all its rows in "epochs", "points", "retunes" and "events". */
bool store_show(struct store *store, long run, json_t **object, struct error *err);

#endif
