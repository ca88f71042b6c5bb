/* SPDX-License-Identifier: MIT */
#include "engine/net/fuse.h"

#include <stdlib.h>

struct fusing {
    const struct net *net;
    struct fused_op *lead; /* per operation: the composite it leads */
    int *last;             /* per operation: last operation of that composite */
    int *leader;           /* per operation: leader of the composite it belongs to */
};

/* The one operation that reads `tensor`, or NET_NONE when several or the outside do. */
static int only_reader(const struct net *net, int tensor)
{
    int found = NET_NONE;
    if (tensor == net->output)
        return NET_NONE;
    for (int i = 0; i < net->op_count; i++) {
        for (int k = 0; k < 2; k++) {
            if (net->ops[i].inputs[k] != tensor)
                continue;
            if (found != NET_NONE)
                return NET_NONE;
            found = i;
        }
    }
    return found;
}

static void absorb(struct fusing *f, int leader, int op)
{
    f->leader[op] = leader;
    f->last[leader] = op;
    f->lead[leader].output = f->net->ops[op].output;
}

/* Take the ReLU after the composite led by `leader`, if nothing else sees what it reads. */
static bool absorb_relu(struct fusing *f, int leader)
{
    int next = only_reader(f->net, f->lead[leader].output);
    if (next == NET_NONE || f->net->ops[next].kind != NET_RELU)
        return false;
    absorb(f, leader, next);
    f->lead[leader].relu = true;
    return true;
}

/* batchnorm -> add -> ReLU, unless the batchnorm of the other side took the addition already. */
static void absorb_residual(struct fusing *f, int leader)
{
    const struct net *net = f->net;
    int add = only_reader(net, net->ops[leader].output);
    if (add == NET_NONE || net->ops[add].kind != NET_ADD || f->leader[add] != add)
        return;
    int relu = only_reader(net, net->ops[add].output);
    if (relu == NET_NONE || net->ops[relu].kind != NET_RELU)
        return;
    const int *summand = net->ops[add].inputs;
    absorb(f, leader, add);
    absorb(f, leader, relu);
    f->lead[leader].relu = true;
    f->lead[leader].residual = summand[0] == net->ops[leader].output ? summand[1] : summand[0];
}

static void lead_composite(struct fusing *f, int op)
{
    const enum net_kind kind = f->net->ops[op].kind;
    if (!net_operation(kind)->takes_relu || f->leader[op] != op)
        return;
    if (!absorb_relu(f, op) && kind == NET_BATCHNORM)
        absorb_residual(f, op);
}

/* Hand a convolution's bias to the BatchNorm that makes it superfluous. */
static void move_bias(struct fusing *f, int op)
{
    struct fused_op *conv = &f->lead[op];
    if (conv->kind != NET_CONV || conv->bias == NET_NONE || conv->relu)
        return;
    int reader = only_reader(f->net, conv->output);
    if (reader == NET_NONE)
        return;
    struct fused_op *norm = &f->lead[f->leader[reader]];
    if (norm->kind != NET_BATCHNORM)
        return;
    if (norm->input == conv->output) {
        norm->input_bias = conv->bias;
        conv->bias = NET_NONE;
    } else if (norm->residual == conv->output) {
        norm->residual_bias = conv->bias;
        conv->bias = NET_NONE;
    }
}

static void find_composites(struct fusing *f)
{
    const struct net *net = f->net;
    for (int i = 0; i < net->op_count; i++) {
        const struct net_op *o = &net->ops[i];
        f->lead[i] = (struct fused_op){
            .kind = o->kind,
            .op = i,
            .input = o->inputs[0],
            .residual = o->inputs[1],
            .output = o->output,
            .bias = o->has_bias ? o->bias : NET_NONE,
            .input_bias = NET_NONE,
            .residual_bias = NET_NONE,
        };
        f->leader[i] = f->last[i] = i;
    }
    /* BatchNorm first, so that an addition after one goes to it and not to its own ReLU. */
    for (int i = 0; i < net->op_count; i++)
        if (net->ops[i].kind == NET_BATCHNORM)
            lead_composite(f, i);
    for (int i = 0; i < net->op_count; i++)
        if (net->ops[i].kind != NET_BATCHNORM)
            lead_composite(f, i);
    for (int i = 0; i < net->op_count; i++)
        move_bias(f, i);
}

bool fuse(const struct net *net, struct fused *out, struct error *err)
{
    size_t n = (size_t)net->op_count + 1;
    struct fusing f = {.net = net,
                       .lead = calloc(n, sizeof *f.lead),
                       .last = calloc(n, sizeof *f.last),
                       .leader = calloc(n, sizeof *f.leader)};
    *out = (struct fused){.ops = calloc(n, sizeof *out->ops)};
    bool ok = f.lead && f.last && f.leader && out->ops;
    if (ok) {
        find_composites(&f);
        /* A composite stands where its last operation stood: all it reads is made by then. */
        for (int i = 0; i < net->op_count; i++)
            if (f.last[f.leader[i]] == i)
                out->ops[out->count++] = f.lead[f.leader[i]];
    } else {
        fused_free(out);
        error_memory(err, "fusing the network's operations");
    }
    free(f.lead);
    free(f.last);
    free(f.leader);
    return ok;
}

void fused_free(struct fused *fused)
{
    free(fused->ops);
    *fused = (struct fused){0};
}
