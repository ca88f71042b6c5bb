/* SPDX-License-Identifier: MIT */
#include "engine/data/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/data/cifar.h"
#include "engine/data/classes.h"
#include "engine/data/dataset.h"
#include "engine/data/find.h"
#include "engine/data/glyphs.h"
#include "engine/data/idx.h"
#include "engine/data/npz.h"
#include "engine/data/random.h"

/* Rows that lie in the memory of `pictures`, which nobody writes to. */
static struct dataset rows_of(const struct pictures *pictures, long first, long rows)
{
    size_t row = (size_t)pictures->channels * (size_t)pictures->height * (size_t)pictures->width;
    return (struct dataset){
        .rows = (int)rows,
        .channels = pictures->channels,
        .height = pictures->height,
        .width = pictures->width,
        .classes = pictures->class_count,
        .pixels = (uint8_t *)(uintptr_t)(pictures->pixels + (size_t)first * row),
        .labels = (uint8_t *)(uintptr_t)(pictures->labels + first),
    };
}

static bool load_pictures(const struct data_request *request, struct found *found, struct data *out,
                          struct error *err)
{
    struct pictures *pictures = &out->pictures;
    if (!pictures_load(found->dir, &request->pictures, &request->watch, pictures, err))
        return false;
    out->train = rows_of(pictures, 0, pictures->train_rows);
    out->validation = rows_of(pictures, pictures->train_rows, pictures->validation_rows);
    out->test =
        rows_of(pictures, pictures->train_rows + pictures->validation_rows, pictures->test_rows);
    found->classes =
        classes_copy((const char *const *)pictures->classes, pictures->class_count, err);
    return found->classes;
}

static bool load(const struct data_request *request, struct found *found, struct data *out,
                 struct error *err)
{
    struct dataset *train = &out->train, *test = &out->test;
    switch (found->kind) {
    case SOURCE_IDX:
        return idx_load(found->dir, found->class_count, train, test, err);
    case SOURCE_CIFAR:
        return cifar_load(found->dir, train, test, err);
    case SOURCE_PICTURES:
        return load_pictures(request, found, out, err);
    case SOURCE_NPZ:
        return npz_load(found->dir, train, test, err);
    case SOURCE_GLYPHS:
        return glyphs_make(request->seed, request->wanted, train, test, err);
    case SOURCE_RANDOM:
        return random_make(found->name, request->seed, train, test, err);
    }
    return error_set(err, ERROR_FAILED, "%s: unknown kind of data", found->name);
}

/* Where the data came from, as a new string. NULL: *err. */
static char *source_of(const struct data_request *request, const struct found *found,
                       const struct data *data, struct error *err)
{
    char *source = found->dir
                       ? data->pictures.choices
                             ? text_format("%s (%s)", found->dir, data->pictures.choices)
                             : strdup(found->dir)
                       : text_format("made from seed %llu", (unsigned long long)request->seed);
    return error_if_null(source, err, found->name);
}

/* Give back the memory of rows that nobody wants; pictures keep theirs, which is shared. */
static void keep_wanted(const struct data_rows *wanted, struct data *data)
{
    if (data->pictures.pixels)
        return;
    dataset_keep(&data->train, wanted->train);
    dataset_keep(&data->test, wanted->test);
}

bool data_open(const struct data_request *request, struct data *out, struct error *err)
{
    struct found found;
    *out = (struct data){0};
    bool ok = data_find(request->name, request->data_dir, &found, err) &&
              load(request, &found, out, err) &&
              (out->source = source_of(request, &found, out, err));
    if (ok) {
        out->name = found.name;
        out->class_names = found.classes;
        found.name = NULL;
        found.classes = NULL;
        keep_wanted(&request->wanted, out);
    }
    found_free(&found);
    if (!ok)
        data_close(out);
    return ok;
}

/* What lies in the memory of pictures is released with it. */
static void release_rows(struct dataset *set, const struct pictures *pictures)
{
    if (pictures->pixels)
        set->pixels = set->labels = NULL;
    dataset_free(set);
}

void data_close(struct data *data)
{
    free(data->name);
    free(data->source);
    free((void *)data->class_names);
    release_rows(&data->train, &data->pictures);
    release_rows(&data->test, &data->pictures);
    release_rows(&data->validation, &data->pictures);
    pictures_free(&data->pictures);
    *data = (struct data){0};
}

static bool describe_pictures(const struct data_request *request, struct found *found,
                              struct dataset *shape, int *test_rows, struct error *err)
{
    struct pictures pictures;
    if (!pictures_describe(found->dir, &request->pictures, &request->watch, &pictures, err))
        return false;
    *shape = rows_of(&pictures, 0, pictures.train_rows);
    shape->pixels = shape->labels = NULL;
    *test_rows = (int)pictures.test_rows;
    found->classes = classes_copy((const char *const *)pictures.classes, pictures.class_count, err);
    pictures_free(&pictures);
    return found->classes;
}

static bool describe(const struct data_request *request, struct found *found, struct dataset *shape,
                     int *test_rows, struct error *err)
{
    *shape = (struct dataset){0};
    *test_rows = 0;
    switch (found->kind) {
    case SOURCE_IDX:
        return idx_describe(found->dir, found->class_count, shape, test_rows, err);
    case SOURCE_CIFAR:
        return cifar_describe(found->dir, shape, test_rows, err);
    case SOURCE_PICTURES:
        return describe_pictures(request, found, shape, test_rows, err);
    case SOURCE_NPZ:
        return npz_describe(found->dir, shape, test_rows, err);
    case SOURCE_GLYPHS:
        glyphs_describe(shape, test_rows);
        return true;
    case SOURCE_RANDOM:
        if (!random_describe(found->name, shape, err))
            return false;
        *test_rows = shape->rows;
        return true;
    }
    return error_set(err, ERROR_FAILED, "%s: unknown kind of data", found->name);
}

bool data_describe(const struct data_request *request, struct dataset *shape, int *test_rows,
                   char **resolved, struct error *err)
{
    struct found found;
    int rows;
    bool ok = data_find(request->name, request->data_dir, &found, err) &&
              describe(request, &found, shape, test_rows ? test_rows : &rows, err);
    if (ok) {
        *resolved = found.name;
        found.name = NULL;
    }
    found_free(&found);
    return ok;
}

bool data_describe_classes(const struct data_request *request, struct dataset *shape,
                           const char *const **class_names, struct error *err)
{
    struct found found;
    int rows;
    bool ok = data_find(request->name, request->data_dir, &found, err) &&
              describe(request, &found, shape, &rows, err);
    *class_names = ok ? found.classes : NULL;
    if (ok)
        found.classes = NULL;
    found_free(&found);
    return ok;
}
