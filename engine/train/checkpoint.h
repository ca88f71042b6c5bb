/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_CHECKPOINT_H
#define DPARTUI_ENGINE_TRAIN_CHECKPOINT_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/net/weights.h"

/*
 * All that a run needs to go on where it was: weights with running statistics, momentum, and its
 * place. Everything random is a pure function of seed, epoch and row, so there is no other state.
 *
 * On disk, in a folder of the run's own:
 *
 *     step-00000590.safetensors            weights, as --save writes them, and the place as JSON in
 *                                          their metadata ("dpartui")
 *     step-00000590.momentum.safetensors   the optimizer's, "NAME.momentum_buffer" for each
 *                                          parameter; only with momentum
 *
 * Each file appears whole or not at all, the weights last, so that a checkpoint is there when they
 * are. The newest one and the best by test accuracy are kept.
 */
struct checkpoint_place {
    long epochs;      /* whole ones that are trained and evaluated */
    long steps, rows; /* of the whole run */
    double lr;
    /* Of the running epoch; steps 0: none has begun. */
    struct {
        long steps, rows, correct;
        double loss_sum, seconds;
        double compute_s, sync_s, reduce_s; /* see struct epoch_figures */
    } epoch;
    /* Of whole epochs. */
    double train_s, eval_s;
    double test_loss, test_acc; /* newest; NAN: none yet */
    bool evaluated;             /* they are of these very weights */
    double best_acc;            /* of all evaluations so far, NAN: none */
    /* What the run must agree with to go on bit by bit. */
    long batch, train_rows;
    uint64_t seed;
};

/* What the weights are of, so that a checkpoint can be evaluated by itself. Strings are borrowed.
 */
struct checkpoint_origin {
    const char *model, *data;
    const char *data_dir; /* NULL: where named data lie by default */
    long test_rows;       /* 0: all */
};

/* What is written: a copy that nobody changes meanwhile. */
struct checkpoint {
    struct checkpoint_place place;
    struct checkpoint_origin origin; /* only written */
    struct weights weights;
    float *momentum; /* canonical order, net->value_count; NULL: none */
};

/* $XDG_DATA_HOME/dpartui/checkpoints, in which each run has a folder; the caller frees it. */
char *checkpoint_default_folder(struct error *err);

bool checkpoint_create(const struct net *net, bool momentum, struct checkpoint *out,
                       struct error *err);
void checkpoint_free(struct checkpoint *checkpoint);

/*
 * Write into `folder` (made when missing) and remove what is older there, but for the checkpoint of
 * `best_steps` steps. Also clears away what a killed writer left.
 */
bool checkpoint_write(const struct net *net, const char *folder,
                      const struct checkpoint *checkpoint, long best_steps, struct error *err);

/* The steps of the newest checkpoint in `folder`. ERROR_ABSENT: there is none. */
bool checkpoint_find(const char *folder, long *steps, struct error *err);

/*
 * Read the checkpoint of so many steps into one that checkpoint_create made for the network. Files
 * are checked whole; ERROR_FAILED names what is wrong. The momentum of a run that had none is zero.
 */
bool checkpoint_read(const struct net *net, const char *folder, long steps,
                     struct checkpoint *checkpoint, struct error *err);

/*
 * Before the first run of an engine, in the folder that holds those of all runs: clear away what a
 * killed writer left, as far as that can be done, and raise *run to the highest number that a
 * folder has. No new run may have the number of one whose checkpoints are there.
 */
bool checkpoint_tidy(const char *folder, long *run, struct error *err);

/* Path of its weights; a new string the caller frees, NULL: memory ran out. */
char *checkpoint_path(const char *folder, long steps);

/*
 * What a file of weights says of itself: its place and origin as an object of JSON, an empty one
 * for weights that are no checkpoint. ERROR_FAILED: it is no safetensors file.
 */
bool checkpoint_note(const char *path, json_t **note, struct error *err);

/*
 * The steps of the checkpoint in `folder` with the highest test accuracy, the earlier one of
 * equals; the newest where none has been evaluated. ERROR_ABSENT: there is none.
 */
bool checkpoint_find_best(const char *folder, long *steps, struct error *err);

/* The learning rate that a run would go on with. */
bool checkpoint_lr(const char *folder, long steps, double *lr, struct error *err);

/* Remove all checkpoints and the folder, if nothing else is in it. Missing ones are fine. */
bool checkpoint_remove_all(const char *folder, struct error *err);

#endif
