/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "engine/train/checkpoint/folder.h"
#include "engine/weights/weights.h"

#define CHECKPOINT_TIMES 512

/*
 * All that a run needs to resume where it was: weights with running statistics, the optimizer's
 * state, and its place. Everything random is a pure function of seed, epoch and row, so there is no
 * other state.
 *
 * On disk, in a folder of the run's own:
 *
 *     step-00000590.safetensors            weights, as --save writes them, and the place as JSON in
 *                                          their metadata ("dpartui")
 *     step-00000590.momentum.safetensors   the optimizer's state, "NAME.momentum_buffer",
 *                                          "NAME.exp_avg" ... for each parameter; only where it has
 *                                          some, and whatever it is. Where the weights are an
 *                                          average, those that are trained: "NAME.unaveraged"
 *
 * Each file appears whole or not at all, the weights last, so that a checkpoint is there when they
 * are. Both carry checksums (engine/weights/checksum.h). The newest two and the best by
 * validation or test accuracy are kept: where the newest is damaged, a run resumes from the one
 * before.
 */
struct checkpoint_place {
    long epochs;      /* whole ones that are trained and evaluated */
    long steps, rows; /* of the whole run */
    double lr;        /* that the schedule takes shares of, as live changes have scaled it */
    /* Of the running epoch; steps 0: none has begun. */
    struct {
        long steps, rows, correct;
        double loss_sum, seconds;
        double compute_s, sync_s, reduce_s; /* see struct epoch_metrics */
    } epoch;
    /* Of whole epochs. */
    double train_s, eval_s;
    double before_train_s, before_eval_s; /* of these, before what counts as speed */
    /* Of those that count, as metrics_times gives them; none: an older version wrote the file. */
    int time_count;
    double times[CHECKPOINT_TIMES];
    double val_loss, val_acc;   /* newest; NAN: none yet, or no validation rows */
    double test_loss, test_acc; /* likewise; with validation rows there is none before the end */
    bool evaluated;             /* they are of these very weights */
    double best_acc;            /* of all evaluations so far, see struct best; NAN: none */
    long best_epoch, since_best;
    double noise_signal, noise_variance; /* see profile/noise.h; 0: not measured */
    long state_from; /* the step after which the optimizer's state began, with other settings */
    /* What the run must agree with to resume bit by bit. */
    long batch, train_rows;
    uint64_t seed;
    /* The operations that the stages of a pipeline end with, all but the last stage's. */
    int cuts, cut[SPEC_MAX_DEVICES];
};

/* What weights are of, so that they can be evaluated by themselves. Strings are borrowed. */
struct checkpoint_origin {
    const char *model, *data;
    const char *recipe;   /* how they were trained, as JSON (spec_recipe_to_json); NULL: not said */
    uint64_t seed;        /* also of made data */
    const char *data_dir; /* NULL: where named data lie by default */
    long test_rows;       /* 0: all */
    /* How a folder of pictures became rows; width 0: the data are no such folder. */
    struct {
        int width, height;
        bool coloured, skip_broken;
        double test_share;
    } pictures;
};

/* What is written: a copy that does not change meanwhile. */
struct checkpoint {
    struct checkpoint_place place;
    struct checkpoint_origin origin; /* only written */
    struct weights weights;
    struct state_arrays arrays; /* the optimizer's state */
    float *state; /* one after the other, each in canonical order, net->value_count numbers */
};

bool checkpoint_create(const struct net *net, const struct state_arrays *arrays,
                       struct checkpoint *out, struct error *err);
void checkpoint_free(struct checkpoint *checkpoint);

/*
 * Write into `folder` (made when missing), then remove what is older there and not `kept`, and what
 * a killed writer left.
 */
bool checkpoint_write(const struct net *net, const char *folder,
                      const struct checkpoint *checkpoint, const struct checkpoint_kept *kept,
                      struct error *err);

/*
 * Read the checkpoint of that many steps into one that checkpoint_create made for the network.
 * Files are checked whole; ERROR_FAILED names what is wrong. What the run had none of the
 * optimizer's state begins there, see the place's state_from.
 */
bool checkpoint_read(const struct net *net, const char *folder, long steps,
                     struct checkpoint *checkpoint, struct error *err);

/*
 * Is a file of weights or momentum whole: its header, the checksums of all its tensors, and its
 * place in a run if it has one? The network need not be known. Files without checksums, from before
 * there were any, are read through. *err names the file and what is damaged.
 */
bool checkpoint_verify(const char *path, struct error *err);
/* Both files of a checkpoint. */
bool checkpoint_verify_steps(const char *folder, long steps, struct error *err);

/*
 * The steps of the newest checkpoint in `folder` that is whole; *damage says what is wrong with the
 * newest of all, ERROR_NONE if it is that one. Reads the files. ERROR_ABSENT: there is none;
 * ERROR_FAILED: there is, but none is whole.
 */
bool checkpoint_find_whole(const char *folder, long *steps, struct error *damage,
                           struct error *err);

/*
 * Weights without a place, as --save and --save-best write them: with their origin in the metadata.
 */
bool checkpoint_save(const struct net *net, const char *path, const struct weights *weights,
                     const struct checkpoint_origin *origin, struct error *err);

/*
 * What a file of weights says about itself: its place and origin as an object of JSON, an empty one
 * for weights that another program wrote. ERROR_FAILED: it is no safetensors file, or damaged.
 */
bool checkpoint_note(const char *path, json_t **note, struct error *err);

/*
 * The steps of the checkpoint in `folder` with the highest validation or test accuracy, of those of
 * no more than `most_steps`, the earlier one of equals; the newest where none has been evaluated.
 * Tensors are not looked at. ERROR_ABSENT: there is none.
 */
bool checkpoint_find_best(const char *folder, long most_steps, long *steps, struct error *err);

/* What the run of a checkpoint had reached; tensors are not looked at. */
bool checkpoint_read_place(const char *folder, long steps, struct checkpoint_place *place,
                           struct error *err);
