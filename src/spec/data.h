/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/validation.h"
#include "spec/spec.h"

/* The data of a run, for data_open and data_describe. Strings are the spec's; `watch` may be NULL.
 */
static inline struct data_request spec_data(const struct spec *spec, const struct data_watch *watch)
{
    return (struct data_request){
        .name = spec->data,
        .data_dir = spec->data_dir,
        .seed = spec->seed,
        .wanted = {spec->train_rows, spec->test_rows},
        .pictures = spec->pictures,
        .watch = watch ? *watch : (struct data_watch){0},
    };
}

/* How many of the data's training rows a run trains on in an epoch. */
static inline long spec_train_rows(const struct spec *spec, long rows)
{
    rows = spec->train_rows ? spec->train_rows : rows;
    return rows - validation_count(rows, spec->validation);
}
