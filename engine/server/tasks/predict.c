/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/predict.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/paths.h"
#include "engine/data/data.h"
#include "engine/model/file.h"
#include "engine/predict/predictor.h"
#include "engine/predict/ranking.h"
#include "engine/predict/reading.h"
#include "engine/server/devices/free_gpus.h"
#include "engine/train/resolve/devices.h"
#include "engine/train/resolve/resolve.h"
#include "engine/weights/file.h"
#include "engine/weights/normalization.h"
#include "spec/data.h"
#include "spec/json.h"
#include "spec/set.h"

/* Bytes of decoded pictures at a time, unless one has more; and classes of a data set. */
#define MOST_BYTES   ((size_t)256 << 20)
#define MOST_CLASSES 256

/* Answers of one notification: they stay well below the length that a line may have. The longest
 * are the texts of errors, and rankings of many classes. */
#define MOST_LINE     ((size_t)600 << 10)
#define ERROR_LENGTH  (2 * sizeof((struct error *)NULL)->text)
#define RANKED_LENGTH ((size_t)40)

struct prediction {
    struct task *task;
    struct spec spec;
    struct net *net;
    struct weights weights;
    struct predictor *predictor;
    struct dataset shape;           /* of the data, without rows */
    const char *const *class_names; /* net->classes of them, or NULL */
    const char **paths;             /* of all pictures */
    struct error *failed;           /* of those of a batch */
    long count, top;
    int batch; /* pictures at a time */
};

static void release(struct prediction *p)
{
    predictor_close(p->predictor);
    weights_free(&p->weights);
    net_free(p->net);
    spec_free(&p->spec);
    free((void *)p->class_names);
    free(p->paths);
    free(p->failed);
}

static bool take_files(struct prediction *p, const json_t *params, struct error *err)
{
    const json_t *files = json_object_get(params, "files");
    const size_t count = json_array_size(files);
    p->top = 1;
    if (!json_get_long(params, "top", 1, MOST_CLASSES, &p->top, err))
        return false;
    if (count < 1)
        return error_set(err, ERROR_USAGE, "'files' must be an array of paths");
    p->paths = malloc(count * sizeof *p->paths);
    if (!p->paths)
        return error_memory(err, "names of pictures");
    for (size_t i = 0; i < count; i++) {
        p->paths[i] = json_string_value(json_array_get(files, i));
        if (!p->paths[i] || p->paths[i][0] != '/')
            return error_set(err, ERROR_USAGE, "'files' must be absolute paths");
    }
    p->count = (long)count;
    return true;
}

static bool take_spec(struct prediction *p, const json_t *params, struct error *err)
{
    json_t *settings = json_copy((json_t *)(uintptr_t)params);
    if (!settings)
        return error_memory(err, "prediction");
    json_object_del(settings, "files");
    json_object_del(settings, "top");
    bool ok = spec_from_json(&p->spec, settings, err) && spec_leave_training_out(&p->spec, err) &&
              spec_set(&p->spec, "test-rows", "0", err) && spec_validate(&p->spec, err);
    json_decref(settings);
    if (ok && p->spec.init != INIT_FILE)
        return error_set(err, ERROR_USAGE, "'init', a file of weights, is missing");
    return ok;
}

/* One device is enough: it has all the cores, unless the threads are given. */
static bool take_device(struct nvml *nvml, struct spec *spec, struct error *err)
{
    const long threads = spec->thread_count > 0 ? spec->threads[0] : spec->cpu_threads;
    if (!free_gpus_settle(nvml, spec, NULL, err) || !resolve_devices(spec, err))
        return false;
    spec->devices.count = 1;
    spec->devices.free = 0;
    spec->thread_count = 0;
    spec->cpu_threads = (int)threads;
    return true;
}

/* The input is that of the data that the network was trained on, whatever size the pictures have.
 */
static bool take_data(struct prediction *p, const struct data_watch *watch, struct error *err)
{
    const struct data_request request = spec_data(&p->spec, watch);
    const struct dataset *shape = &p->shape;
    if (!data_describe_classes(&request, &p->shape, &p->class_names, err))
        return false;
    if (shape->height == 1 && shape->width == 1)
        return error_set(err, ERROR_USAGE, "the rows of %s are no pictures: predict is for those",
                         p->spec.data);
    if (shape->is_numeric || (shape->channels != 1 && shape->channels != 3))
        return error_set(err, ERROR_USAGE,
                         "the rows of %s are not of bytes with 1 or 3 channels, as PNG and JPEG "
                         "files are",
                         p->spec.data);
    return true;
}

/* That of the training rows, which are not read, comes with the weights. */
static bool take_normalization(struct prediction *p, const char *model, struct error *err)
{
    struct net *net = p->net;
    if (!normalization_read(p->spec.init_file, net, err))
        return false;
    const bool known =
        (!net->mean_of_data || net->mean_count > 0) && (!net->std_of_data || net->std_count > 0);
    return known || error_set(err, ERROR_USAGE,
                              "%s: has no mean and std of training rows, which %s normalises by: "
                              "predict needs weights that dpartui saved",
                              p->spec.init_file, model);
}

static bool take_network(struct prediction *p, struct error *err)
{
    const struct dataset *shape = &p->shape;
    const struct net_shape input = {shape->channels, shape->height, shape->width};
    char *path = paths_find_model(p->spec.model, err);
    bool ok = path && net_load(path, input, shape->classes, &p->net, err) &&
              weights_create(p->net, &p->weights, err) &&
              weights_read(p->net, p->spec.init_file, &p->weights, err) &&
              take_normalization(p, path, err);
    free(path);
    p->top = p->top > shape->classes ? shape->classes : p->top;
    return ok;
}

static bool open_predictor(struct prediction *p, struct error *err)
{
    const size_t fit = MOST_BYTES / net_shape_size(p->net->input);
    long rows = p->spec.batch < p->count ? p->spec.batch : p->count;
    rows = (size_t)rows > fit ? (long)fit : rows;
    p->batch = rows > 1 ? (int)rows : 1;
    p->failed = malloc((size_t)p->batch * sizeof *p->failed);
    return (p->failed || error_memory(err, "pictures")) &&
           predictor_open(&p->spec, p->net, &p->weights, p->batch, &p->predictor, err);
}

static bool prepare(struct prediction *p, const json_t *params, struct error *err)
{
    const struct data_watch watch = task_watch(p->task);
    return take_files(p, params, err) && take_spec(p, params, err) &&
           take_device(p->task->nvml, &p->spec, err) && resolve_spec(&p->spec, &watch, err) &&
           take_data(p, &watch, err) && take_network(p, err) && open_predictor(p, err);
}

/* Steals the message; NULL: memory ran out. */
static bool deliver(struct prediction *p, json_t *message, struct error *err)
{
    if (!message)
        return error_memory(err, "predictions");
    return task_deliver(p->task, message) ||
           error_set(err, ERROR_CANCELLED, "the predictions were cancelled");
}

static bool deliver_classes(struct prediction *p, struct error *err)
{
    json_t *names = p->class_names ? json_array() : json_null();
    for (int k = 0; p->class_names && k < p->net->classes; k++)
        if (json_array_append_new(names, json_any_text(p->class_names[k])) != 0) {
            json_decref(names);
            return error_memory(err, "class names");
        }
    return deliver(p, json_pack("{s:i, s:o}", "classes", p->net->classes, "class_names", names),
                   err);
}

/* Of picture n of the batch: [[label, probability], ...], or why there is none. */
static json_t *answer(const struct prediction *p, const char *path, const struct error *failed,
                      const float *logits)
{
    struct ranked ranked[MOST_CLASSES];
    struct error why = ERROR_INIT;
    if (failed->kind != ERROR_NONE)
        return json_any_text(failed->text);
    if (!ranking_make(logits, p->net->classes, (int)p->top, ranked)) {
        error_set(&why, ERROR_FAILED, "%s: what the network makes of it is no number", path);
        return json_any_text(why.text);
    }
    json_t *list = json_array();
    for (int i = 0; list && i < p->top; i++)
        list = json_kept_if(json_array_append_new(list, json_pack("[i, f]", ranked[i].label,
                                                                  ranked[i].probability)) == 0,
                            list);
    return list;
}

/* The pictures of a batch that began with picture `first`. */
static bool deliver_batch(struct prediction *p, long first, int count, const float *logits,
                          struct error *err)
{
    const size_t length = (size_t)p->top * RANKED_LENGTH;
    const int most = (int)(MOST_LINE / (length > ERROR_LENGTH ? length : ERROR_LENGTH));
    bool ok = true;
    for (int begin = 0; ok && begin < count; begin += most) {
        json_t *list = json_array();
        for (int n = begin; list && n < count && n < begin + most; n++)
            list =
                json_kept_if(json_array_append_new(
                                 list, answer(p, p->paths[first + n], &p->failed[n],
                                              logits + (size_t)n * (size_t)p->net->classes)) == 0,
                             list);
        ok = deliver(
            p, json_pack("{s:I, s:o}", "first", (json_int_t)(first + begin), "answers", list), err);
    }
    return ok;
}

static bool predict(struct prediction *p, struct error *err)
{
    const struct data_watch watch = task_watch(p->task);
    for (long first = 0; first < p->count; first += p->batch) {
        const long left = p->count - first;
        const int count = left < p->batch ? (int)left : p->batch;
        const float *logits;
        if (!reading_run(p->paths + first, count, &p->net->input, &watch,
                         predictor_pixels(p->predictor), p->failed, err) ||
            !predictor_run(p->predictor, &logits, err) ||
            !deliver_batch(p, first, count, logits, err))
            return false;
    }
    return true;
}

bool task_predict(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    struct prediction p = {.task = task};
    char device[DEVICE_NAME];
    const double begin = clock_seconds();
    spec_init(&p.spec);
    bool ok = prepare(&p, params, err) && deliver_classes(&p, err) && predict(&p, err);
    if (ok)
        *result = json_pack(
            "{s:o, s:o, s:o, s:s, s:f}", "file", json_any_text(p.spec.init_file), "model",
            json_any_text(p.spec.model), "data", json_any_text(p.spec.data), "device",
            device_id_text(p.spec.devices.id[0], device), "seconds", clock_seconds() - begin);
    release(&p);
    return ok;
}
