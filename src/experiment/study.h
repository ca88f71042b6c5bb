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
    enum strategy strategy;
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
    bool strategies;               /* each number of devices with several strategies */
    int varied_count;              /* of STUDY_SETTINGS, 1 or 2: */
    char varied[STUDY_VARIED][20]; /* which ones, as options are called; the last varies fastest */
    int repeats, cores;
    long train_rows;   /* of each run; 0: not known, or they differ */
    double target_acc; /* NAN: none */
    double created;    /* seconds since 1970 */
    int variant_count;
    struct study_variant variants[STUDY_VARIANTS];
    int entry_count;
    struct study_entry *entries; /* in the order of training */
};

/* Release what study_plan (plan.h) or study_from_json has made. */
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
/* Is the batch all that varies, on one number of devices? */
bool study_varies_batch(const struct study *study);
/* "1 device", "2 devices" */
const char *study_devices(int devices, struct figure *text);
/* "devices, strong scaling (the same batch)", "batch and lr". */
const char *study_title(const struct study *study, struct figure *text);
/* The value that a variant has of varied setting `which`. */
const char *study_value(const struct study *study, const struct study_variant *variant, int which,
                        struct figure *text);
