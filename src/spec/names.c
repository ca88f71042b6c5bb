/* SPDX-License-Identifier: MIT */
#include "spec/names.h"

#include <stddef.h>

const char *const split_names[] = {"chunk", "even", "balanced", "weighted", "auto", NULL};
const char *const sync_names[] = {"allreduce", "reduce-broadcast", "central", NULL};
const char *const type_names[] = {"default", "f32", "tf32", "bf16", NULL};
/* By the flags. */
const char *const augment_names[] = {"none", "flip", "crop", "flip-crop", NULL};
const char *const order_names[] = {"shuffle", "sequential", NULL};

const char *split_rule_name(enum split_rule rule)
{
    return split_names[rule];
}

const char *sync_method_name(enum sync_method method)
{
    return sync_names[method];
}

const char *number_type_name(enum number_type type)
{
    return type_names[type];
}

const char *augment_name(enum augment_flags augment)
{
    return augment_names[augment];
}
