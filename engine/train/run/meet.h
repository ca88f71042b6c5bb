/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "engine/train/run/control.h"
#include "engine/train/step/ranks.h"

struct run;

/*
 * A run over hosts is the same run on each of them, with the devices of the others missing. It is
 * kept so by what the hosts tell each other after every task: what their devices have done, and,
 * from the first host, what viewers ask for and what the time says. So all of them take the same
 * decisions. All functions return at once, and true, in a run on one host.
 */
struct meeting {
    struct run_control *asked;  /* what viewers of the first host change */
    struct run_control control; /* of which all hosts know: live.control */
    bool minutes_are_up;        /* on the first host's clock a checkpoint is due */
    size_t bytes;               /* of what a host tells */
    char *own, *all;
    double summed_s; /* of sums over hosts, until the epoch began */
};

/* Before the first task, with the ranks made: memory for it. */
bool meet_begin(struct run *run, struct error *err);
void meet_end(struct run *run);

/* After a task that has been done here. */
bool meet(struct run *run, struct error *err);

/* Has no host failed? At once. */
bool meet_goes_well(const struct run *run);
/* Is this the host that reports, and writes all files? */
bool meet_is_first(const struct run *run);
/* `data` of the first host goes to all. */
bool meet_share(struct run *run, void *data, size_t bytes, struct error *err);
/* Likewise that of the host which has this rank. */
bool meet_share_of(struct run *run, int rank, void *data, size_t bytes, struct error *err);
/* The initial weights go to all, or, resumed, the checkpoint that the first host has read. */
bool meet_share_weights(struct run *run, struct error *err);
/* Have all hosts the same rows? */
bool meet_compare_data(struct run *run, struct error *err);

/*
 * Add to the "epoch" event what went from host to host: the bytes that each sent by an all-reduce
 * as Rabenseifner's and the ring's are, 2 (k - 1) / k of the gradients of k hosts, or of k devices
 * that sum by themselves, and for how long sums were under way, beside other work or not. False:
 * memory ran out.
 */
bool meet_add_network(struct run *run, json_t *event);
