/* SPDX-License-Identifier: MIT */
#include "engine/net/stage.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static bool is_norm(enum net_kind kind)
{
    return kind == NET_BATCHNORM || kind == NET_GROUPNORM;
}

/* Whether the operation belongs to the one that makes its input `k`, which it alone reads. */
static bool continues_layer(const struct net *net, const struct net_op *op, int k)
{
    const struct net_tensor *tensor = &net->tensors[op->inputs[k]];
    const enum net_kind maker = net->ops[tensor->producer].kind;
    if (tensor->readers != 1)
        return false;
    if (is_norm(op->kind))
        return maker == NET_CONV || maker == NET_LINEAR;
    return op->kind == NET_ADD || net_operation(op->kind)->access == NET_ANY_ORDER ||
           net_operation(op->kind)->access == NET_SHAPE_CHANGED;
}

/* False: there is no room for it. */
static bool add_tensor(struct net_cut *cut, int tensor)
{
    for (int i = 0; i < cut->count; i++)
        if (cut->tensor[i] == tensor)
            return true;
    if (cut->count == NET_CUT_TENSORS)
        return false;
    cut->tensor[cut->count++] = tensor;
    return true;
}

/* What operations after `end` read of those up to it; false: a cut is not possible there. */
static bool cut_after(const struct net *net, int end, struct net_cut *cut)
{
    *cut = (struct net_cut){0};
    if (end < 0 || end >= net->op_count - 1 || net->tensors[net->output].producer <= end ||
        !add_tensor(cut, net->ops[end].output))
        return false;
    for (int i = end + 1; i < net->op_count; i++)
        for (int k = 0; k < 2; k++) {
            const struct net_op *op = &net->ops[i];
            const int tensor = op->inputs[k];
            if (tensor == NET_NONE || net->tensors[tensor].producer > end)
                continue;
            if (net->tensors[tensor].producer == NET_NONE || continues_layer(net, op, k) ||
                !add_tensor(cut, tensor))
                return false;
        }
    return net->tensors[net->ops[end].output].readers > 0;
}

size_t net_cut_size(const struct net *net, int end)
{
    struct net_cut cut;
    size_t size = 0;
    cut_after(net, end, &cut);
    for (int i = 0; i < cut.count; i++)
        size += net_shape_size(net->tensors[cut.tensor[i]].shape);
    return size;
}

/* Whether of two cuts with the same name the network may be cut after `end`. */
static bool is_better(const struct net *net, int end, int other)
{
    struct net_cut cut;
    if (!cut_after(net, other, &cut))
        return true;
    const size_t size = net_cut_size(net, end), rival = net_cut_size(net, other);
    return size < rival || (size == rival && end < other);
}

/* The smallest of the cuts after a layer and the operations without a name that follow it, as they
 * would all be called by that layer's name. */
static bool is_smallest(const struct net *net, int end)
{
    struct net_cut cut;
    bool is = cut_after(net, end, &cut);
    for (int i = end; is && i > 0 && !*net->ops[i].name; i--)
        is = is_better(net, end, i - 1);
    for (int i = end + 1; is && i < net->op_count && !*net->ops[i].name; i++)
        is = is_better(net, end, i);
    return is;
}

/* Whether `name` is `unit[0..length)` or begins with it and a dot. */
static bool is_part_of(const char *name, const char *unit, size_t length)
{
    return strncmp(name, unit, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

/* How many operations from `first` on, before `end`, belong to the unit. */
static int count_parts(const struct net *net, int first, int end, const char *unit, size_t length)
{
    int count = 0;
    for (int i = first; i < end; i++)
        count += is_part_of(net->ops[i].name, unit, length);
    return count;
}

const char *net_stage_name(const struct net *net, const struct net_stage *stage,
                           char buffer[NET_STAGE_NAME])
{
    int last = stage->end - 1;
    while (last > 0 && !*net->ops[last].name)
        last--;
    const char *name = net->ops[last].name;
    size_t length = strlen(name);
    for (size_t i = length; i > 0; i--) {
        if (name[i] != '\0' && name[i] != '.')
            continue;
        if (count_parts(net, 0, stage->end, name, i) > 1 &&
            count_parts(net, stage->end, net->op_count, name, i) == 0) {
            length = i;
            break;
        }
    }
    snprintf(buffer, NET_STAGE_NAME, "%.*s", (int)length, name);
    return buffer;
}

/* The last operation of a named layer or unit, with those without a name after it up to a cut; -1:
 * there is none of this name. */
static int end_of_unit(const struct net *net, const char *name, size_t length)
{
    int end = net->op_count - 1;
    while (end >= 0 && !is_part_of(net->ops[end].name, name, length))
        end--;
    int last = end;
    while (end >= 0 && !is_smallest(net, last) && last + 1 < net->op_count &&
           !*net->ops[last + 1].name)
        last++;
    return is_smallest(net, last) ? last : end;
}

/* By its name, too. */
static bool may_cut(const struct net *net, int end)
{
    char name[NET_STAGE_NAME];
    if (!is_smallest(net, end))
        return false;
    net_stage_name(net, &(struct net_stage){.end = end + 1}, name);
    return end_of_unit(net, name, strlen(name)) == end;
}

int net_cuts(const struct net *net, int *ends)
{
    int count = 0;
    for (int i = 0; i < net->op_count; i++)
        if (may_cut(net, i))
            ends[count++] = i;
    return count;
}

struct net_stage net_whole(const struct net *net)
{
    return (struct net_stage){.end = net->op_count,
                              .entry = {.count = 1, .tensor = {0}},
                              .exit = {.count = 1, .tensor = {net->output}}};
}

bool net_stages(const struct net *net, const int *ends, int count, struct net_stage *stages)
{
    struct net_stage next = net_whole(net);
    for (int i = 0; i < count; i++) {
        stages[i] = next;
        if (ends[i] < next.first || !may_cut(net, ends[i]))
            return false;
        cut_after(net, ends[i], &stages[i].exit);
        stages[i].end = next.first = ends[i] + 1;
        next.entry = stages[i].exit;
    }
    stages[count] = next;
    return true;
}

/* ", but after 'a' or 'b'": the nearest cuts on both sides of an operation. */
static const char *near_cuts(const struct net *net, int op, char *text, size_t size)
{
    char name[NET_STAGE_NAME];
    size_t used = 0;
    int before = op, after = op + 1;
    while (before >= 0 && !may_cut(net, before))
        before--;
    while (after < net->op_count && !may_cut(net, after))
        after++;
    const int ends[] = {before, after < net->op_count ? after : -1};
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            used += (size_t)snprintf(
                text + used, size - used, "%s '%s'", used ? " or" : ", but after",
                net_stage_name(net, &(struct net_stage){.end = ends[i] + 1}, name));
    return used ? text : " or anywhere else";
}

static bool find_end(const struct net *net, const char *name, size_t length, int previous, int *end,
                     struct error *err)
{
    char near[2 * NET_STAGE_NAME + 32];
    *end = length > 0 ? end_of_unit(net, name, length) : -1;
    if (*end < 0)
        return error_set(err, ERROR_USAGE,
                         "stages: %s has no layer or unit '%.*s': dpartui model lists them",
                         net->name, (int)length, name);
    if (!may_cut(net, *end))
        return error_set(err, ERROR_USAGE, "stages: %s cannot be cut after '%.*s'%s", net->name,
                         (int)length, name, near_cuts(net, *end, near, sizeof near));
    if (*end <= previous)
        return error_set(err, ERROR_USAGE,
                         "stages: '%.*s' ends no later than the stage before it: name the last "
                         "layer of each stage in the order of the network",
                         (int)length, name);
    return true;
}

bool net_stages_named(const struct net *net, const char *list, int count, int *ends,
                      struct error *err)
{
    int names = 1;
    for (const char *p = list; *p; p++)
        names += *p == ',';
    if (count == 0)
        return error_set(err, ERROR_USAGE,
                         "stages: one device has one stage, the whole network: leave stages out, "
                         "or name more devices");
    if (names != count)
        return error_set(
            err, ERROR_USAGE,
            "stages: %d name%s for %d stages: name the last layer of each but the last", names,
            plural(names), count + 1);
    for (int i = 0; i < count; i++) {
        const size_t length = strcspn(list, ",");
        if (!find_end(net, list, length, i > 0 ? ends[i - 1] : -1, &ends[i], err))
            return false;
        list += length + 1;
    }
    return true;
}
