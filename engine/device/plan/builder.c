/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/builder.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

void build_rows(struct builder *b, bool global_batch)
{
    b->global_batch = global_batch;
    b->rows = global_batch ? b->core->request.global_rows : b->core->request.rows;
}

static struct buffer *new_buffer(struct builder *b, enum buffer_region region, size_t bytes,
                                 struct error *err)
{
    return error_if_null(pool_add(&b->core->pool, region, bytes), err, "a plan's buffers");
}

struct buffer *build_buffer(struct builder *b, size_t bytes, struct error *err)
{
    return new_buffer(b, BUFFER_PLANNED, bytes, err);
}

struct buffer *build_scratch(struct builder *b, size_t bytes, struct error *err)
{
    struct buffer *buffer = new_buffer(b, BUFFER_SCRATCH, bytes, err);
    if (buffer)
        build_use(b, buffer);
    return buffer;
}

/* One that has memory of its own, behind *end. */
static struct buffer *append_buffer(struct builder *b, enum buffer_region region, size_t bytes,
                                    size_t *end, struct error *err)
{
    struct buffer *buffer = new_buffer(b, region, bytes, err);
    if (!buffer)
        return NULL;
    buffer->offset = *end;
    *end += buffer->size;
    return buffer;
}

struct buffer *build_input_buffer(struct builder *b, size_t bytes, struct error *err)
{
    return append_buffer(b, BUFFER_INPUT, bytes, &b->core->input_bytes, err);
}

struct buffer *build_deferred_buffer(struct builder *b, size_t bytes, struct error *err)
{
    return append_buffer(b, BUFFER_DEFERRED, bytes, &b->core->deferred_bytes, err);
}

struct buffer *build_fixed(struct builder *b, void *data, struct error *err)
{
    struct buffer *buffer = new_buffer(b, BUFFER_FIXED, 0, err);
    if (buffer)
        buffer->data = data;
    return buffer;
}

void build_use(struct builder *b, struct buffer *buffer)
{
    if (buffer->last != b->time && buffer->region == BUFFER_PLANNED)
        b->bytes += buffer->size;
    buffer_use(buffer, b->time);
}

static size_t value_bytes(const struct builder *b, int value)
{
    return (size_t)b->rows * value_row(&b->graph->values[value]) * b->backend->number_size;
}

struct buffer *build_value(struct builder *b, int value, struct error *err)
{
    if (!b->values[value])
        b->values[value] = build_buffer(b, value_bytes(b, value), err);
    if (b->values[value])
        build_use(b, b->values[value]);
    return b->values[value];
}

void build_recomputed(struct builder *b, const struct node *node, recompute_function *make,
                      void *layer)
{
    b->recompute[node->output] = (struct recompute){make, node, layer};
}

struct buffer *build_forward_value(struct builder *b, int value, struct error *err)
{
    const struct recompute how = b->recompute[value];
    if (!how.make)
        return build_value(b, value, err);
    struct buffer *to = build_buffer(b, value_bytes(b, value), err);
    if (!to || !how.make(b, how.node, how.layer, to, err))
        return NULL;
    b->recompute[value].make = NULL;
    b->values[value] = to;
    build_use(b, to);
    return to;
}

void *build_object(struct builder *b, size_t size, void (*release)(void *), struct error *err)
{
    struct plan_core *plan = b->core;
    struct owned *list =
        array_grow(plan->owned, plan->owned_count, &plan->owned_capacity, sizeof *list);
    plan->owned = list ? list : plan->owned;
    void *object = list ? calloc(1, size) : NULL;
    if (object)
        list[plan->owned_count++] = (struct owned){object, release};
    return error_if_null(object, err, "a plan's steps");
}

void build_label(struct builder *b, enum plan_direction direction, const char *method)
{
    b->label.direction = direction;
    snprintf(b->label.method, sizeof b->label.method, "%s", method);
}

void build_label_apart(struct builder *b, enum plan_direction direction, const char *method)
{
    build_label(b, direction, method);
    b->label.apart = true;
}

/* Steps without a node, which hand nothing over: the input is the first of a plan, the loss the
 * other. */
static void describe_step(const struct builder *b, const struct node *node, struct plan_time *time)
{
    const struct net *net = b->graph->net;
    *time = (struct plan_time){.part = b->label.hands_over ? PLAN_HANDOVER
                                       : b->time == 0      ? PLAN_INPUT
                                                           : PLAN_LOSS,
                               .layer = ""};
    if (!node)
        return;
    const bool named = node->op != NET_NONE;
    const bool residual = node->kind == NET_BATCHNORM && node->residual != NET_NONE;
    time->part = PLAN_OPERATION;
    time->direction =
        b->backward && b->label.direction == PLAN_FORWARD ? PLAN_BACKWARD : b->label.direction;
    time->place = net->ops[graph_operation(b->graph, node)].origin;
    time->layer = named ? net->ops[node->op].name : "";
    time->bytes = (double)b->bytes;
    if (named && !b->label.apart &&
        (time->direction == PLAN_FORWARD || time->direction == PLAN_BACKWARD_DATA ||
         time->direction == PLAN_BACKWARD_WEIGHTS))
        time->flops = b->rows * net_op_flops(net, node->op);
    snprintf(time->kind, sizeof time->kind, "%s%s%s", net_kind_name(node->kind),
             residual ? " + add" : "", node->relu ? " + relu" : "");
    snprintf(time->method, sizeof time->method, "%s",
             *b->label.method || !b->backend->method ? b->label.method : b->backend->method);
}

static bool add_time(struct builder *b, const struct node *node, struct error *err)
{
    struct plan_core *plan = b->core;
    struct plan_time *list =
        array_grow(plan->times, plan->step_count, &plan->time_capacity, sizeof *list);
    if (!list)
        return error_memory(err, "a plan's steps");
    plan->times = list;
    describe_step(b, node, &list[plan->step_count]);
    return true;
}

bool build_step(struct builder *b, const struct node *node, step_function *run, void *layer,
                struct error *err)
{
    struct plan_core *plan = b->core;
    if (plan->request.profile && !add_time(b, node, err))
        return false;
    struct step *list =
        array_grow(plan->steps, plan->step_count, &plan->step_capacity, sizeof *list);
    if (!list)
        return error_memory(err, "a plan's steps");
    plan->steps = list;
    list[plan->step_count++] = (struct step){run, layer, node, b->global_batch};
    b->bytes = 0;
    b->label = (struct step_label){.method = ""};
    b->time++;
    return true;
}

struct buffer *gradient_new(struct builder *b, int value, struct error *err)
{
    struct buffer *buffer = build_buffer(b, value_bytes(b, value), err);
    if (buffer)
        build_use(b, buffer);
    return buffer;
}

bool gradient_is_mine(const struct buffer *part)
{
    return part->holders == 1;
}

struct buffer *gradient_result(struct builder *b, struct buffer *part, int value, struct error *err)
{
    return gradient_is_mine(part) ? part : gradient_new(b, value, err);
}

void gradient_drop(struct buffer *part)
{
    part->holders--;
}

/* A separate step that turns both parts of a gradient into one. */
static bool add_parts(struct builder *b, const struct node *node, int value, struct error *err)
{
    struct gradient *g = &b->gradients[value];
    struct addition *add = build_object(b, sizeof *add, NULL, err);
    if (!add)
        return false;
    add->left = g->part[0];
    add->right = g->part[1];
    add->count = (size_t)b->rows * value_row(&b->graph->values[value]);
    add->sum = gradient_is_mine(g->part[0])   ? g->part[0]
               : gradient_is_mine(g->part[1]) ? g->part[1]
                                              : gradient_new(b, value, err);
    if (!add->sum)
        return false;
    build_use(b, g->part[0]);
    build_use(b, g->part[1]);
    gradient_drop(g->part[0]);
    gradient_drop(g->part[1]);
    add->sum->holders++;
    *g = (struct gradient){.part = {add->sum}, .count = 1};
    build_label(b, PLAN_GRADIENT_SUM, "");
    return build_step(b, node, b->backend->run_addition, add, err);
}

bool gradient_give(struct builder *b, const struct node *node, int value, struct buffer *part,
                   struct error *err)
{
    struct gradient *g = &b->gradients[value];
    if (!b->graph->values[value].wants_grad)
        return true;
    if (g->count == 2 && !add_parts(b, node, value, err))
        return false;
    part->holders++;
    g->part[g->count++] = part;
    return true;
}

bool build_loss_step(struct builder *b, step_function *run, void *loss,
                     const struct buffer **gradient, struct error *err)
{
    const int output = b->graph->logits;
    struct buffer *made = NULL;
    if (b->training && b->graph->values[output].wants_grad &&
        !(made = gradient_new(b, output, err)))
        return false;
    *gradient = made;
    return build_step(b, NULL, run, loss, err) &&
           (!made || gradient_give(b, NULL, output, made, err));
}

bool gradient_take(struct builder *b, const struct node *node, int value, int most,
                   struct buffer *parts[2], struct error *err)
{
    struct gradient *g = &b->gradients[value];
    if (g->count > most && !add_parts(b, node, value, err))
        return false;
    for (int i = 0; i < 2; i++) {
        parts[i] = i < g->count ? g->part[i] : NULL;
        if (parts[i])
            build_use(b, parts[i]);
    }
    g->count = 0;
    return true;
}
