/* SPDX-License-Identifier: MIT */
#include "spec/names.h"

#include <stddef.h>
#include <string.h>

const char *const strategy_names[] = {"data", "pipeline", "tensor", "mixed", NULL};
const char *const split_names[] = {"chunk", "even", "balanced", "weighted", "auto", NULL};
const char *const sync_names[] = {"allreduce", "reduce-broadcast", "central", NULL};
const char *const type_names[] = {"default", "f32", "tf32", "bf16", NULL};
const char *const optimizer_names[] = {"sgd", "nesterov", "adam", "adamw", "rmsprop", NULL};
const char *const no_decay_names[] = {"none", "norm-bias", NULL};
/* By the flags. */
const char *const augment_names[] = {"none", "flip", "crop", "flip-crop", NULL};
const char *const recipe_names[] = {"auto", "none", NULL};
const char *const colour_names[] = {"auto", "grey", "colour", NULL};
const char *const order_names[] = {"shuffle", "sequential", NULL};

/* A number follows those that end in a colon. */
const char *const init_names[] = {
    "normal:",         "uniform:",       "xavier-uniform", "xavier-normal",
    "kaiming-uniform", "kaiming-normal", "default",        NULL};

const char *strategy_name(enum strategy strategy)
{
    return strategy_names[strategy];
}

bool strategy_find(const char *name, enum strategy *strategy)
{
    for (int i = 0; i < STRATEGIES; i++)
        if (strcmp(strategy_names[i], name) == 0) {
            *strategy = (enum strategy)i;
            return true;
        }
    return false;
}

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

bool init_has_scale(enum init_rule rule)
{
    return rule < INIT_FILE && init_names[rule][strlen(init_names[rule]) - 1] == ':';
}

const char *augment_name(enum augment_flags augment)
{
    return augment_names[augment];
}
