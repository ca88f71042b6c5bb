/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "ui/state/state.h"

/*
 * Which runs a list shows. A filter is words that must all fit: a plain one occurs in model, data,
 * devices, status, note or tags, whatever the case; "batch=256", "lr<=0.1", "acc>0.9", "devices=2"
 * or "status=done" compare one number or search one text. A comparison without its value yet, as
 * while it is typed, fits every run.
 */
enum { RUN_FILTER_SIZE = 64, RUN_FILTER_TERMS = 16 };

struct run_filter_term {
    const char *word, *value; /* `value` after the comparison, NULL: a plain word */
    int key;                  /* which member is compared */
    char comparison;          /* '=', '<' or '>' */
    bool or_equal;            /* "<=" or ">=" */
};

struct run_filter {
    char text[RUN_FILTER_SIZE]; /* the terms' words point into it */
    struct run_filter_term terms[RUN_FILTER_TERMS];
    int count;
};

/* Take the words of `text` apart; what is beyond the sizes above is left out. */
void run_filter_parse(struct run_filter *filter, const char *text);
bool run_filter_fits(const struct run_filter *filter, const struct state_run *run);
/* Why no run fits, in a line: a value that has to be a number and is none, or a comparison of what
 * has no such name and occurs nowhere as a word. False: all its words make sense. */
bool run_filter_problem(const struct run_filter *filter, const struct state *state, char *buffer,
                        size_t size);
