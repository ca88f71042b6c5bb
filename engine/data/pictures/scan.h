/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/pictures/list.h"
#include "engine/data/pictures/settings.h"
#include "engine/data/pictures/watch.h"

/* What the pictures of a folder have in common; plain bytes, as the cache keeps it. */
struct picture_scan {
    int width, height; /* of the first that can be read */
    bool coloured;     /* any is */
    bool differ;       /* in size */
    long broken;       /* that cannot be read */
};

/* Look at the head of every file. One that cannot be read ends it, unless such files are skipped.
 */
bool picture_scan_read(const struct picture_list *list, bool skip_broken,
                       const struct data_watch *watch, struct picture_scan *out, struct error *err);

/* The shape of rows: channels, height and width. `scan` is not looked at (and may be NULL) where
 * the settings say all. */
bool picture_scan_shape(const struct picture_list *list, const struct picture_settings *settings,
                        const struct picture_scan *scan, int shape[3], struct error *err);

/* Do the settings say all? */
static inline bool picture_shape_is_given(const struct picture_settings *settings)
{
    return settings->width > 0 && settings->colour != IMAGE_COLOUR_AUTO;
}
