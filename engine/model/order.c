/* SPDX-License-Identifier: MIT */
#include "engine/model/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/net/error.h"

bool model_order_add(struct model_order *order, const char *name, int begin, int end,
                     struct error *err)
{
    if (begin == end)
        return true; /* nothing to store */
    struct model_order_part *parts =
        array_grow(order->parts, order->count, &order->capacity, sizeof *parts);
    order->parts = parts ? parts : order->parts;
    char *copy = parts ? strdup(name) : NULL;
    if (!copy)
        return error_memory(err, "model");
    order->parts[order->count++] =
        (struct model_order_part){.name = copy, .begin = begin, .end = end};
    return true;
}

/* Take the part that an element of `order` names; NULL and *err when there is none to take. */
static const struct model_order_part *take_part(struct model_order *order, const char *file,
                                                const config_setting_t *element, struct error *err)
{
    const char *name = config_setting_get_string(element);
    int line = (int)config_setting_source_line(element);
    for (int i = 0; name && i < order->count; i++) {
        struct model_order_part *part = &order->parts[i];
        if (strcmp(part->name, name) != 0)
            continue;
        if (part->line) {
            model_error(file, line, err, "'order' names '%.64s' twice", name);
            return NULL;
        }
        part->line = line;
        return part;
    }
    model_error(file, line, err,
                "'order' must name layers of its group that have parameters%s%.64s",
                name ? ", not " : "", name ? name : "");
    return NULL;
}

static bool all_taken(const struct model_order *order, const char *file, int line,
                      struct error *err)
{
    for (int i = 0; i < order->count; i++)
        if (!order->parts[i].line)
            return model_error(file, line, err,
                               "'order' leaves out '%s': name every layer that "
                               "has parameters",
                               order->parts[i].name);
    return true;
}

bool model_order_apply(struct model_order *order, struct net_builder *builder,
                       const config_setting_t *group, struct error *err)
{
    const config_setting_t *setting = config_setting_get_member(group, "order");
    if (!setting)
        return true;
    int line = (int)config_setting_source_line(setting);
    if (!config_setting_is_array(setting) && !config_setting_is_list(setting))
        return model_error(builder->file, line, err,
                           "'order' must be an array of the names of layers");
    int modules[NET_MAX_OPS], count = 0;
    for (int i = 0; i < config_setting_length(setting); i++) {
        const struct model_order_part *part =
            take_part(order, builder->file, config_setting_get_elem(setting, (unsigned)i), err);
        if (!part)
            return false;
        for (int j = part->begin; j < part->end; j++)
            modules[count++] = builder->modules[j];
    }
    if (!all_taken(order, builder->file, line, err))
        return false;
    if (count)
        memcpy(builder->modules + order->parts[0].begin, modules, (size_t)count * sizeof *modules);
    return true;
}

void model_order_free(struct model_order *order)
{
    for (int i = 0; i < order->count; i++)
        free(order->parts[i].name);
    free(order->parts);
    *order = (struct model_order)MODEL_ORDER_INIT;
}
