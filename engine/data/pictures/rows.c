/* SPDX-License-Identifier: MIT */
#include "engine/data/pictures/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last steps of MurmurHash3 for 64 bits (A. Appleby, public domain): FNV's high bits alone are
 * not mixed well enough for an order. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

uint64_t rows_key(const char *class, const char *name)
{
    uint64_t digest = picture_digest(PICTURE_DIGEST, class, strlen(class) + 1);
    return mix(picture_digest(digest, name, strlen(name)));
}

/* Part by part, class by class, in them by key. */
static int compare_keys(const void *a, const void *b)
{
    const struct picture_file *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int compare_places(const void *a, const void *b)
{
    const struct picture_file *x = a, *y = b;
    if (x->part == y->part && x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return compare_keys(a, b);
}

/* The end of the files from `begin` on that are of the same part and class. */
static size_t group_end(const struct picture_list *list, size_t begin)
{
    size_t end = begin;
    while (end < list->count && list->files[end].part == list->files[begin].part &&
           list->files[end].label == list->files[begin].label)
        end++;
    return end;
}

/* At least one of a class that has two, never all of it. */
static size_t test_files(size_t count, double share)
{
    size_t wanted = (size_t)llround(share * (double)count);
    if (wanted < 1)
        wanted = 1;
    return wanted < count ? wanted : count - 1;
}

void rows_arrange(struct picture_list *list, double test_share)
{
    size_t end;
    qsort(list->files, list->count, sizeof *list->files, compare_keys);
    for (size_t begin = 0; !list->own_test && begin < list->count; begin = end) {
        end = group_end(list, begin);
        const bool divides = list->files[begin].part == PICTURE_TRAIN;
        const size_t tests = divides ? test_files(end - begin, test_share) : 0;
        for (size_t i = begin; i < begin + tests; i++)
            list->files[i].part = PICTURE_TEST;
    }
    if (!list->own_test)
        qsort(list->files, list->count, sizeof *list->files, compare_keys);
    for (size_t begin = 0; begin < list->count; begin = end) {
        end = group_end(list, begin);
        for (size_t i = begin; i < end; i++)
            list->files[i].place = ((double)(i - begin) + 0.5) / (double)(end - begin);
        list->rows[list->files[begin].part] += (long)(end - begin);
    }
    qsort(list->files, list->count, sizeof *list->files, compare_places);
}
