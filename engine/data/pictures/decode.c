/* SPDX-License-Identifier: MIT */
#include "engine/data/pictures/decode.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/data/pictures/crew.h"

struct decoding {
    const struct picture_list *list;
    const int *shape;
    size_t row;
    uint8_t *pixels;
    bool *broken; /* of each file, where broken ones are skipped; else NULL */
    pthread_mutex_t lock;
    long first; /* the first broken file so far, and what is wrong with it */
    struct error why;
};

static void skip(struct decoding *decoding, long item, const struct error *why)
{
    decoding->broken[item] = true;
    pthread_mutex_lock(&decoding->lock);
    if (item < decoding->first) {
        decoding->first = item;
        decoding->why = *why;
    }
    pthread_mutex_unlock(&decoding->lock);
}

static bool decode_one(void *context, struct picture_reader *reader, long item, struct error *err)
{
    struct decoding *decoding = context;
    const struct picture_list *list = decoding->list;
    char *path = text_format("%s/%s", list->dir, list->files[item].name);
    bool ok = path ? picture_read(reader, path, decoding->shape[0], decoding->shape[1],
                                  decoding->shape[2],
                                  decoding->pixels + (size_t)item * decoding->row, err)
                   : error_memory(err, "picture");
    if (path && !ok && decoding->broken) {
        skip(decoding, item, err);
        ok = true;
    }
    free(path);
    return ok;
}

/* Close the gaps of what was skipped, and count. */
static void collect(const struct decoding *decoding, uint8_t *labels, struct decoded *out)
{
    const struct picture_list *list = decoding->list;
    size_t row = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (decoding->broken && decoding->broken[i])
            continue;
        if (row != i)
            memcpy(decoding->pixels + row * decoding->row, decoding->pixels + i * decoding->row,
                   decoding->row);
        labels[row++] = list->files[i].label;
        out->rows[list->files[i].part]++;
    }
    out->skipped = (int64_t)(list->count - row);
    if (out->skipped > 0)
        snprintf(out->first_skipped, sizeof out->first_skipped, "%s", decoding->why.text);
}

static bool check_classes(const struct picture_list *list, const uint8_t *labels,
                          const struct decoded *out, struct error *err)
{
    long rows[PICTURES_MOST_CLASSES] = {0};
    for (int64_t i = 0; i < out->rows[PICTURE_TRAIN]; i++)
        rows[labels[i]]++;
    for (int i = 0; i < list->class_count; i++)
        if (rows[i] == 0)
            return error_set(err, ERROR_FAILED,
                             "%s: no training picture of class %s can be read: %s", list->dir,
                             list->classes[i], out->first_skipped);
    return true;
}

bool decode_all(const struct picture_list *list, const int shape[3], bool skip_broken,
                const struct data_watch *watch, uint8_t *pixels, uint8_t *labels,
                struct decoded *out, struct error *err)
{
    struct decoding decoding = {
        .list = list,
        .shape = shape,
        .row = (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2],
        .pixels = pixels,
        .broken = skip_broken ? calloc(list->count, sizeof *decoding.broken) : NULL,
        .first = LONG_MAX,
    };
    const struct crew_work work = {(long)list->count, decode_one, &decoding};
    memset(out, 0, sizeof *out); /* the cache writes what lies between members, too */
    if (skip_broken && !decoding.broken)
        return error_memory(err, list->dir);
    pthread_mutex_init(&decoding.lock, NULL);
    bool ok = crew_run(&work, watch, err);
    pthread_mutex_destroy(&decoding.lock);
    if (ok) {
        collect(&decoding, labels, out);
        ok = check_classes(list, labels, out, err);
    }
    free(decoding.broken);
    return ok;
}
