/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/graph.h"

#include <stdlib.h>
#include <string.h>

/* Convolutions of up to this many channels read the plain layout, as those on pictures do. */
#define PLAIN_CONV_CHANNELS 3
/* Channels last: a first convolution that reads up to this many numbers for each of its own reads
 * them laid out as columns. Beyond that the copies cost more than few channels do. */
#define MOST_TAPS 160

struct building {
    const struct net *net;
    struct fused fused;
    struct graph *graph;
    enum graph_layout layout;
    int block;
    int *value_of; /* per tensor */
};

static int add_value(struct building *b, struct net_shape shape, int block)
{
    int index = b->graph->value_count++;
    if (b->layout == LAYOUT_CHANNELS_LAST)
        block = (shape.c + b->block - 1) / b->block * b->block;
    b->graph->values[index] = (struct value){.shape = shape, .block = block};
    return index;
}

static struct node *add_node(struct building *b, const struct node *node)
{
    struct node *added = &b->graph->nodes[b->graph->node_count++];
    *added = *node;
    return added;
}

static bool same_layout(const struct value *a, const struct value *b)
{
    return a->block == b->block && memcmp(&a->shape, &b->shape, sizeof a->shape) == 0;
}

/* `value` with its channels in blocks of `block`: itself, or the result of a conversion. */
static int convert(struct building *b, int value, int block)
{
    const struct value *from = &b->graph->values[value];
    if (from->block == block || b->layout == LAYOUT_CHANNELS_LAST)
        return value;
    int to = add_value(b, from->shape, block);
    add_node(b, &(struct node){.kind = NET_FLATTEN,
                               .op = NET_NONE,
                               .input = value,
                               .residual = NET_NONE,
                               .output = to,
                               .bias = NET_NONE,
                               .input_bias = NET_NONE,
                               .residual_bias = NET_NONE,
                               .norm = NET_NONE});
    return to;
}

/*
 * Whether everything after a flattened tensor works on numbers in any order: linear layers, whose
 * weights can be permuted instead, with element-wise operations in between.
 */
static bool order_is_free(const struct building *b, int tensor)
{
    if (tensor == b->net->output)
        return false;
    for (int i = 0; i < b->fused.count; i++) {
        const struct fused_op *f = &b->fused.ops[i];
        if (f->input != tensor && f->residual != tensor)
            continue;
        const enum net_access access = net_operation(f->kind)->access;
        const bool passes_on = access == NET_ANY_ORDER || access == NET_SHAPE_CHANGED;
        if (passes_on ? !order_is_free(b, f->output) : access != NET_ALL_NUMBERS)
            return false;
    }
    return true;
}

/* The one convolution that reads the network's input and is better given columns; NULL: none. */
static const struct fused_op *columns_reader(const struct building *b)
{
    const struct fused_op *reader = NULL;
    for (int i = 0; i < b->fused.count; i++) {
        const struct fused_op *f = &b->fused.ops[i];
        if (f->input != 0 && f->residual != 0)
            continue;
        if (reader || f->kind != NET_CONV)
            return NULL;
        reader = f;
    }
    if (!reader || b->net->output == 0 || b->layout != LAYOUT_CHANNELS_LAST)
        return NULL;
    const struct net_op *op = &b->net->ops[reader->op];
    const bool few = (long)b->net->input.c * op->kernel_h * op->kernel_w <= MOST_TAPS;
    return few && op->groups == 1 && op->dilation_h == 1 && op->dilation_w == 1 ? reader : NULL;
}

/* Plain, unless only convolutions over many channels read the input. */
static int input_block(const struct building *b)
{
    if (b->net->input.c <= PLAIN_CONV_CHANNELS || b->net->output == 0)
        return 1;
    for (int i = 0; i < b->fused.count; i++) {
        const struct fused_op *f = &b->fused.ops[i];
        if (f->residual == 0 || (f->input == 0 && f->kind != NET_CONV))
            return 1;
    }
    return b->block;
}

static int add_input(struct building *b)
{
    struct net_shape shape = b->net->input;
    const struct fused_op *reader = columns_reader(b);
    if (reader) {
        const struct net_op *op = &b->net->ops[reader->op];
        const struct net_shape out = b->net->tensors[reader->output].shape;
        shape = (struct net_shape){shape.c * op->kernel_h * op->kernel_w, out.h, out.w};
    }
    return add_value(b, shape, input_block(b));
}

static void lower(struct building *b, const struct fused_op *f)
{
    struct graph *g = b->graph;
    int input = b->value_of[f->input], block = g->values[input].block;
    int residual = f->residual == NET_NONE ? NET_NONE : b->value_of[f->residual];
    struct net_shape shape = b->net->tensors[f->output].shape;
    switch (net_operation(f->kind)->access) {
    case NET_ANY_ORDER:
        shape = g->values[input].shape;
        break;
    case NET_SAME_LAYOUT:
        if (residual != NET_NONE && !same_layout(&g->values[input], &g->values[residual])) {
            input = convert(b, input, b->block);
            residual = convert(b, residual, b->block);
            block = g->values[input].block;
        }
        break;
    case NET_ALL_CHANNELS:
        if (block != 1 || g->values[input].shape.c > PLAIN_CONV_CHANNELS)
            input = convert(b, input, b->block);
        block = b->block;
        break;
    case NET_ALL_NUMBERS:
    case NET_PIXELS_GONE:
        block = 1;
        break;
    case NET_SHAPE_CHANGED:
        if (order_is_free(b, f->output))
            shape = g->values[input].shape;
        else
            block = 1;
        break;
    }
    int output = add_value(b, shape, block);
    b->value_of[f->output] = output;
    add_node(b, &(struct node){.kind = f->kind,
                               .op = f->op,
                               .input = input,
                               .residual = residual,
                               .output = output,
                               .relu = f->relu,
                               .bias = f->bias,
                               .input_bias = f->input_bias,
                               .residual_bias = f->residual_bias,
                               .norm = NET_NONE,
                               .columns = f == columns_reader(b)});
}

static bool has_parameters(const struct node *node)
{
    return net_operation(node->kind)->params;
}

static void mark_gradients(struct graph *g)
{
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        bool wants = has_parameters(n) || g->values[n->input].wants_grad ||
                     (n->residual != NET_NONE && g->values[n->residual].wants_grad);
        g->values[n->output].wants_grad = wants;
        g->values[n->input].readers++;
        if (n->residual != NET_NONE)
            g->values[n->residual].readers++;
    }
    g->values[g->logits].live = true;
    for (int i = g->node_count; i-- > 0;) {
        struct node *n = &g->nodes[i];
        if (!g->values[n->output].live)
            continue;
        g->values[n->input].live = true;
        if (n->residual != NET_NONE)
            g->values[n->residual].live = true;
    }
    for (int i = 0; i < g->value_count; i++)
        g->values[i].wants_grad &= g->values[i].live;
    for (int i = 0; i < g->node_count; i++)
        g->nodes[i].backward = g->values[g->nodes[i].output].wants_grad;
}

int graph_operation(const struct graph *graph, const struct node *node)
{
    while (node->op == NET_NONE && node + 1 < graph->nodes + graph->node_count)
        node++;
    return node->op;
}

static struct graph_end values_of(const int *value_of, const struct net_cut *cut)
{
    struct graph_end end = {.count = cut->count};
    for (int i = 0; i < end.count; i++)
        end.value[i] = value_of[cut->tensor[i]];
    return end;
}

bool graph_is_exit(const struct graph *graph, int value)
{
    bool is = false;
    for (int i = 0; i < graph->exit.count; i++)
        is = is || graph->exit.value[i] == value;
    return is;
}

size_t graph_end_row(const struct graph *graph, const struct graph_end *end)
{
    size_t row = 0;
    for (int i = 0; i < end->count; i++)
        row += value_row(&graph->values[end->value[i]]);
    return row;
}

/* Leave out what is not of the stage. What is known of gradients is that of the whole network. */
static void keep_stage(struct graph *g, const struct net_stage *stage)
{
    int first = 0, end = g->node_count;
    while (first < end && graph_operation(g, &g->nodes[first]) < stage->first)
        first++;
    while (end > first && graph_operation(g, &g->nodes[end - 1]) >= stage->end)
        end--;
    memmove(g->nodes, g->nodes + first, (size_t)(end - first) * sizeof *g->nodes);
    g->node_count = end - first;
    g->begins = stage->first == 0;
    g->ends = stage->end == g->net->op_count;
}

bool graph_build(const struct net *net, const struct net_stage *stage, enum graph_layout layout,
                 int block, struct graph *out, struct error *err)
{
    /* Each operation makes one value and needs at most two conversions. */
    size_t room = 3 * (size_t)net->op_count + 1;
    const struct net_stage whole = net_whole(net);
    struct building b = {.net = net, .graph = out, .layout = layout, .block = block};
    *out = (struct graph){.net = net};
    stage = stage ? stage : &whole;
    if (!fuse(net, &b.fused, err))
        return false;
    out->nodes = calloc(room, sizeof *out->nodes);
    out->values = calloc(room, sizeof *out->values);
    b.value_of = calloc((size_t)net->tensor_count, sizeof *b.value_of);
    bool ok = out->nodes && out->values && b.value_of;
    if (ok) {
        b.value_of[0] = add_input(&b);
        for (int i = 0; i < b.fused.count; i++)
            lower(&b, &b.fused.ops[i]);
        out->logits = b.value_of[net->output];
        out->entry = values_of(b.value_of, &stage->entry);
        out->exit = values_of(b.value_of, &stage->exit);
        mark_gradients(out);
        keep_stage(out, stage);
    } else {
        graph_free(out);
        error_memory(err, "layouts of the network's values");
    }
    free(b.value_of);
    fused_free(&b.fused);
    return ok;
}

void graph_free(struct graph *graph)
{
    free(graph->nodes);
    free(graph->values);
    *graph = (struct graph){0};
}
