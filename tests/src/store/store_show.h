/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "store/store.h"

/* All of a run: as store_head, with all its rows in "epochs", "points", "retunes" and "events". */
bool store_show(struct store *store, long run, json_t **object, struct error *err);
