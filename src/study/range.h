/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "client/client.h"
#include "experiment/range.h"

/* The run of a learning-rate range test in the engine, and what it says. */
struct range_run {
    double from, to; /* learning rates */
    long steps;      /* that it has at most */
    long run;        /* its number */
    bool interrupted;
    char failure[200]; /* of the run; "": none */
    struct range range;
};

/*
 * Submit the run, which is a given spec with a learning rate that rises, and take its losses until
 * it ends or diverges, which stops it. Ctrl-C once stops it after its step. `params` is stolen.
 * `live`: a line of progress on standard output.
 */
bool range_train(struct range_run *test, struct client *client, json_t *params, bool live,
                 struct error *err);
void range_run_free(struct range_run *test);

/* A chart of the loss, and the rate to try. */
bool range_print(const struct range_run *test, struct error *err);
/* NULL: memory ran out. */
json_t *range_json(const struct range_run *test);
void range_print_csv(const struct range_run *test);
