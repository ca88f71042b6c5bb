/* SPDX-License-Identifier: MIT */
#include "engine/data/pictures/pictures.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/data/pictures/decode.h"
#include "engine/data/pictures/list.h"
#include "engine/data/pictures/scan.h"

#define MOST_BYTES (1LL << 40) /* of all pictures, decoded */

/* An entry of the cache begins with what became of the files, then rows, then labels. */
#define ROWS_AT 1024
_Static_assert(sizeof(struct decoded) <= ROWS_AT, "room before the rows");

/* What a cache entry is called: the folder, what was made of it, and how. */
static uint64_t entry_name(const struct picture_list *list, const char *kind, const int *numbers,
                           size_t count)
{
    uint64_t name = picture_digest(PICTURE_DIGEST, kind, strlen(kind) + 1);
    name = picture_digest(name, list->dir, strlen(list->dir) + 1);
    return picture_digest(name, numbers, count * sizeof *numbers);
}

static bool add_remark(struct pictures *pictures, char *remark)
{
    char **next = pictures->remarks;
    while (*next)
        next++;
    *next = remark;
    return remark;
}

/* Only slower, or more memory. */
static void remark_cache(struct pictures *pictures, const struct error *why)
{
    if (why->kind != ERROR_NONE)
        add_remark(pictures,
                   text_format("decoded pictures are not kept for the next start: %s", why->text));
}

/* The scan of the folder, from the cache if it has it. */
static bool scan(const struct picture_list *list, bool skip_broken, const struct data_watch *watch,
                 struct picture_scan *out, struct error *err)
{
    struct picture_cache cache;
    struct error why;
    bool found;
    const int skips = skip_broken;
    bool ok = picture_cache_find(entry_name(list, "scan", &skips, 1), list->digest, watch, &cache,
                                 &found, &why, err);
    if (ok && found && cache.size == PICTURE_CACHE_HEAD + sizeof *out) {
        memcpy(out, picture_cache_bytes(&cache), sizeof *out);
    } else if (ok) {
        ok = picture_scan_read(list, skip_broken, watch, out, err);
        if (ok && !found && picture_cache_make(&cache, sizeof *out, &why, err)) {
            memcpy(picture_cache_bytes(&cache), out, sizeof *out);
            picture_cache_keep(&cache, sizeof *out, &why);
        }
    }
    picture_cache_close(&cache);
    return ok;
}

static bool find_shape(const struct picture_list *list, const struct picture_settings *settings,
                       const struct data_watch *watch, int shape[3], struct error *err)
{
    struct picture_scan found = {0};
    if (!picture_shape_is_given(settings) && !scan(list, settings->skip_broken, watch, &found, err))
        return false;
    if (!picture_scan_shape(list, settings, &found, shape, err))
        return false;
    double bytes = (double)list->count * shape[0] * shape[1] * shape[2];
    return bytes <= MOST_BYTES ||
           error_set(err, ERROR_FAILED, "%s: %zu pictures of %dx%dx%d are more than %lld bytes",
                     list->dir, list->count, shape[0], shape[1], shape[2], MOST_BYTES);
}

static bool read_list(const char *dir, const struct picture_settings *settings,
                      const struct data_watch *watch, struct picture_list *list, int shape[3],
                      struct error *err)
{
    if (!picture_list_read(dir, settings->test_share, list, err))
        return false;
    if (find_shape(list, settings, watch, shape, err))
        return true;
    picture_list_free(list);
    return false;
}

/* Names and numbers go to `out`, the rest of the list is released. */
static void take_list(struct pictures *out, struct picture_list *list, const int shape[3])
{
    out->channels = shape[0];
    out->height = shape[1];
    out->width = shape[2];
    out->class_count = list->class_count;
    out->train_rows = list->rows[PICTURE_TRAIN];
    out->validation_rows = list->rows[PICTURE_VALIDATION];
    out->test_rows = list->rows[PICTURE_TEST];
    out->classes = list->classes;
    list->classes = NULL;
    list->class_count = 0;
    picture_list_free(list);
}

bool pictures_describe(const char *dir, const struct picture_settings *settings,
                       const struct data_watch *watch, struct pictures *out, struct error *err)
{
    struct picture_list list;
    int shape[3];
    *out = (struct pictures){0};
    if (!read_list(dir, settings, watch, &list, shape, err))
        return false;
    take_list(out, &list, shape);
    return true;
}

/* Into memory of the cache, which keeps it. */
static bool decode(const struct picture_list *list, const int shape[3], bool skip_broken,
                   const struct data_watch *watch, struct pictures *out, struct error *why,
                   struct error *err)
{
    const size_t row = (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2];
    const size_t room = ROWS_AT + list->count * (row + 1);
    struct decoded decoded;
    if (!picture_cache_make(&out->cache, room, why, err))
        return false;
    uint8_t *bytes = picture_cache_bytes(&out->cache), *pixels = bytes + ROWS_AT;
    uint8_t *labels = pixels + list->count * row;
    if (!decode_all(list, shape, skip_broken, watch, pixels, labels, &decoded, err))
        return false;
    size_t rows = list->count - (size_t)decoded.skipped;
    memmove(pixels + rows * row, labels, rows);
    memcpy(bytes, &decoded, sizeof decoded);
    picture_cache_keep(&out->cache, ROWS_AT + rows * (row + 1), why);
    return true;
}

/* What is in the memory of the cache, wherever it came from. */
static bool take_rows(const struct picture_list *list, struct pictures *out, struct error *err)
{
    const uint8_t *bytes = picture_cache_bytes(&out->cache);
    const size_t row = (size_t)out->channels * (size_t)out->height * (size_t)out->width;
    struct decoded decoded;
    memcpy(&decoded, bytes, sizeof decoded);
    size_t rows = list->count - (size_t)decoded.skipped;
    if (decoded.skipped < 0 || decoded.skipped > (int64_t)list->count ||
        decoded.rows[PICTURE_TRAIN] + decoded.rows[PICTURE_VALIDATION] +
                decoded.rows[PICTURE_TEST] !=
            (int64_t)rows ||
        out->cache.size < PICTURE_CACHE_HEAD + ROWS_AT + rows * (row + 1))
        return error_set(err, ERROR_FAILED, "%s: is damaged: remove it", out->cache.path);
    out->train_rows = (long)decoded.rows[PICTURE_TRAIN];
    out->validation_rows = (long)decoded.rows[PICTURE_VALIDATION];
    out->test_rows = (long)decoded.rows[PICTURE_TEST];
    out->pixels = bytes + ROWS_AT;
    out->labels = out->pixels + rows * row;
    return decoded.skipped == 0 ||
           add_remark(out, text_format("%lld of %zu picture%s broken and left out, first: %s",
                                       (long long)decoded.skipped, list->count, plural(list->count),
                                       decoded.first_skipped)) ||
           error_memory(err, list->dir);
}

static bool note_choices(const struct picture_list *list, const struct picture_settings *settings,
                         struct pictures *out)
{
    struct text text = TEXT_INIT;
    text_puts(&text, out->channels == 1 ? "grey" : "colour");
    if (!list->own_test)
        text_printf(&text, "; %g%% of each class are test rows", 100 * settings->test_share);
    if (list->rows[PICTURE_VALIDATION] > 0)
        text_printf(&text, "; %ld picture%s for validation", list->rows[PICTURE_VALIDATION],
                    plural(list->rows[PICTURE_VALIDATION]));
    if (list->others > 0)
        text_printf(&text, "; %ld other file%s left out", list->others, plural(list->others));
    out->choices = text_cstr(&text) ? text.data : NULL;
    if (!out->choices)
        text_free(&text);
    return out->choices;
}

bool pictures_load(const char *dir, const struct picture_settings *settings,
                   const struct data_watch *watch, struct pictures *out, struct error *err)
{
    struct picture_list list;
    struct error why = ERROR_INIT;
    int shape[3];
    bool found;
    *out = (struct pictures){0};
    if (!read_list(dir, settings, watch, &list, shape, err))
        return false;
    out->channels = shape[0];
    out->height = shape[1];
    out->width = shape[2];
    const int how[] = {shape[0], shape[1], shape[2], settings->skip_broken,
                       (int)(1e6 * settings->test_share)};
    bool ok = picture_cache_find(entry_name(&list, "rows", how, sizeof how / sizeof *how),
                                 list.digest, watch, &out->cache, &found, &why, err) &&
              (found || decode(&list, shape, settings->skip_broken, watch, out, &why, err)) &&
              take_rows(&list, out, err) &&
              (note_choices(&list, settings, out) || error_memory(err, dir));
    long train = out->train_rows, validation = out->validation_rows, tests = out->test_rows;
    remark_cache(out, &why);
    take_list(out, &list, shape);
    out->train_rows = train;
    out->validation_rows = validation;
    out->test_rows = tests;
    if (!ok)
        pictures_free(out);
    return ok;
}

void pictures_free(struct pictures *pictures)
{
    for (int i = 0; i < pictures->class_count && pictures->classes; i++)
        free(pictures->classes[i]);
    for (size_t i = 0; i < sizeof pictures->remarks / sizeof *pictures->remarks; i++)
        free(pictures->remarks[i]);
    free(pictures->classes);
    free(pictures->choices);
    picture_cache_close(&pictures->cache);
    *pictures = (struct pictures){0};
}
