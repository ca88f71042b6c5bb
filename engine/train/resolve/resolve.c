/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/resolve.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/paths.h"
#include "engine/model/file.h"
#include "engine/train/resolve/devices.h"
#include "engine/train/resolve/memory_limit.h"
#include "engine/train/resolve/parallel.h"
#include "engine/train/resolve/recipe.h"
#include "engine/train/split/shares.h"
#include "engine/weights/file.h"
#include "spec/data.h"
#include "spec/names.h"

/* What nobody has named, and the weights have a name for. */
static bool take_name(char **name, const json_t *note, const char *member, struct error *err)
{
    const char *value = json_string_value(json_object_get(note, member));
    if (*name || !value)
        return true;
    *name = strdup(value);
    return *name || error_memory(err, member);
}

/* Of weights to begin with that say what they are of. That they cannot be read is for check_init.
 */
static bool take_origin(struct spec *spec, struct error *err)
{
    struct error ignored = ERROR_INIT;
    char *text = NULL;
    if (spec->init != INIT_FILE || !weights_read_note(spec->init_file, &text, &ignored))
        return true;
    json_t *note = json_read(text, strlen(text), 0, NULL);
    bool ok = take_name(&spec->model, note, "model", err);
    if (!spec->data)
        ok = ok && take_name(&spec->data, note, "data", err) &&
             take_name(&spec->data_dir, note, "data_dir", err);
    json_decref(note);
    free(text);
    return ok;
}

static bool resolve_data(struct spec *spec, const struct data_watch *watch, struct dataset *shape,
                         int *test_rows, struct error *err)
{
    const struct data_request request = spec_data(spec, watch);
    char *name = NULL;
    if (!data_describe(&request, shape, test_rows, &name, err))
        return false;
    free(spec->data);
    spec->data = name;
    if (spec->train_rows > shape->rows)
        return error_set(err, ERROR_USAGE, "train-rows %ld: %s has %d", spec->train_rows, name,
                         shape->rows);
    if (spec->test_rows > *test_rows)
        return error_set(err, ERROR_USAGE, "test-rows %ld: %s has %d", spec->test_rows, name,
                         *test_rows);
    if (spec->test_rows > 0)
        *test_rows = (int)spec->test_rows;
    return true;
}

static bool choose_model(struct spec *spec, struct error *err)
{
    const bool gpu = device_count_kind(spec->devices.id, spec->devices.count, DEVICE_CUDA) > 0;
    if (spec->model)
        return true;
    spec->model = strdup(gpu ? "resnet18" : "smallnet");
    return spec->model || error_memory(err, "model name");
}

static bool resolve_model(struct spec *spec, const struct dataset *shape, struct net **net,
                          struct error *err)
{
    if (!choose_model(spec, err))
        return false;
    char *path = paths_find_model(spec->model, err);
    struct net_shape input = {shape->channels, shape->height, shape->width};
    bool ok =
        path && net_load(path, input, shape->classes, net, err) && resolve_recipe(spec, path, err);
    free(path);
    return ok;
}

static bool check_numbers(const struct spec *spec, struct error *err)
{
    if (spec->batch < 1 || spec->batch > INT32_MAX)
        return error_set(err, ERROR_USAGE, "batch %ld: a batch has at least one row", spec->batch);
    if (spec->epochs < 0 || spec->epochs > UINT32_MAX)
        return error_set(err, ERROR_USAGE, "epochs %ld is out of range", spec->epochs);
    if (spec->train_rows < 0 || spec->test_rows < 0 || spec->max_steps < 0)
        return error_set(err, ERROR_USAGE,
                         "train-rows, test-rows and max-steps count from 0, which means all");
    return true;
}

/* Vectors have no left and right. */
static bool check_augment(const struct spec *spec, const struct dataset *shape, struct error *err)
{
    if (spec->augment != AUGMENT_NONE && shape->height == 1 && shape->width == 1)
        return error_set(err, ERROR_USAGE, "augment %s: the rows of %s are no pictures: use none",
                         augment_name(spec->augment), spec->data);
    return true;
}

/* Every batch must be divisible as asked. */
static bool check_split(const struct spec *spec, long rows, struct error *err)
{
    struct row_shares shares;
    return share_rows(spec, rows, spec->test_rows, &shares, err);
}

static bool check_init(const struct spec *spec, const struct net *net, struct error *err)
{
    struct weights weights;
    if (spec->init != INIT_FILE)
        return true;
    if (!weights_create(net, &weights, err))
        return false;
    bool ok = weights_read(net, spec->init_file, &weights, err);
    if (!ok)
        err->kind = ERROR_USAGE; /* whatever is wrong with it, another file is needed */
    weights_free(&weights);
    return ok;
}

/* Better now than after the last epoch: will there be a place for this file? `whole`: it
 * appears at once, so a temporary file is written in its folder first. */
static bool check_place(const char *option, const char *path, bool whole, struct error *err)
{
    struct stat info;
    if (!path)
        return true;
    bool exists = stat(path, &info) == 0;
    const bool too_long = !exists && errno == ENAMETOOLONG;
    if (exists && S_ISDIR(info.st_mode))
        return error_set(err, ERROR_USAGE, "%s %s: is a directory: name a file", option, path);
    /* Weights replace the file by a rename, which a device or pipe would not survive; a log is
     * written as it grows, to whatever it is. */
    if (exists && whole && !S_ISREG(info.st_mode))
        return error_set(err, ERROR_USAGE, "%s %s: is not a regular file: name another", option,
                         path);
    char *copy = strdup(path);
    if (!copy)
        return error_memory(err, path);
    const char *directory = dirname(copy);
    int reason = too_long ? ENAMETOOLONG : 0;
    if (reason == 0 && stat(directory, &info) == 0 && !S_ISDIR(info.st_mode))
        reason = ENOTDIR;
    else if (reason == 0 && access(directory, W_OK | X_OK) != 0 &&
             (whole || access(path, W_OK) != 0))
        reason = errno;
    if (reason != 0) {
        errno = reason;
        error_errno(err, "%s %s: cannot write there", option, path);
        err->kind = ERROR_USAGE;
    }
    free(copy);
    return reason == 0;
}

/* Also where they are spelt differently, as far as their folders are there. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    char *copies[2] = {strdup(a), strdup(b)};
    const char *slash = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    bool same = strcmp(a, b) == 0;
    if (!same && copies[0] && copies[1])
        same = strcmp(slash ? slash + 1 : a, slash_b ? slash_b + 1 : b) == 0 &&
               stat(dirname(copies[0]), &one) == 0 && stat(dirname(copies[1]), &other) == 0 &&
               one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    free(copies[0]);
    free(copies[1]);
    return same;
}

/* What one option writes, another would replace. */
static bool check_different(const struct spec *spec, struct error *err)
{
    const struct {
        const char *option, *path;
    } files[] = {{"save", spec->save}, {"save-best", spec->save_best}, {"log", spec->log}};
    const size_t count = sizeof files / sizeof *files;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (files[i].path && files[j].path && is_same_file(files[i].path, files[j].path))
                return error_set(err, ERROR_USAGE, "%s and %s are the same file: %s",
                                 files[i].option, files[j].option, files[i].path);
    return true;
}

/* Can this folder be written to, or created? */
static bool check_folder(const char *option, const char *path, struct error *err)
{
    struct stat info;
    char *copy = path ? strdup(path) : NULL;
    if (!path)
        return true;
    if (!copy)
        return error_memory(err, path);
    const char *place = copy;
    while (stat(place, &info) != 0 && errno == ENOENT && strcmp(place, "/") != 0)
        place = dirname(copy);
    bool ok = access(place, W_OK | X_OK) == 0;
    if (ok && stat(place, &info) == 0 && !S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        ok = false;
    }
    if (!ok) {
        error_errno(err, "%s %s: cannot write there", option, path);
        err->kind = ERROR_USAGE;
    }
    free(copy);
    return ok;
}

/* The rows of the larger set that is evaluated, as far as they are known: after the last epoch the
 * test rows are, too. */
static bool check_memory(const struct spec *spec, const struct net *net, long rows, int test_rows,
                         struct error *err)
{
    const double validation = spec->validation * (double)rows;
    const long evaluated = validation > test_rows ? (long)validation : test_rows;
    return memory_limit_check(spec, net, rows, evaluated, err);
}

bool resolve_spec(struct spec *spec, const struct data_watch *watch, struct error *err)
{
    struct dataset shape = {0};
    struct net *net = NULL;
    int test_rows = 0;
    bool ok = spec_validate(spec, err) && resolve_devices(spec, err) && take_origin(spec, err) &&
              resolve_data(spec, watch, &shape, &test_rows, err) &&
              resolve_model(spec, &shape, &net, err) && check_numbers(spec, err) &&
              check_augment(spec, &shape, err) &&
              check_split(spec, spec_train_rows(spec, shape.rows), err) &&
              resolve_parallel(spec, net, spec_train_rows(spec, shape.rows), err) &&
              check_memory(spec, net, spec_train_rows(spec, shape.rows), test_rows, err) &&
              check_init(spec, net, err) && check_place("save", spec->save, true, err) &&
              check_place("save-best", spec->save_best, true, err) &&
              check_place("log", spec->log, false, err) && check_different(spec, err) &&
              check_folder("tensorboard", spec->tensorboard, err);
    net_free(net);
    spec->resolved = ok;
    return ok;
}
