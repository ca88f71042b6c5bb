/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/net/net.h"
#include "engine/net/stage.h"
#include "engine/train/pipeline/predict.h"
#include "engine/train/split/micro.h"

/* A pipeline as far as it is known before its devices are opened. Pure. */
struct pipeline_layout {
    int count;                                /* of stages */
    struct net_stage stage[SPEC_MAX_DEVICES]; /* device by device, of each pipeline */
    struct micro_split split;                 /* of its rows in a full mini-batch */
    double share[SPEC_MAX_DEVICES];           /* of all FLOPs of training */
    struct pipeline_prediction prediction;    /* on devices that all need as long for a FLOP */
    double speedup;                           /* over one such device */
};

/* For a spec that is resolved; where it does not name the stages, they are chosen by FLOPs.
 * ERROR_USAGE: it names none that there are. */
bool pipeline_lay_out(const struct spec *spec, const struct net *net, struct pipeline_layout *out,
                      struct error *err);

/* Passes over the first of the micro-batches, and what is done once for a window of them. */
enum pipeline_part { PIPELINE_FORWARD, PIPELINE_BACKWARD, PIPELINE_FINISH, PIPELINE_PARTS };

/*
 * The best ends of `stages` stages, from seconds[stage][part * net->op_count + operation] on the
 * device of each stage: of two choices (engine/train/split/stages.h), without and with what the
 * stages before one take, that whose step is shorter when it is played through.
 * ends[0..stages - 1) has room for all operations.
 */
bool pipeline_ends(const struct net *net, const struct micro_split *split, int stages,
                   const double *const *seconds, int *ends, struct error *err);
