/* SPDX-License-Identifier: MIT */
#include "engine/net/builder.h"

#include <stdlib.h>
#include <string.h>

#include "engine/net/error.h"

/* Double the capacity of an array that is full. */
static bool make_room(void **array, int count, int *capacity, size_t size, struct error *err)
{
    if (*array && count < *capacity)
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

/* Append the operation, of which kind, line, inputs and settings are given. */
static bool add_op(struct net_builder *builder, struct net_op op, const char *name, int *output,
                   struct error *err)
{
    struct net *net = builder->net;
    const struct net_operation *operation = net_operation(op.kind);
    struct net_shape shape = net->tensors[op.inputs[0]].shape;
    op.weight = op.bias = op.running_mean = op.running_var = NET_NONE;
    if (operation->shape && !operation->shape(net, &op, &shape, err))
        return error_prefix(err, "%s:%d: %s", builder->file, op.line, net_kind_name(op.kind));
    if (net->op_count == NET_MAX_OPS)
        return model_error(builder->file, op.line, err, "more than %d operations", NET_MAX_OPS);
    if (!make_room((void **)&net->ops, net->op_count, &builder->op_capacity, sizeof *net->ops, err))
        return false;
    if (!add_tensor(builder, shape, net->op_count, op.line, output, err))
        return false;
    op.output = *output;
    op.origin = net->op_count;
    op.name = strdup(name);
    if (!op.name)
        return error_memory(err, "network");
    if (operation->params)
        builder->modules[builder->module_count++] = net->op_count;
    net->ops[net->op_count++] = op;
    for (int i = 0; i < operation->inputs; i++)
        net->tensors[op.inputs[i]].readers++;
    return true;
}

bool net_builder_layer(struct net_builder *builder, const struct net_op *layer, const char *name,
                       int input, int *output, struct error *err)
{
    struct net_op op = *layer;
    op.inputs[0] = input;
    op.inputs[1] = NET_NONE;
    return add_op(builder, op, name, output, err);
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
    const struct net_op op = {.kind = NET_ADD, .line = line, .inputs = {left, right}};
    return add_op(builder, op, name, output, err);
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
    if (builder->name_count == 0)
        return true;
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
