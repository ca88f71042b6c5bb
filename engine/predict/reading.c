/* SPDX-License-Identifier: MIT */
#include "engine/predict/reading.h"

#include <string.h>

#include "engine/data/picture/picture.h"
#include "engine/data/pictures/crew.h"

struct reading {
    const char *const *paths;
    const struct net_shape *shape;
    uint8_t *pixels;
    struct error *failed;
};

static bool read_one(void *context, struct picture_reader *reader, long item, struct error *err)
{
    const struct reading *reading = context;
    const struct net_shape *shape = reading->shape;
    const size_t bytes = net_shape_size(*shape);
    uint8_t *row = reading->pixels + (size_t)item * bytes;
    struct error *failed = &reading->failed[item];
    (void)err; /* the others are read all the same */
    *failed = (struct error)ERROR_INIT;
    if (!picture_read(reader, reading->paths[item], shape->c, shape->h, shape->w, row, failed))
        memset(row, 0, bytes);
    return true;
}

bool reading_run(const char *const *paths, int count, const struct net_shape *shape,
                 const struct data_watch *watch, uint8_t *pixels, struct error *failed,
                 struct error *err)
{
    struct reading reading = {paths, shape, pixels, failed};
    const struct crew_work work = {count, read_one, &reading};
    return crew_run(&work, watch, err);
}
