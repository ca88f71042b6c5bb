/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "store/rescue/salvage.h"

struct store_repaired {
    struct store_salvaged saved;
    long added;       /* runs of another file that the store has now */
    long present;     /* of these runs: it had them already */
    long renumbered;  /* of the added ones: their numbers were taken */
    char kept[512];   /* where the damaged file is now */
    char notice[300]; /* of store_open, about the store that runs were added to; "": none */
};

/*
 * Replace a damaged store by a new one with what can be read of it. The damaged one is kept under
 * another name; at every moment the one or the other is at `path`. ERROR_FAILED: an engine uses the
 * store, nothing can be saved, ...; then it is as it was.
 */
bool store_repair(const char *path, struct store_repaired *repaired, struct error *err);

/*
 * Add to the store at `path`, made when missing, what can be read of `file`: a damaged store that
 * was set aside, or a backup. Runs that it has already stay as they are; one whose number is that
 * of another run gets the next number. `file` stays as it is.
 */
bool store_repair_from(const char *path, const char *file, struct store_repaired *repaired,
                       struct error *err);
