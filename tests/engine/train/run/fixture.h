/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>

#include "tests/fakes/fake_backend.h"
#include "tests/recorder.h"

/* What the tests of runs on the devices of fake_backend.c share. */

#define LINEAR "model=linear data=random:100x5 batch=30 epochs=2 seed=3 "

/* Of the running test; released after it. */
extern struct recorder rec;

/* A run that must come to its end. */
void run_ok(const char *settings);

/* A run that must be stopped. */
void run_stopped(void);
/* Likewise one that is to save its weights in the file that this returns: on_event stops it. */
const char *run_stopped_saving(const char *settings,
                               void (*on_event)(struct recorder *recorder, const char *kind,
                                                json_t *event));

/* A case whose tests find the devices as new and must leave them so. */
TCase *add_case(Suite *suite, const char *name);
