/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_CHECKPOINT_SAVER_H
#define DPARTUI_ENGINE_TRAIN_CHECKPOINT_SAVER_H

#include "engine/train/checkpoint/checkpoint.h"

/*
 * Writes checkpoints on a thread of its own, so that training does not wait for the disk. There is
 * one buffer: while a checkpoint is being written, the next one has to wait or be left out.
 */
struct saver;

struct saver_options {
    const char *folder; /* copied */
    bool momentum;
    long previous; /* steps of the checkpoint that the run was resumed from, -1: none */
    /* As in struct run_keep. */
    bool (*sync)(void *context, struct error *err);
    void *sync_context;
};

/* `net` outlives the saver. */
bool saver_start(const struct net *net, const struct saver_options *options, struct saver **out,
                 struct error *err);

/*
 * The buffer, to be filled with what is to be written. NULL: the one before is still being written;
 * with `wait` that is waited for. Then call saver_give.
 */
struct checkpoint *saver_take(struct saver *saver, bool wait);
/* Begin to write what is in the buffer. best_steps: of the best checkpoint, -1: none. */
void saver_give(struct saver *saver, long best_steps);

/* Did the last writing fail? Then *err, once. */
bool saver_failed(struct saver *saver, struct error *err);
/* Was the last one written though what came before it is not kept yet? Then *err, once. */
bool saver_unsynced(struct saver *saver, struct error *err);

/* Wait for the writing and end the thread. What saver_take gave stays; NULL: nothing. */
void saver_stop(struct saver *saver);
/* Release everything, after saver_stop and when nobody can write into the buffer any more. */
void saver_free(struct saver *saver);

#endif
