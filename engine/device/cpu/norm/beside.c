/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv/conv.h"
#include "engine/device/cpu/norm/batchnorm.h"

struct batchnorm *batchnorm_of(const struct builder *b, int value)
{
    for (int i = 0; i < b->graph->node_count; i++) {
        const struct node *node = &b->graph->nodes[i];
        if (node->output == value && node->kind == NET_BATCHNORM)
            return b->layers[i];
    }
    return NULL;
}

static bool reader_fits(const struct builder *b, const struct node *node, bool *yes,
                        struct error *err)
{
    *yes = node->kind == NET_CONV;
    if (*yes && !conv_goes_beside(b, node, CONV_FORWARD, yes, err))
        return false;
    return !*yes || !node->backward || conv_goes_beside(b, node, CONV_BACKWARD_WEIGHTS, yes, err);
}

bool batchnorm_fits_inside(const struct builder *b, const struct node *node, bool *yes,
                           struct error *err)
{
    *yes = b->training && b->rows > 0 && node->relu && node->residual == NET_NONE &&
           node->output != b->graph->output;
    for (int i = 0; *yes && i < b->graph->node_count; i++) {
        const struct node *reader = &b->graph->nodes[i];
        if (reader->residual == node->output)
            *yes = false;
        else if (reader->input == node->output && !reader_fits(b, reader, yes, err))
            return false;
    }
    return true;
}

struct conv_norm batchnorm_norm(const struct batchnorm *n)
{
    return (struct conv_norm){.scale = stat(n, STAT_SCALE), .shift = stat(n, STAT_SHIFT)};
}
