/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/figure.h"
#include "experiment/sweep.h"

/*
 * A study: what `dpartui compare` trains. Some variants of one run that differ in their devices, or
 * in the values of one or two settings, of which there is each combination; each variant as often
 * as there are repeats, the repeats interleaved (A B A B), so that other work on the machine is
 * spread over all of them. Each repeat has its own seed, the same one for every variant. Pure; the
 * caller submits the runs.
 */
enum study_kind { STUDY_DEVICES, STUDY_SETTINGS };

enum study_state {
    STUDY_WAITING, /* not trained yet */
    STUDY_RUNNING, /* given to the engine */
    STUDY_DONE,
    STUDY_FAILED,  /* or refused by the engine; the others are trained all the same */
    STUDY_STOPPED, /* by the user or with its engine; trained again when the study is resumed */
    STUDY_DELETED, /* its run is no longer in the store */
};

enum { STUDY_VARIANTS = 64, STUDY_VARIED = 2, STUDY_REPEATS = 1000, STUDY_REASON = 200 };

struct study_variant {
    char label[100]; /* "2 devices", "cpu:0-1", "batch 256, lr 0.1" */
    int devices;     /* 0: left to the engine */
    int cpus;        /* CPU devices among them */
    int threads;     /* of all of these together; 0: not known */
    long batch;
    double lr;
    json_t *spec; /* owned; without a seed */
};

struct study_entry {
    int variant, repeat; /* from 0 */
    uint64_t seed;
    long run; /* its number; 0: none yet */
    enum study_state state;
    char reason[STUDY_REASON]; /* why it failed */
};

struct study {
    char id[16];
    enum study_kind kind;
    enum scaling scaling;          /* of STUDY_DEVICES */
    bool lists;                    /* devices were listed rather than counted */
    int varied_count;              /* of STUDY_SETTINGS, 1 or 2: */
    char varied[STUDY_VARIED][20]; /* which ones, as options are called; the last varies fastest */
    int repeats, cores;
    double target_acc; /* NAN: none */
    double created;    /* seconds since 1970 */
    int variant_count;
    struct study_variant variants[STUDY_VARIANTS];
    int entry_count;
    struct study_entry *entries; /* in the order of training */
};

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
 * Make the variants and the order of training. CPU devices have equally many threads in all of
 * them, those of the variant with most devices, unless the spec sets a number. Release
 * with study_free, also after a failure. ERROR_USAGE when a variant cannot be.
 */
bool study_plan(struct study *study, const struct study_request *request, struct error *err);
void study_free(struct study *study);

/* The spec of an entry as `submit` takes it, without its note; NULL: out of memory. */
json_t *study_entry_spec(const struct study *study, const struct study_entry *entry);
/* "compare 3: 2 devices, seed 1 (4/12)"; no other run has this note. */
void study_entry_note(const struct study *study, const struct study_entry *entry, char *buffer,
                      size_t size);
/* Are these notes of the same study's runs? */
bool study_is_same(const char *note, const char *other);
/* "compare-3" */
void study_tag(const struct study *study, char *buffer, size_t size);

/* How many entries are in a state. */
int study_count(const struct study *study, enum study_state state);
/* Entries that a resumed study trains. */
int study_unfinished(const struct study *study);
/* "devices, strong scaling (the same batch)", "batch and lr". */
const char *study_title(const struct study *study, struct figure *text);
/* The value that a variant has of varied setting `which`. */
const char *study_value(const struct study *study, const struct study_variant *variant, int which,
                        struct figure *text);
