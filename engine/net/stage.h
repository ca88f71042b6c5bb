/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "engine/net/net.h"

/*
 * Networks cut into stages of neighbouring operations, for pipelines. Pure.
 */

/* As many as cross a cut within a residual unit: its input, and what its layers have made of it. */
#define NET_CUT_TENSORS 2

/* The tensors of operations before a cut that those after it read; first that of the last one. */
struct net_cut {
    int count, tensor[NET_CUT_TENSORS];
};

/* One stage. The first reads the network's input, tensor 0, the last makes the logits. */
struct net_stage {
    int first, end; /* operations: from `first` on, before `end` */
    struct net_cut entry, exit;
};

/*
 * Operations after which a network may be cut: ends[i], ascending, at most net->op_count - 1 of
 * them; returns how many. What the last of them makes, and at most one tensor more, is all that
 * later operations read of earlier ones there. No composite of fuse.h is cut, nor a layer from its
 * norm, activation, dropout or flatten, nor an addition from what it alone reads. Each cut has a
 * name of its own.
 */
int net_cuts(const struct net *net, int *ends);

/* All of it as one stage. */
struct net_stage net_whole(const struct net *net);

/* The count + 1 stages between cuts after ends[0..count). False: the ends do not ascend, or the
 * network cannot be cut after one of them. */
bool net_stages(const struct net *net, const int *ends, int count, struct net_stage *stages);

/* Numbers of one row in all tensors of the cut after an operation of net_cuts. */
size_t net_cut_size(const struct net *net, int end);

#define NET_STAGE_NAME 128 /* bytes; longer names are cut */

/*
 * What users call the end of a stage: the longest name that several operations share (dotted
 * prefix) and none after the stage has, "resnet_block2.1"; else that of the last layer with a name.
 * Returns `buffer`.
 */
const char *net_stage_name(const struct net *net, const struct net_stage *stage,
                           char buffer[NET_STAGE_NAME]);

/*
 * Cuts by name: `list` has `count` names separated by commas, each of the last layer or unit of its
 * stage; the last stage has none. A unit is all operations that share the name as dotted prefix;
 * those without a name after it belong to it. Fills ends[0..count). ERROR_USAGE says which name is
 * unknown, in the wrong order or no place for a cut, and what near it is one.
 */
bool net_stages_named(const struct net *net, const char *list, int count, int *ends,
                      struct error *err);
