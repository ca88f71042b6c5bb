/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/fold.h"

#include <math.h>
#include <string.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/plan/unary_layer.h"

/* A convolution and the BatchNorm that becomes part of it. */
struct fold {
    const float *from, *gamma, *beta, *mean, *var;
    const float *input_bias, *residual_bias; /* NULL: absent */
    double eps;
    int blocks, lanes; /* of output channels */
    size_t count;      /* weights of one block of output channels */
    struct buffer *weights, *bias;
};

/* The most lanes; a multiple of every other number of them. */
#define LANES 16

/*
 * Formats of weights whose outermost dimension is blocks of `lanes` output channels and whose
 * innermost one is the channels of a block. 0: it is none of them.
 */
static int lanes_of(const struct weights_format *format)
{
    static const struct {
        dnnl_format_tag_t plain, grouped;
        int lanes;
    } formats[] = {
        {dnnl_OIhw16i16o, dnnl_Goihw16g, 16}, {dnnl_OIhw8i8o, dnnl_Goihw8g, 8},
        {dnnl_Ohwi16o, dnnl_Goihw16g, 16},    {dnnl_Ohwi8o, dnnl_Goihw8g, 8},
        {dnnl_Oihw16o, dnnl_Goihw16g, 16},    {dnnl_oihw, dnnl_goihw, 1},
    };
    const struct filters *f = &format->filters;
    int lanes = 0;
    for (size_t i = 0; lanes == 0 && i < sizeof formats / sizeof *formats; i++) {
        desc_t desc = filters_desc(f, dnnl_f32, formats[i].plain, formats[i].grouped);
        if (desc && dnnl_memory_desc_equal(desc, format->desc))
            lanes = formats[i].lanes;
        compat_desc_free(desc);
    }
    /* A block of groups is one of output channels where each group has one. */
    return f->groups == 1 || f->groups == f->out || lanes == 1 ? lanes : 0;
}

static int lanes_of_node(const struct cpu_replica *r, const struct node *conv)
{
    return lanes_of(&r->formats[r->base.net->ops[conv->op].weight]);
}

/* The convolution that `norm` can become part of; NULL: none. */
static const struct node *foldable(const struct cpu_replica *r, const struct node *norm)
{
    const struct graph *g = &r->graph;
    if (norm->kind != NET_BATCHNORM || g->values[norm->input].readers != 1 ||
        graph_is_exit(g, norm->input))
        return NULL;
    for (const struct node *n = g->nodes; n < norm; n++)
        if (n->output == norm->input)
            return n->kind == NET_CONV && !n->relu && n->bias == NET_NONE && lanes_of_node(r, n) > 0
                       ? n
                       : NULL;
    return NULL;
}

/* Folded convolutions move to where their BatchNorm stood, with the addition after them. */
static void fold_nodes(const struct cpu_replica *r, struct graph *out)
{
    const struct graph *g = &r->graph;
    for (int i = 0; i < g->node_count; i++) {
        const struct node *norm = &g->nodes[i], *conv = foldable(r, norm);
        struct node *next = &out->nodes[out->node_count++];
        *next = *norm;
        if (!conv)
            continue;
        for (struct node *n = out->nodes; n < next; n++)
            if (n->output == conv->output) {
                memmove(n, n + 1, (size_t)(next - n) * sizeof *n);
                out->node_count--;
                next--;
                break;
            }
        *next = *conv;
        next->bias = r->base.net->ops[norm->op].bias;
        next->input_bias = norm->input_bias;
        next->residual_bias = norm->residual_bias;
        next->norm = norm->op;
        if (norm->residual == NET_NONE) {
            next->relu = norm->relu;
            next->output = norm->output;
        } else {
            next = &out->nodes[out->node_count++];
            *next = *norm;
            next->kind = NET_ADD;
        }
    }
}

/* Whether a value of another name may lie in the same memory. */
static bool may_alias(const struct node *node)
{
    const struct unary_kind *unary = cpu_layer_of(node->kind)->unary;
    return unary && unary->is_alias;
}

/* Whether the addition at node `at` is the last to look at its residual, which `conv` does not
 * read. */
static bool is_last_reader(const struct graph *g, int at, const struct node *conv)
{
    const int value = g->nodes[at].residual;
    bool made = false;
    for (int i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        bool reads = n->input == value || n->residual == value;
        if ((reads && i > at) || ((reads || n->output == value) && may_alias(n)))
            return false;
        made = made || n->output == value;
    }
    return made && conv->input != value && !graph_is_exit(g, value);
}

/* Let convolutions add to what their residual holds. In the plain layout the library may want
 * another one, and would have to copy. */
static void join_additions(struct graph *g)
{
    for (int i = 1; i < g->node_count; i++) {
        struct node *add = &g->nodes[i], *conv = add - 1;
        if (add->kind != NET_ADD || conv->norm == NET_NONE || add->input != conv->output ||
            add->op != conv->norm || g->values[add->output].block == 1 ||
            !is_last_reader(g, i, conv))
            continue;
        conv->residual = add->residual;
        conv->relu = add->relu;
        conv->output = add->output;
        memmove(add, add + 1, (size_t)(g->node_count - i - 1) * sizeof *add);
        g->node_count--;
        i--;
    }
}

bool fold_graph(const struct cpu_replica *replica, struct graph *out, struct error *err)
{
    const struct graph *g = &replica->graph;
    *out = *g;
    out->node_count = 0;
    out->nodes = calloc((size_t)g->node_count + 1, sizeof *out->nodes);
    out->values = calloc((size_t)g->value_count, sizeof *out->values);
    if (!out->nodes || !out->values) {
        graph_free(out);
        return error_memory(err, "folding BatchNorm");
    }
    memcpy(out->values, g->values, (size_t)g->value_count * sizeof *out->values);
    fold_nodes(replica, out);
    join_additions(out);
    return true;
}

/* Scales of a block's channels, and their biases. */
static void make_affine(const struct fold *f, int block, float scale[LANES])
{
    for (int k = 0; k < f->lanes; k++) {
        const int c = block * f->lanes + k;
        const double bias = f->input_bias ? (double)f->input_bias[c] : 0;
        const double by = (double)f->gamma[c] / sqrt((double)f->var[c] + f->eps);
        scale[k] = (float)by;
        ((float *)f->bias->data)[c] =
            (float)((double)f->beta[c] - ((double)f->mean[c] - bias) * by +
                    (f->residual_bias ? (double)f->residual_bias[c] : 0));
    }
    for (int k = f->lanes; k < LANES; k++)
        scale[k] = scale[k % f->lanes];
}

static bool run_fold(struct plan *plan, void *layer, struct error *err)
{
    const struct fold *f = layer;
    (void)plan;
    (void)err;
#pragma omp parallel for schedule(static)
    for (int block = 0; block < f->blocks; block++) {
        float scale[LANES];
        const float *from = f->from + (size_t)block * f->count;
        float *to = (float *)f->weights->data + (size_t)block * f->count;
        size_t i = 0;
        make_affine(f, block, scale);
        for (; i + LANES <= f->count; i += LANES)
            for (size_t k = 0; k < LANES; k++)
                to[i + k] = from[i + k] * scale[k];
        for (; i < f->count; i++)
            to[i] = from[i] * scale[i % LANES];
    }
    return true;
}

static void bind_parameters(struct fold *f, const struct builder *b, const struct node *node)
{
    const struct net *net = b->graph->net;
    const struct net_op *norm = &net->ops[node->norm];
    f->from = param_values(b, net->ops[node->op].weight);
    f->gamma = param_values(b, norm->weight);
    f->beta = param_values(b, norm->bias);
    f->mean = param_values(b, norm->running_mean);
    f->var = param_values(b, norm->running_var);
    f->input_bias = param_values(b, node->input_bias);
    f->residual_bias = param_values(b, node->residual_bias);
    f->eps = norm->eps;
}

bool fold_parameters(struct builder *b, const struct node *node, struct buffer **weights,
                     struct buffer **bias, struct error *err)
{
    const struct cpu_replica *r = b->plan->replica;
    const int weight = r->base.net->ops[node->op].weight;
    const struct param_place *place = &r->places.list[weight];
    const struct weights_format *format = &r->formats[weight];
    *bias = NULL;
    if (node->norm == NET_NONE) {
        *weights = build_fixed(b, param_values(b, r->base.net->ops[node->op].weight), err);
        if (*weights && node->bias != NET_NONE)
            *bias = build_fixed(b, param_values(b, node->bias), err);
        return *weights && (*bias || node->bias == NET_NONE);
    }
    struct fold *f = build_object(b, sizeof *f, NULL, err);
    if (!f)
        return false;
    bind_parameters(f, b, node);
    f->lanes = lanes_of_node(r, node);
    if (f->lanes == 0) /* it had some when it was folded */
        return error_memory(err, "folding BatchNorm");
    f->blocks = (format->filters.out + f->lanes - 1) / f->lanes;
    f->count = dnnl_memory_desc_get_size(format->desc) / sizeof(float) / (size_t)f->blocks;
    *weights = f->weights = build_buffer(b, place->size * sizeof(float), err);
    *bias = f->bias =
        f->weights ? build_buffer(b, (size_t)(f->blocks * f->lanes) * sizeof(float), err) : NULL;
    if (!f->bias)
        return false;
    build_label(b, PLAN_FOLD, "");
    build_use(b, f->weights);
    build_use(b, f->bias);
    return build_step(b, node, run_fold, f, err);
}
