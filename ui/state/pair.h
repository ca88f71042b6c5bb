/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/difference.h"

/* Two runs whose settings are compared, from the answers to `show`. All zero: none are. */

struct run_pair {
    long run[2];
    json_t *spec[2]; /* NULL: the engine has not answered yet */
    json_t *retunes[2];
    bool known; /* it has for both, and the differences are these */
    struct spec_differences settings;
};

/* Drop what is known, and be about these from now on. */
void run_pair_begin(struct run_pair *pair, long first, long second);
void run_pair_free(struct run_pair *pair);
/* The result of `show`; nothing happens when it is about another run. */
bool run_pair_show(struct run_pair *pair, const json_t *result, struct error *err);
