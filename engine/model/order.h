/* SPDX-License-Identifier: MIT */
#pragma once

#include <libconfig.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/net/builder.h"

/*
 * The order in which the layers of one group store their params: that of the file unless the group
 * has an `order`, an array of the names of its layers. Each layer of the group holds a range of the
 * builder's modules.
 */
struct model_order {
    struct model_order_part {
        char *name;
        int begin, end, line; /* line: of the `order` that took it; 0: not taken yet */
    } * parts;
    int count, capacity;
};

#define MODEL_ORDER_INIT                                                                           \
    {                                                                                              \
        0                                                                                          \
    }

/* Note that the layer `name` holds modules begin..end-1; ranges follow one another. */
bool model_order_add(struct model_order *order, const char *name, int begin, int end,
                     struct error *err);
/* Put the modules of the group's layers into the order that its setting `order` asks for. */
bool model_order_apply(struct model_order *order, struct net_builder *builder,
                       const config_setting_t *group, struct error *err);
void model_order_free(struct model_order *order);
