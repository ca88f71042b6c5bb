/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "engine/data/pictures/watch.h"
#include "engine/net/net.h"

/*
 * Read pictures into rows of a network's input, as those of a folder are read
 * (engine/data/picture/picture.h), on all processors. failed[n] is ERROR_NONE, or says what is
 * wrong with file n, whose row is then black. False: nobody wants them any more, or no thread can
 * be had.
 */
bool reading_run(const char *const *paths, int count, const struct net_shape *shape,
                 const struct data_watch *watch, uint8_t *pixels, struct error *failed,
                 struct error *err);
