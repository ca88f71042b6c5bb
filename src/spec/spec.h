/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/augment.h"
#include "engine/data/pictures/settings.h"
#include "spec/device_list.h"
#include "spec/schedule.h"

/*
 * Everything that defines a run. The viewer fills one from options, configuration or the form,
 * sends it as JSON, and the engine validates and resolves it. Linked into both programs; knows
 * nothing of devices beyond their names.
 */

#define SPEC_MAX_EPOCHS 1000000
#define SPEC_MAX_LR     1e6
#define SPEC_MAX_FIELDS 64

/* Where the value of a field comes from; a later one wins. */
enum spec_origin { ORIGIN_DEFAULT, ORIGIN_OPTIMIZER, ORIGIN_RECIPE, ORIGIN_GIVEN };

/* What the devices divide: the rows of a mini-batch, the network, each of its layers, or the rows
 * for convolutions and each linear layer. */
enum strategy { STRATEGY_DATA, STRATEGY_PIPELINE, STRATEGY_TENSOR, STRATEGY_MIXED };
enum { STRATEGIES = STRATEGY_MIXED + 1 };

/* Has each device rows of its own? */
static inline bool strategy_divides_rows(enum strategy strategy)
{
    return strategy == STRATEGY_DATA || strategy == STRATEGY_MIXED;
}

enum split_rule { SPLIT_CHUNK, SPLIT_EVEN, SPLIT_BALANCED, SPLIT_WEIGHTED, SPLIT_AUTO };
enum sync_method { SYNC_ALLREDUCE, SYNC_REDUCE_BROADCAST, SYNC_CENTRAL };
enum number_type { TYPE_DEFAULT, TYPE_F32, TYPE_TF32, TYPE_BF16 };

/* Bytes of a number of a value. */
static inline size_t number_type_size(enum number_type type)
{
    return type == TYPE_BF16 ? sizeof(uint16_t) : sizeof(float);
}

/* Names are those of PyTorch's torch.nn.init; PYTORCH: what its layers begin with. */
enum init_rule {
    INIT_NORMAL,
    INIT_UNIFORM,
    INIT_XAVIER_UNIFORM,
    INIT_XAVIER_NORMAL,
    INIT_KAIMING_UNIFORM,
    INIT_KAIMING_NORMAL,
    INIT_PYTORCH,
    INIT_FILE
};
enum recipe_use { RECIPE_AUTO, RECIPE_NONE };
enum optimizer_kind {
    OPTIMIZER_SGD,
    OPTIMIZER_NESTEROV,
    OPTIMIZER_ADAM,
    OPTIMIZER_ADAMW,
    OPTIMIZER_RMSPROP
};
/* Parameters that weight decay leaves alone; NORM_BIAS: of one dimension, those of BatchNorm and
 * GroupNorm, and biases. */
enum decay_exception { NO_DECAY_NONE, NO_DECAY_NORM_BIAS };
enum row_order { ORDER_SHUFFLE, ORDER_SEQUENTIAL };

struct spec {
    char *model;    /* name or file; NULL: resnet18 with a GPU, else smallnet */
    char *data;     /* name, folder or random:RxC; NULL: fashion-mnist if present, else glyphs */
    char *data_dir; /* where named data lie; NULL: $DPARTUI_DATA_DIR, else the data home */
    struct picture_settings pictures; /* how a folder of pictures is read */
    struct device_list devices;
    char *hosts;       /* "h1,h2": train on these (spec/hosts.h); NULL: on this one */
    char *launcher;    /* how their processes are started: "mpirun", "srun" or a command with
                        * places for hosts; NULL: mpirun */
    double host_limit; /* seconds of silence after which a host is given up */
    long restarts;     /* times that a run which has lost a host resumes by itself */
    int cpu_threads;   /* per CPU device; 0: cores / CPU devices, at least 1 */
    int thread_count;  /* 0: all have cpu_threads; else one number for each CPU device: */
    int threads[SPEC_MAX_DEVICES];
    long batch; /* rows of the whole mini-batch, over all devices */
    double lr;  /* of the steps with the highest rate */
    struct lr_schedule schedule;
    enum optimizer_kind optimizer;
    double momentum, weight_decay;
    double beta1, beta2, eps; /* of Adam; of RMSprop beta2, its alpha, and eps */
    enum decay_exception no_decay;
    double clip_norm; /* what the norm of all gradients is kept to; 0: they stay */
    double ema;       /* decay of the weights' average that is evaluated; 0: the weights are */
    long epochs;
    uint64_t seed;
    enum strategy strategy;
    long micro_batches; /* of a pipeline's step; 0: chosen by the program */
    long replicas;      /* pipelines that divide the rows: devices / replicas have one each */
    char *stages;       /* the last layer or unit of each stage but the last, separated by commas;
                         * NULL: chosen by the program */
    long memory_limit;  /* bytes that a device may use; 0: no limit */
    enum split_rule split;
    int weight_count; /* of SPLIT_WEIGHTED; must equal the number of devices */
    double weights[SPEC_MAX_DEVICES];
    enum sync_method sync;
    bool sync_bn;
    enum number_type dtype;
    enum init_rule init;
    double init_scale;      /* INIT_NORMAL: standard deviation; INIT_UNIFORM: bound */
    char *init_file;        /* INIT_FILE: a .safetensors file */
    enum recipe_use recipe; /* of the model file, for what nobody gave */
    enum row_order order;
    enum augment_flags augment;            /* of training pictures */
    double label_smoothing;                /* PyTorch's, in training */
    bool deterministic;                    /* deterministic, also where that is slower */
    long train_rows, test_rows, max_steps; /* 0: all */
    double validation;                     /* share of the training rows; 0: none of them */
    long patience;                         /* epochs without a better accuracy; 0: any number */
    double stop_at_acc;                    /* ends the run; 0: none does */
    long noise_every;                      /* steps between measures by one device; 0: none */
    long checkpoint_epochs;                /* epochs between checkpoints; 0: none */
    double checkpoint_minutes;             /* or minutes between them; 0: not by time */
    char *save, *save_best;                /* absolute paths, or NULL */
    char *log, *tensorboard;               /* likewise */
    char *notify; /* by what its end is told: "bell" in workbenches, or a command; NULL: by none */
    bool profile; /* tell where the steps' time went */
    unsigned char origin[SPEC_MAX_FIELDS]; /* of each of spec_fields, an enum spec_origin */
    bool resolved; /* the engine has filled in what nobody gave: all values are final */
};

/* Stages of each pipeline, for devices that are resolved. */
static inline int spec_stages(const struct spec *spec)
{
    return spec->devices.count / (int)spec->replicas;
}

/* The defaults of dpartui.1. Release with spec_free. */
void spec_init(struct spec *spec);
void spec_free(struct spec *spec);
bool spec_copy(struct spec *to, const struct spec *from, struct error *err);

/* The data sets that have their own name: X(name, whether it is read from files, rather than
 * made by the program). */
#define DATA_SETS(X) X("fashion-mnist", true) X("mnist", true) X("cifar10", true) X("glyphs", false)

struct data_name {
    const char *name;
    bool fetched;
};
extern const struct data_name data_names[]; /* ends with a NULL name */

/* Bounds and combinations that need no knowledge of the machine (weights against devices, ...). */
bool spec_validate(const struct spec *spec, struct error *err);

/* Of that, what is given for each device against their list; also for one that came later. */
bool spec_validate_listed(const struct spec *spec, struct error *err);
