/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "engine/train/run/run.h"

struct recorder;

/* How a recorder trains: its spec, as run_train_within() does it, with what it reports to `sink`.
 */
typedef bool recorder_train(struct recorder *recorder, const struct run_sink *sink);

/* Runs a spec and keeps all it says. Any failure of the recorder itself fails the test. */
struct recorder {
    recorder_train *train; /* NULL: run_train_within() */
    struct spec spec;
    struct run_limits limits;
    struct run_keep keep; /* no checkpoints unless a test sets it */
    struct run_control control;
    struct error err;
    json_t *events;
    int snapshots, phases[PHASE_ENDED + 1];
    struct run_progress last;
    struct run_device last_devices[SPEC_MAX_DEVICES];
    /* Called with each event and snapshot, on the run's thread; may be NULL. */
    void (*on_event)(struct recorder *recorder, const char *kind, json_t *event);
    void (*on_progress)(struct recorder *recorder, const struct run_progress *progress);
    /* As of struct run_sink, with the recorder as its context; may be NULL. */
    void (*on_predictions)(void *recorder, const struct confusion *confusion,
                           const char *const *class_names);
};

/* Settings as "key=value" words, blank-separated. */
void recorder_init(struct recorder *recorder, const char *settings);
/* May be called twice. */
void recorder_free(struct recorder *recorder);
/* May be called again with the same or changed spec: events and control start again from nothing.
 */
bool recorder_run(struct recorder *recorder);

/* Events of a kind: how many, the i-th (-1: the last). */
int recorder_count(const struct recorder *recorder, const char *kind);
json_t *recorder_event(const struct recorder *recorder, const char *kind, int index);

/* Values that must be there. */
double recorder_number(const json_t *event, const char *key);
const char *recorder_string(const json_t *event, const char *key);
/* Of on_event: the number of a step that is reported; 0: another event. */
long recorder_step(const char *kind, const json_t *event);

/* A path below $TMPDIR, in a static buffer for each of four names. */
const char *temporary_path(const char *name);
