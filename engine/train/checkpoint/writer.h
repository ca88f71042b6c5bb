/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/checkpoint/checkpoint.h"

/*
 * Writes checkpoints on a separate thread, so that training does not wait for the disk. There is
 * one buffer: while a checkpoint is being written, the next one has to wait or be left out.
 */
struct checkpoint_writer;

struct checkpoint_writer_options {
    const char *folder;         /* copied */
    struct state_arrays arrays; /* the optimizer's state */
    long previous; /* steps of the checkpoint that the run was resumed from, -1: none */
    /* As in struct run_keep. */
    bool (*sync)(void *context, struct error *err);
    void *sync_context;
};

/* `net` outlives the writer. */
bool checkpoint_writer_start(const struct net *net, const struct checkpoint_writer_options *options,
                             struct checkpoint_writer **out, struct error *err);

/*
 * The buffer, to be filled with what has to be written. NULL: the one before is still being
 * written; with `wait` that is waited for. Then call checkpoint_writer_give.
 */
struct checkpoint *checkpoint_writer_take(struct checkpoint_writer *writer, bool wait);
/* Begin to write what is in the buffer. best_steps: of the best checkpoint, -1: none. */
void checkpoint_writer_give(struct checkpoint_writer *writer, long best_steps);

/* Did the last writing fail? Then *err, once. */
bool checkpoint_writer_failed(struct checkpoint_writer *writer, struct error *err);
/* Was the last one written though what came before it is not kept yet? Then *err, once. */
bool checkpoint_writer_unsynced(struct checkpoint_writer *writer, struct error *err);

/* Wait for the writing and end the thread. What checkpoint_writer_take gave stays; NULL: nothing.
 */
void checkpoint_writer_stop(struct checkpoint_writer *writer);
/* Release everything, after checkpoint_writer_stop and when nobody can write into the buffer any
 * more. */
void checkpoint_writer_free(struct checkpoint_writer *writer);
