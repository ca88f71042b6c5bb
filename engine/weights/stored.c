/* SPDX-License-Identifier: MIT */
#include "engine/weights/stored.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void stored_free(struct stored_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].name);
    free(list->items);
}

static bool all_named(const struct stored_list *list, struct error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].name)
            return error_memory(err, "weights");
    return true;
}

bool stored_state(const struct net *net, const struct state_arrays *arrays,
                  struct stored_list *list, struct error *err)
{
    *list = (struct stored_list){0};
    list->items = calloc((size_t)arrays->count * (size_t)net->param_count + 1, sizeof *list->items);
    if (!list->items)
        return error_memory(err, "state of the optimizer");
    for (int k = 0; k < arrays->count; k++) {
        for (int i = 0; i < net->param_count; i++) {
            const struct net_param *param = &net->params[i];
            if (net_is_trained(param))
                list->items[list->count++] =
                    (struct stored){text_format("%s.%s", param->name, arrays->names[k]), param,
                                    (size_t)k * net->value_count + param->offset};
        }
    }
    return all_named(list, err);
}

bool stored_weights(const struct net *net, struct stored_list *list, struct error *err)
{
    *list = (struct stored_list){0};
    list->items = calloc(2 * (size_t)net->param_count + 1, sizeof *list->items);
    if (!list->items)
        return error_memory(err, "weights");
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *param = &net->params[i];
        list->items[list->count++] = (struct stored){strdup(param->name), param, param->offset};
        if (param->role == NET_RUNNING_VAR) {
            list->counters++;
            list->items[list->count++] = (struct stored){
                .name = text_format("%s.num_batches_tracked", net->ops[param->op].name)};
        }
    }
    return all_named(list, err);
}

bool stored_arrays(const struct safetensors *file, const struct state_arrays *arrays,
                   bool found[STATE_ARRAYS])
{
    bool whole = true;
    memset(found, 0, STATE_ARRAYS * sizeof *found);
    for (size_t i = 0; i < file->count; i++) {
        const char *dot = strrchr(file->entries[i].name, '.');
        int at = 0;
        while (at < arrays->count && !(dot && strcmp(dot + 1, arrays->names[at]) == 0))
            at++;
        if (at < arrays->count)
            found[at] = true;
        else
            whole = false;
    }
    for (int at = 0; at < arrays->count; at++)
        whole = whole && found[at];
    return whole;
}
