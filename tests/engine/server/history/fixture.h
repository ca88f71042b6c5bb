/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/history/writer.h"
#include "store/store.h"

/* A history writer with a store in its own folder, and what tests hand over to it and find
 * there. */

extern char *folder, *path; /* of the store */
extern struct engine_log messages;

void setup(void);
void teardown(void);

struct history *start(struct stored_runs *past);
/* Where nothing is stored yet. */
struct history *start_afresh(void);

void put_run(struct history *history, long run, const char *status);
/* Warnings that begin with their numbers, and an epoch of ten steps. */
void add_events(struct history *history, long run, long first, long count);
void add_epoch(struct history *history, long run, long epoch, double score);

struct store *reader(void);
/* The store has the events 0 to count - 1 of a run, in their order. */
void check_events(long run, long count);
/* The store has just these epochs of a run. */
void check_epochs(long run, const long *wanted, size_t count);
void check_status(long number, const char *status);
long count_events(long run, const char *name);

/* How many messages hold these words; wait for the first. */
long told(const char *words);
void wait_told(const char *words);
