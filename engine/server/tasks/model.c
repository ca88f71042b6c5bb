/* SPDX-License-Identifier: MIT */
#include "engine/server/tasks/model.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/paths.h"
#include "engine/model/file.h"
#include "engine/net/net.h"
#include "engine/net/slice.h"
#include "engine/server/devices/free_gpus.h"
#include "engine/server/tasks/memory_json.h"
#include "engine/train/resolve/devices.h"
#include "engine/train/resolve/memory_limit.h"
#include "engine/train/resolve/parallel.h"
#include "engine/train/resolve/recipe.h"
#include "engine/train/split/division.h"
#include "engine/train/split/shares.h"
#include "spec/data.h"
#include "spec/json.h"
#include "spec/names.h"

static json_t *shape_json(struct net_shape shape)
{
    return json_pack("[i, i, i]", shape.c, shape.h, shape.w);
}

static long op_params(const struct net *net, int op)
{
    long count = 0;
    for (int i = 0; i < net->param_count; i++)
        if (net->params[i].op == op && net_is_trained(&net->params[i]))
            count += (long)net->params[i].count;
    return count;
}

static json_t *layer_json(const struct net *net, int index)
{
    const struct net_op *op = &net->ops[index];
    json_t *layer =
        json_pack("{s:o, s:s, s:o, s:I, s:f}", "name", json_any_text(op->name), "kind",
                  net_kind_name(op->kind), "output", shape_json(net->tensors[op->output].shape),
                  "params", (json_int_t)op_params(net, index), "flops", net_op_flops(net, index));
    if (layer && op->kernel_h > 0) {
        json_object_set_new(layer, "kernel", json_pack("[i, i]", op->kernel_h, op->kernel_w));
        json_object_set_new(layer, "stride", json_pack("[i, i]", op->stride_h, op->stride_w));
        json_object_set_new(layer, "pad", json_pack("[i, i]", op->pad_h, op->pad_w));
    }
    if (layer && (op->dilation_h > 1 || op->dilation_w > 1))
        json_object_set_new(layer, "dilation", json_pack("[i, i]", op->dilation_h, op->dilation_w));
    if (layer && op->groups > 1)
        json_object_set_new(layer, "groups", json_integer(op->groups));
    return layer;
}

static json_t *net_json(const struct net *net)
{
    json_t *layers = json_array();
    for (int i = 0; i < net->op_count; i++)
        json_array_append_new(layers, layer_json(net, i));
    return json_pack("{s:o, s:o, s:o, s:i, s:o, s:I, s:f, s:f}", "model", json_any_text(net->name),
                     "source", json_any_text(net->source), "input", shape_json(net->input),
                     "classes", net->classes, "layers", layers, "params",
                     (json_int_t)net->trainable_count, "forward_flops", net_forward_flops(net),
                     "training_flops", net_training_flops(net));
}

/* What the file says of training, which the spec then has; an empty object where it leaves that
 * out. */
static bool read_recipe(struct spec *spec, const char *path, json_t **json, struct error *err)
{
    struct spec recipe;
    bool ok = net_load_recipe(path, &recipe, err) && resolve_recipe(spec, path, err);
    if (ok)
        *json = spec->recipe == RECIPE_NONE ? json_object() : spec_given_to_json(&recipe);
    spec_free(&recipe);
    return ok && (*json || error_memory(err, path));
}

/* With data the network is laid out for it, else for what its own file says. */
static bool load(struct spec *spec, const struct data_watch *watch, struct net **net,
                 json_t **recipe, long *rows, struct error *err)
{
    struct dataset shape = {.rows = 0};
    char *resolved = NULL;
    const struct data_request request = spec_data(spec, watch);
    if (spec->data && !data_describe(&request, &shape, NULL, &resolved, err))
        return false;
    char *path = paths_find_model(spec->model, err);
    bool ok = path;
    if (ok && spec->data)
        ok = net_load(path, (struct net_shape){shape.channels, shape.height, shape.width},
                      shape.classes, net, err);
    else if (ok)
        ok = net_load_default(path, net, err);
    ok = ok && read_recipe(spec, path, recipe, err);
    free(path);
    if (ok && spec->data) {
        free(spec->data);
        spec->data = resolved;
        *rows = spec_train_rows(spec, shape.rows);
    } else {
        free(resolved);
    }
    return ok;
}

/* The stages of a pipeline, and what they take by their FLOPs. */
static json_t *pipeline_json(const struct spec *spec, const struct net *net,
                             const struct pipeline_layout *layout,
                             const struct memory_share *memory, const struct row_shares *shares)
{
    json_t *stages = json_array();
    double bytes = 0;
    for (int i = 0; i < spec->devices.count; i++) {
        char device[DEVICE_NAME], name[NET_STAGE_NAME];
        const int number = i % layout->count;
        const struct net_stage *stage = &layout->stage[number];
        const double given = 2 * (double)memory[i].handed_row * (double)shares->device[i].full;
        bytes += given;
        json_array_append_new(stages,
                              json_pack("{s:s, s:i, s:i, s:o, s:f, s:f, s:f}", "device",
                                        device_id_text(spec->devices.id[i], device), "first",
                                        stage->first, "end", stage->end, "last_layer",
                                        json_any_text(net_stage_name(net, stage, name)), "share",
                                        layout->share[number] / (double)spec->replicas, "bytes",
                                        given, "imbalance", layout->prediction.imbalance[number]));
    }
    if (spec->replicas > 1)
        bytes += (double)net->trainable_count * sizeof(float);
    return json_pack("{s:o, s:I, s:i, s:I, s:f, s:f, s:f, s:f}", "stages", stages, "replicas",
                     (json_int_t)spec->replicas, "micro_batches", layout->split.count, "rows",
                     (json_int_t)layout->split.rows[0], "fill_drain", layout->prediction.fill_drain,
                     "bubble", layout->prediction.bubble, "speedup",
                     layout->speedup * (double)spec->replicas, "bytes", bytes);
}

/* Forward, over a mini-batch: all its rows, but where a slice has rows of its own. */
static double slice_flops(const struct net_slice *slice, enum net_division division, long rows,
                          long batch)
{
    double sum = 0;
    for (int i = 0; i < slice->net->op_count; i++) {
        const bool whole = division == NET_DIVIDE_LAYERS || slice->net->ops[i].global_batch;
        sum += net_op_flops(slice->net, i) * (double)(whole ? batch : rows);
    }
    return sum;
}

/* Of gradients that the devices sum up. */
static double replicated_bytes(const struct net_slice *slice)
{
    double sum = 0;
    for (int i = 0; i < slice->net->param_count; i++)
        if (slice->replicated[i] && net_is_trained(&slice->net->params[i]))
            sum += (double)slice->net->params[i].count * sizeof(float);
    return sum;
}

/* What each device computes of divided layers, by its FLOPs, and what it sends in a step. */
static json_t *tensor_json(const struct spec *spec, const struct net *net,
                           const struct memory_share *shares, long batch, struct error *err)
{
    const enum net_division division = strategy_division(spec->strategy);
    const double all = net_forward_flops(net) * (double)batch;
    json_t *devices = json_array();
    const int count = spec->devices.count;
    int gathers = 0;
    double bytes = 0;
    for (int i = 0; i < count; i++) {
        struct net_slice slice;
        char device[DEVICE_NAME];
        if (!net_slice_make(net, division, i, count, &slice, err)) {
            json_decref(devices);
            return NULL;
        }
        const long rows = shares[i].rows[MEMORY_FULL];
        const double flops = slice_flops(&slice, division, rows, batch);
        json_array_append_new(devices,
                              json_pack("{s:s, s:I, s:f}", "device",
                                        device_id_text(spec->devices.id[i], device), "rows",
                                        (json_int_t)rows, "share", all > 0 ? flops / all : 0));
        gathers = slice.gather_count;
        bytes = (count - 1) * slice.gather_numbers * (double)batch *
                    (double)number_type_size(spec->dtype) +
                replicated_bytes(&slice);
        net_slice_free(&slice);
    }
    return error_if_null(
        json_pack("{s:o, s:i, s:f}", "devices", devices, "gathers", gathers, "bytes", bytes), err,
        "description of the model");
}

static bool lay_out(struct spec *spec, const struct net *net, long rows,
                    struct pipeline_layout *layout, struct error *err)
{
    return spec->strategy == STRATEGY_DATA ||
           (resolve_parallel(spec, net, rows > 0 ? rows : spec->batch, err) &&
            (spec->strategy != STRATEGY_PIPELINE || pipeline_lay_out(spec, net, layout, err)));
}

/* How the network is divided; true as well where it is not. */
static bool add_division(const struct spec *spec, const struct net *net,
                         const struct pipeline_layout *layout, const struct memory_share *shares,
                         long rows, json_t *object, struct error *err)
{
    const long batch = rows > 0 && rows < spec->batch ? rows : spec->batch;
    struct row_shares rows_of;
    json_t *tensor;
    switch (spec->strategy) {
    case STRATEGY_DATA:
        break;
    case STRATEGY_PIPELINE:
        if (!share_rows(spec, batch, 0, &rows_of, err))
            return false;
        json_object_set_new(object, "pipeline", pipeline_json(spec, net, layout, shares, &rows_of));
        break;
    case STRATEGY_TENSOR:
    case STRATEGY_MIXED:
        tensor = tensor_json(spec, net, shares, batch, err);
        json_object_set_new(object, strategy_name(spec->strategy), tensor);
        return tensor;
    }
    return true;
}

/* Why the run would be refused for its memory limit. */
static bool add_limit(const struct spec *spec, const struct net *net, long rows, json_t *object,
                      struct error *err)
{
    char text[400];
    if (!memory_limit_words(spec, net, rows, spec->test_rows, text, sizeof text, err))
        return false;
    if (text[0] != '\0')
        json_object_set_new(object, "over_limit", json_string(text));
    return true;
}

static bool describe(struct spec *spec, const struct data_watch *watch, json_t **result,
                     struct error *err)
{
    struct net *net = NULL;
    json_t *recipe = NULL;
    struct pipeline_layout layout;
    struct memory_share shares[SPEC_MAX_DEVICES];
    long rows = 0;
    bool ok = resolve_devices(spec, err) && load(spec, watch, &net, &recipe, &rows, err) &&
              lay_out(spec, net, rows, &layout, err) &&
              memory_plan(spec, net, &layout, rows, spec->test_rows, shares, err);
    json_t *object = ok ? net_json(net) : NULL;
    if (object) {
        json_object_set_new(object, "data", spec->data ? json_any_text(spec->data) : json_null());
        json_object_set_new(object, "batch", json_integer(spec->batch));
        json_object_set_new(object, "memory", memory_json(spec, shares));
        json_object_set_new(object, "training", recipe);
        ok = add_division(spec, net, &layout, shares, rows, object, err) &&
             add_limit(spec, net, rows, object, err);
    } else {
        json_decref(recipe);
        ok = ok && error_memory(err, "description of the model");
    }
    net_free(net);
    if (!ok)
        json_decref(object);
    else
        *result = object;
    return ok;
}

bool task_model(struct task *task, const json_t *params, json_t **result, struct error *err)
{
    const struct data_watch watch = task_watch(task);
    struct spec spec;
    spec_init(&spec);
    bool ok = spec_from_json(&spec, params, err) && spec_validate(&spec, err);
    if (ok && !spec.model)
        ok = error_set(err, ERROR_USAGE, "'model' is missing");
    ok = ok && free_gpus_settle(task->nvml, &spec, NULL, err) &&
         describe(&spec, &watch, result, err);
    spec_free(&spec);
    return ok;
}
