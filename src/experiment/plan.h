/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/study.h"

/* A setting with its values, "128,256". */
struct study_setting {
    const char *key, *values;
};

/* What a command line asks to be compared. One of counts, lists, settings is used. */
struct study_request {
    const struct spec *spec;
    enum scaling scaling;
    const struct device_list *pool;              /* counts: the first ones of these */
    const char *counts;                          /* "1,2,4" */
    const char *lists;                           /* "cpu:0;cpu:0-1" */
    const char *strategies;                      /* of counts: "data,pipeline"; NULL: the spec's */
    struct study_setting settings[STUDY_VARIED]; /* without keys: none */
    int repeats, cores;
    double target_acc;
    bool only_given; /* of settings: specs of what was given and what varies */
    /* Fill in what the spec, or one with the values of a variant, leaves open; NULL: nothing. */
    bool (*fill)(void *context, struct spec *spec, struct error *err);
    void *context;
};

/* The largest number of a list of counts; 0 when it is not one. */
int study_most(const char *counts);

/*
 * Make the variants and the order of training. With strategies the first device alone is the first
 * variant, whatever the counts: with strategy data, as there is nothing to divide. CPU devices have
 * equally many threads in all of them, those of the variant with most devices, unless the spec sets
 * a number. Release with study_free, also after a failure. ERROR_USAGE when a variant cannot be.
 */
bool study_plan(struct study *study, const struct study_request *request, struct error *err);
