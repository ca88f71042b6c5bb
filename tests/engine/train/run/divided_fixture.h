/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/fakes/posing_backend.h"
#include "tests/recorder.h"

/* What is expected of every run whose devices divide the network, in whatever way. With the models
 * and data of parallel_fixture.h. */

/* 92 rows in batches of 29 end with one of 5. */
#define BATCHES "max-steps=10 batch=29 train-rows=92 "

/* Settings that each have to give what one device does. */
enum { DIVIDED_KINDS = 7 };
extern const char *const divided_kinds[DIVIDED_KINDS];

/* A run of a model of the folder; the caller frees the recorder. */
bool divided_run(struct recorder *rec, const char *model, const char *settings);

/* Runs with `common` and each of `more` besides do what one with `common` alone does on one device,
 * within `tolerance`. */
void expect_one_devices(const char *model, const char *common, const char *const *more,
                        size_t count, double tolerance);

/* Such a run fails, for the request is wrong: *err has `reason`. */
void expect_refusal(const char *settings, const char *reason);
/* Device `device` of three that pose as GPUs fails, or hangs in a pass: it is named, all give back
 * what they hold, and the next run works. */
void expect_failure(const char *settings, int device, enum posing_phase phase);
void expect_hang(const char *settings, int device);
