/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct store;

/* What was saved. */
struct store_salvaged {
    long runs, epochs, points;
    long rebuilt;     /* of the runs: put together from what is left of them */
    long lost_epochs; /* that the saved runs had, and are gone */
};

/*
 * Put the runs of a database that store_recover made into an empty store, whatever version its
 * tables were of: from its tables, and from rows of tables that are not known any more. Where a
 * run's own row is lost or damaged but events are left, it is rebuilt from these and from its
 * columns; it says so as its error.
 */
bool store_salvage(const char *recovered, struct store *to, struct store_salvaged *saved,
                   struct error *err);
