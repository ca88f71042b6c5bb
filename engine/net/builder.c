/* SPDX-License-Identifier: MIT */
#include "engine/net/builder.h"

#include <stdlib.h>
#include <string.h>

#include "engine/net/text.h"

/* Double the capacity of an array that is full. */
static bool make_room(void **array, int count, int *capacity, size_t size, struct error *err)
{
    if (count < *capacity)
        return true;
    int wanted = *capacity ? 2 * *capacity : 32;
    void *larger = reallocarray(*array, (size_t)wanted, size);
    if (!larger)
        return error_memory(err, "network");
    *array = larger;
    *capacity = wanted;
    return true;
}

static bool add_tensor(struct net_builder *builder, struct net_shape shape, int producer, int line,
                       int *out, struct error *err)
{
    struct net *net = builder->net;
    size_t size;
    if (!net_product((const int[]){shape.c, shape.h, shape.w}, 3, &size) ||
        size > NET_MAX_VALUES - builder->row_values)
        return model_error(builder->file, line, err,
                           "too large: the values between the layers pass 2^31 for one row here");
    if (!make_room((void **)&net->tensors, net->tensor_count, &builder->tensor_capacity,
                   sizeof *net->tensors, err))
        return false;
    builder->row_values += size;
    *out = net->tensor_count++;
    net->tensors[*out] = (struct net_tensor){.shape = shape, .producer = producer};
    return true;
}

bool net_builder_start(struct net_builder *builder, const char *file, struct net_shape input,
                       int classes, struct error *err)
{
    int tensor;
    *builder = (struct net_builder){.file = file};
    builder->net = calloc(1, sizeof *builder->net);
    if (!builder->net)
        return error_memory(err, "network");
    builder->net->input = input;
    builder->net->classes = classes;
    return add_tensor(builder, input, -1, 1, &tensor, err);
}

static bool add_op(struct net_builder *builder, const struct net_op *op, const char *name,
                   struct net_shape shape, int *output, struct error *err)
{
    struct net *net = builder->net;
    if (net->op_count == NET_MAX_OPS)
        return model_error(builder->file, op->line, err, "more than %d operations", NET_MAX_OPS);
    if (!make_room((void **)&net->ops, net->op_count, &builder->op_capacity, sizeof *net->ops, err))
        return false;
    if (!add_tensor(builder, shape, net->op_count, op->line, output, err))
        return false;
    char *copy = strdup(name);
    if (!copy)
        return error_memory(err, "network");
    struct net_op *added = &net->ops[net->op_count++];
    *added = *op;
    added->name = copy;
    added->output = *output;
    for (int i = 0; i < 2; i++)
        if (op->inputs[i] != NET_NONE)
            net->tensors[op->inputs[i]].readers++;
    return true;
}

/* How many places a window has along one side; 0: none, it does not fit. */
static int window_places(int size, int kernel, int stride, int pad)
{
    int room = size + 2 * pad - kernel;
    return room < 0 ? 0 : room / stride + 1;
}

static bool window_shape(const struct net_builder *builder, const struct net_layer *layer,
                         struct net_shape in, struct net_shape *out, struct error *err)
{
    const char *kind = net_kind_name(layer->kind);
    const int *kernel = layer->kernel, *pad = layer->pad;
    if (layer->kind != NET_CONV && (2 * pad[0] > kernel[0] || 2 * pad[1] > kernel[1]))
        return model_error(builder->file, layer->line, err,
                           "%s: padding %dx%d is more than half of the %dx%d window", kind, pad[0],
                           pad[1], kernel[0], kernel[1]);
    out->c = layer->kind == NET_CONV ? layer->outputs : in.c;
    out->h = window_places(in.h, kernel[0], layer->stride[0], pad[0]);
    out->w = window_places(in.w, kernel[1], layer->stride[1], pad[1]);
    if (out->h == 0 || out->w == 0)
        return model_error(builder->file, layer->line, err,
                           "%s: the %dx%d window does not fit into its input of %dx%d with "
                           "padding (the network's input is %dx%dx%d)",
                           kind, kernel[0], kernel[1], in.h + 2 * pad[0], in.w + 2 * pad[1],
                           builder->net->input.c, builder->net->input.h, builder->net->input.w);
    return true;
}

static bool output_shape(const struct net_builder *builder, const struct net_layer *layer,
                         struct net_shape in, struct net_shape *out, struct error *err)
{
    *out = in;
    switch (layer->kind) {
    case NET_CONV:
    case NET_MAXPOOL:
    case NET_AVGPOOL:
        return window_shape(builder, layer, in, out, err);
    case NET_GLOBAL_AVGPOOL:
        *out = (struct net_shape){in.c, 1, 1};
        return true;
    case NET_LINEAR:
        *out = (struct net_shape){layer->outputs, 1, 1};
        return true;
    case NET_FLATTEN:
        *out = (struct net_shape){(int)net_shape_size(in), 1, 1};
        return true;
    case NET_BATCHNORM:
    case NET_RELU:
    case NET_SIGMOID:
    case NET_TANH:
    case NET_ADD:
    case NET_DROPOUT:
        break;
    }
    return true;
}

static bool has_params(enum net_kind kind)
{
    return kind == NET_CONV || kind == NET_LINEAR || kind == NET_BATCHNORM;
}

bool net_builder_layer(struct net_builder *builder, const struct net_layer *layer, int input,
                       int *output, struct error *err)
{
    /* Until net_builder_finish knows the params' order, `bias` says whether there is to be one. */
    struct net_op op = {
        .kind = layer->kind,
        .line = layer->line,
        .inputs = {input, NET_NONE},
        .weight = NET_NONE,
        .bias = layer->bias ? 0 : NET_NONE,
        .running_mean = NET_NONE,
        .running_var = NET_NONE,
        .eps = layer->eps,
        .momentum = layer->momentum,
        .p = layer->p,
    };
    if (layer->kind == NET_CONV || layer->kind == NET_MAXPOOL || layer->kind == NET_AVGPOOL) {
        op.kernel_h = layer->kernel[0], op.kernel_w = layer->kernel[1];
        op.stride_h = layer->stride[0], op.stride_w = layer->stride[1];
        op.pad_h = layer->pad[0], op.pad_w = layer->pad[1];
    }
    struct net_shape shape;
    if (!output_shape(builder, layer, builder->net->tensors[input].shape, &shape, err) ||
        !add_op(builder, &op, layer->name, shape, output, err))
        return false;
    if (has_params(layer->kind))
        builder->modules[builder->module_count++] = builder->net->op_count - 1;
    return true;
}

bool net_builder_sum(struct net_builder *builder, const char *name, int line, int left, int right,
                     int *output, struct error *err)
{
    struct net_shape a = builder->net->tensors[left].shape;
    struct net_shape b = builder->net->tensors[right].shape;
    if (a.c != b.c || a.h != b.h || a.w != b.w)
        return model_error(builder->file, line, err,
                           "residual: its layers give %dx%dx%d, its shortcut %dx%dx%d; give it a "
                           "shortcut that fits",
                           a.c, a.h, a.w, b.c, b.h, b.w);
    const struct net_op op = {
        .kind = NET_ADD,
        .line = line,
        .inputs = {left, right},
        .weight = NET_NONE,
        .bias = NET_NONE,
        .running_mean = NET_NONE,
        .running_var = NET_NONE,
    };
    return add_op(builder, &op, name, a, output, err);
}

bool net_builder_name(struct net_builder *builder, const char *name, int line, struct error *err)
{
    if (!make_room((void **)&builder->names, builder->name_count, &builder->name_capacity,
                   sizeof *builder->names, err))
        return false;
    struct net_used_name *used = &builder->names[builder->name_count];
    *used = (struct net_used_name){strdup(name), line};
    if (!used->name)
        return error_memory(err, "network");
    builder->name_count++;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const struct net_used_name *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static bool names_differ(struct net_builder *builder, struct error *err)
{
    struct net_used_name *names = builder->names;
    qsort(names, (size_t)builder->name_count, sizeof *names, compare_names);
    for (int i = 1; i < builder->name_count; i++)
        if (strcmp(names[i - 1].name, names[i].name) == 0)
            return model_error(builder->file, names[i].line, err,
                               "the name '%s' is taken by line %d: names must differ",
                               names[i].name, names[i - 1].line);
    return true;
}

bool net_builder_finish(struct net_builder *builder, int output, struct net **out,
                        struct error *err)
{
    struct net *net = builder->net;
    struct net_shape shape = net->tensors[output].shape;
    int line = net->ops[net->tensors[output].producer].line;
    if (shape.c != net->classes || shape.h != 1 || shape.w != 1)
        return model_error(builder->file, line, err,
                           "the last layer gives %dx%dx%d, but there are %d classes: end with "
                           "{ type = \"linear\"; outputs = \"classes\"; }",
                           shape.c, shape.h, shape.w, net->classes);
    if (!names_differ(builder, err) ||
        !net_make_params(net, builder->file, builder->modules, builder->module_count, err))
        return false;
    net->output = output;
    *out = net;
    builder->net = NULL;
    return true;
}

void net_builder_free(struct net_builder *builder)
{
    net_free(builder->net);
    for (int i = 0; i < builder->name_count; i++)
        free(builder->names[i].name);
    free(builder->names);
    *builder = (struct net_builder){0};
}
