/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/train/sync/barrier.h"

/*
 * Where the stages of a pipeline hand over: between a stage and the next one a ring of slots, each
 * with the values of a micro-batch and their gradients. The stage before writes the values, the
 * stage after reads them and answers: in training with the gradients, in an evaluation with nothing
 * but that it has read them. A slot is free once it has been answered.
 */
struct handover;

struct handover_options {
    int stages;
    const char *const *names; /* of the stages' devices, for messages; borrowed */
    int party;                /* of the barrier: the first stage's */
    double limit_s;           /* a wait that takes longer fails */
    double spin_s;            /* that a stage looks before it sleeps; 0 where devices share cores */
    struct barrier *barrier;  /* of the run: once it is aborted all waits end; borrowed */
};

/* What one stage has done, since the beginning; its own. */
struct handover_counts {
    long values, answers; /* taken of the stage before, taken of the stage after */
};

bool handover_create(const struct handover_options *options, struct handover **out,
                     struct error *err);
void handover_destroy(struct handover *handover);

/* Have `slots` slots for what `stage` gives to the next one, for values of `bytes` and as many of
 * gradients, in borrowed memory of handover_size, or, where that is NULL, in the host's own, which
 * is kept where it is large enough. By the stage's own thread, before anybody hands over. */
bool handover_open(struct handover *handover, int stage, int slots, size_t bytes, void *memory,
                   struct error *err);
size_t handover_size(int slots, size_t bytes);
/* Bytes of the slots. */
size_t handover_bytes(const struct handover *handover, int stage);
/* A slot of the micro-batch of this number. NULL: no stage follows. */
void *handover_values(const struct handover *handover, int stage, long micro_batch);
void *handover_gradients(const struct handover *handover, int stage, long micro_batch);

/* `stage` has written the next values for the stage after it; has answered the stage before. */
void handover_give(struct handover *handover, int stage);
void handover_answer(struct handover *handover, int stage);

/*
 * Wait for the next values from the stage before; *ended instead where it will give none, which is
 * NULL where that cannot be. Wait for the next answer of the stage after. The first and the last
 * stage wait for nobody. Fails when the run is aborted or the time is up, which aborts it.
 */
bool handover_take(struct handover *handover, int stage, struct handover_counts *counts,
                   bool *ended, struct error *err);
bool handover_take_answer(struct handover *handover, int stage, struct handover_counts *counts,
                          struct error *err);

/* Is this stage waiting for another at this moment? Any thread. */
bool handover_waiting(const struct handover *handover, int stage);

/* The first stage has given its last values: whoever has taken all of them is told that they have
 * ended. */
void handover_end(struct handover *handover);
