/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/net/net.h"

/*
 * The mean and std of a network that are those of its training rows belong to its weights: files of
 * weights carry them as JSON, {"mean":[0.286],"std":[0.353]}, in their metadata
 * ("dpartui_normalization"), where others ignore it. Each has a number for each channel, and is
 * there only if the model file leaves it to the data.
 */

/* Add those members to an object, if the network has such numbers. False: memory ran out. */
bool normalization_add(const struct net *net, json_t *object);
/* Add that text to the metadata of a file that is being written, likewise. */
bool normalization_note(const struct net *net, json_t *metadata);
/*
 * Take what the network leaves to the data from the file at `path`, bit by bit as it was written.
 * A file without them, one that another program wrote or of a network with its own numbers, changes
 * nothing. ERROR_FAILED: they are not as many as the input has channels, or out of bounds.
 */
bool normalization_read(const char *path, struct net *net, struct error *err);
