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

/* For a spec that is resolved; where it does not name the stages, the slowest of them has as few
 * FLOPs as can be. ERROR_USAGE: it names none that there are. */
bool pipeline_lay_out(const struct spec *spec, const struct net *net, struct pipeline_layout *out,
                      struct error *err);

/*
 * The best ends of `stages` stages (engine/train/split/stages.h), from the seconds that each
 * operation takes on the device of each stage, forward and backward over the first of the
 * micro-batches. ends[0..stages - 1) has room for all operations.
 */
bool pipeline_ends(const struct net *net, const struct micro_split *split, int stages,
                   const double *const *seconds, int *ends, struct error *err);
