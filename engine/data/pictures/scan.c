/* SPDX-License-Identifier: MIT */
#include "engine/data/pictures/scan.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/text.h"
#include "engine/data/pictures/crew.h"

struct scanning {
    const struct picture_list *list;
    struct picture_shape *shapes; /* width 0: broken */
    bool skip_broken;
    atomic_long broken;
};

static bool look_at(void *context, struct picture_reader *reader, long item, struct error *err)
{
    struct scanning *scanning = context;
    char *path = text_format("%s/%s", scanning->list->dir, scanning->list->files[item].name);
    bool ok = path ? picture_look(reader, path, &scanning->shapes[item], err)
                   : error_memory(err, "picture");
    if (path && !ok && scanning->skip_broken) {
        atomic_fetch_add(&scanning->broken, 1);
        ok = true;
    }
    free(path);
    return ok;
}

bool picture_scan_read(const struct picture_list *list, bool skip_broken,
                       const struct data_watch *watch, struct picture_scan *out, struct error *err)
{
    struct scanning scanning = {
        .list = list,
        .shapes = calloc(list->count, sizeof *scanning.shapes),
        .skip_broken = skip_broken,
    };
    const struct crew_work work = {(long)list->count, look_at, &scanning};
    bool ok = scanning.shapes ? crew_run(&work, watch, err) : error_memory(err, list->dir);
    *out = (struct picture_scan){.broken = atomic_load(&scanning.broken)};
    for (size_t i = 0; ok && i < list->count; i++) {
        const struct picture_shape *shape = &scanning.shapes[i];
        if (shape->width == 0)
            continue;
        if (out->width == 0) {
            out->width = shape->width;
            out->height = shape->height;
        }
        out->coloured = out->coloured || shape->coloured;
        out->differ = out->differ || shape->width != out->width || shape->height != out->height;
    }
    free(scanning.shapes);
    if (ok && out->width == 0)
        ok = error_set(err, ERROR_FAILED, "%s: none of its %zu pictures can be read", list->dir,
                       list->count);
    return ok;
}

bool picture_scan_shape(const struct picture_list *list, const struct picture_settings *settings,
                        const struct picture_scan *scan, int shape[3], struct error *err)
{
    const bool given = settings->width > 0;
    if (!given && scan->differ)
        return error_set(err, ERROR_USAGE,
                         "%s: the pictures are not all of one size: --image-size 32, or WxH, gives "
                         "them one",
                         list->dir);
    if (!given && (scan->width > PICTURES_MOST_SIDE || scan->height > PICTURES_MOST_SIDE))
        return error_set(
            err, ERROR_USAGE, "%s: pictures of %dx%d: --image-size scales them to at most %dx%d",
            list->dir, scan->width, scan->height, PICTURES_MOST_SIDE, PICTURES_MOST_SIDE);
    bool colours = settings->colour == IMAGE_COLOUR_AUTO ? scan->coloured
                                                         : settings->colour == IMAGE_COLOUR_YES;
    shape[0] = colours ? 3 : 1;
    shape[1] = given ? settings->height : scan->height;
    shape[2] = given ? settings->width : scan->width;
    return true;
}
