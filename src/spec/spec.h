/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_SPEC_SPEC_H
#define DPARTUI_SPEC_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/augment.h"

/*
 * Everything that defines a run. The viewer fills one from options, configuration or the form,
 * sends it as JSON, and the engine validates and resolves it. Linked into both programs; knows
 * nothing of devices beyond their names.
 */

#define SPEC_MAX_DEVICES 64
#define SPEC_MAX_EPOCHS  1000000

enum device_kind { DEVICE_CPU, DEVICE_CUDA };

struct device_id {
    enum device_kind kind;
    int index;
};

/* Which devices a run asked for, before the engine knows what the machine has. */
enum device_choice {
    DEVICES_DEFAULT,    /* every GPU, else cpu:0 with all cores */
    DEVICES_ALL_GPUS,   /* `all` */
    DEVICES_FIRST_GPUS, /* --gpus N: count */
    DEVICES_LISTED,     /* id[0..count-1], in order; a device may be named twice */
};

struct device_list {
    enum device_choice choice;
    int count;
    struct device_id id[SPEC_MAX_DEVICES];
};

enum split_rule { SPLIT_CHUNK, SPLIT_EVEN, SPLIT_BALANCED, SPLIT_WEIGHTED, SPLIT_AUTO };
enum sync_method { SYNC_ALLREDUCE, SYNC_REDUCE_BROADCAST, SYNC_CENTRAL };
enum number_type { TYPE_DEFAULT, TYPE_F32, TYPE_TF32, TYPE_BF16 };
enum init_rule { INIT_NORMAL, INIT_PYTORCH, INIT_FILE };
enum row_order { ORDER_SHUFFLE, ORDER_SEQUENTIAL };

struct spec {
    char *model;    /* name or file; NULL: resnet18 with a GPU, else smallnet */
    char *data;     /* name, folder or random:RxC; NULL: fashion-mnist if present, else glyphs */
    char *data_dir; /* where named data lie; NULL: $DPARTUI_DATA_DIR, else the data home */
    struct device_list devices;
    int cpu_threads;  /* per CPU device; 0: cores / CPU devices, at least 1 */
    int thread_count; /* 0: all have cpu_threads; else one number for each CPU device: */
    int threads[SPEC_MAX_DEVICES];
    long batch; /* rows of the whole mini-batch, over all devices */
    double lr, momentum, weight_decay;
    long epochs;
    uint64_t seed;
    enum split_rule split;
    int weight_count; /* of SPLIT_WEIGHTED; must equal the number of devices */
    double weights[SPEC_MAX_DEVICES];
    enum sync_method sync;
    bool sync_bn;
    enum number_type dtype;
    enum init_rule init;
    double init_std; /* INIT_NORMAL */
    char *init_file; /* INIT_FILE: a .safetensors file */
    enum row_order order;
    enum augment_flags augment; /* of training pictures */
    bool deterministic;         /* the same bits in every run, also where that is slower */
    long train_rows, test_rows, max_steps; /* 0: all */
    long checkpoint_epochs;                /* a checkpoint each so many epochs; 0: none */
    double checkpoint_minutes;             /* or each so many minutes; 0: not by time */
    char *save, *log, *tensorboard;        /* absolute paths, or NULL */
    bool profile;                          /* tell where the steps' time went */
};

/* The defaults of dpartui.1. Release with spec_free. */
void spec_init(struct spec *spec);
void spec_free(struct spec *spec);
bool spec_copy(struct spec *to, const struct spec *from, struct error *err);

/*
 * Set one field from its text form, as the command line, the configuration and the workbench's form
 * give it. `key` is the long option's name without dashes ("batch", "lr", "split", "init", ...);
 * "sync-bn" takes yes/no/true/false. ERROR_USAGE names the key and what is accepted.
 */
bool spec_set(struct spec *spec, const char *key, const char *value, struct error *err);

/* The text form of one field, the inverse of spec_set; a new string the caller frees. */
char *spec_get(const struct spec *spec, const char *key, struct error *err);

/*
 * The fixed words that spec_set takes for `key`: the one at `index`, NULL behind the last. A word
 * that ends in ':' is only the beginning of a value.
 */
const char *spec_word(const char *key, size_t index);

/* The data sets that have a name of their own. */
struct data_name {
    const char *name;
    bool fetched; /* from files, rather than made by the program */
};
extern const struct data_name data_names[]; /* ends with a NULL name */

/* Bounds and combinations that need no knowledge of the machine (weights against devices, ...). */
bool spec_validate(const struct spec *spec, struct error *err);

/* Of that, cpu-threads against the devices; also for a list that came later. */
bool spec_validate_threads(const struct spec *spec, struct error *err);

/* JSON with the option names as members ("batch", "weight_decay", "train_rows", ...). */
json_t *spec_to_json(const struct spec *spec);
bool spec_from_json(struct spec *spec, const json_t *object, struct error *err);
/* Set the fields that the object has; after a failure some of them may have been set. */
bool spec_change(struct spec *spec, const json_t *object, struct error *err);

/*
 * "cuda:0,cuda:2-3", "2,3" (GPUs), "cpu:0-7", "all", "" or "default".
 */
bool device_list_parse(const char *text, struct device_list *list, struct error *err);
/* "cpu:0", "cuda:2"; buffer of at least 16 bytes, returned. */
const char *device_id_text(struct device_id id, char *buffer);
/* "cpu:0-7,cuda:0", "all", "default"; a new string the caller frees, NULL: out of memory. */
char *device_list_text(const struct device_list *list);

const char *split_rule_name(enum split_rule rule);     /* "chunk" ... */
const char *sync_method_name(enum sync_method method); /* "allreduce" ... */
const char *number_type_name(enum number_type type);   /* "default", "f32" ... */
const char *augment_name(enum augment_flags augment);  /* "none", "flip" ... */

#endif
