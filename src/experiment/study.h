/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_EXPERIMENT_STUDY_H
#define DPARTUI_EXPERIMENT_STUDY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "experiment/sweep.h"

/*
 * A study: what `dpartui compare` trains. Some variants of one run that differ in a single thing,
 * each as often as there are repeats, the repeats interleaved (A B A B), so that other work on
 * the machine is spread over all of them. Each repeat has its own seed, the same one for every
 * variant. Pure; the caller submits the runs.
 */
enum study_kind { STUDY_DEVICES, STUDY_BATCH, STUDY_LR };

enum study_state {
    STUDY_WAITING, /* not trained yet */
    STUDY_RUNNING, /* given to the engine */
    STUDY_DONE,
    STUDY_FAILED,  /* or refused by the engine; the others are trained all the same */
    STUDY_STOPPED, /* by the user or with its engine; trained again when the study is resumed */
    STUDY_DELETED, /* its run is no longer in the store */
};

enum { STUDY_VARIANTS = 32, STUDY_REPEATS = 1000, STUDY_REASON = 200 };

struct study_variant {
    char label[80]; /* "2 devices", "cpu:0-1", "batch 256" */
    int devices;    /* 0: left to the engine */
    int cpus;       /* CPU devices among them */
    int threads;    /* of all of these together; 0: not known */
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
    enum scaling scaling; /* of STUDY_DEVICES */
    bool lists;           /* devices were listed rather than counted */
    int repeats, cores;
    double target_acc; /* NAN: none */
    double created;    /* seconds since 1970 */
    int variant_count;
    struct study_variant variants[STUDY_VARIANTS];
    int entry_count;
    struct study_entry *entries; /* in the order of training */
};

/* What a command line asks to be compared. One of counts, lists, batches, rates is used. */
struct study_request {
    const struct spec *spec;
    enum scaling scaling;
    const struct device_list *pool; /* counts: the first ones of these */
    const char *counts;             /* "1,2,4" */
    const char *lists;              /* "cpu:0;cpu:0-1" */
    const char *batches, *rates;    /* "128,256"; "0.1,0.2" */
    int repeats, cores;
    double target_acc;
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
/* "devices, strong scaling", "batch sizes". */
const char *study_title(const struct study *study);

#endif
