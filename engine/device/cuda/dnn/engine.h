/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/desc.h"

/*
 * Engines are cuDNN's ways to compute a graph, numbered per kind of graph; knobs are what can be
 * set about one. An engine's number and its knobs name a way for good, within a version of cuDNN
 * and a model of GPU.
 */
#define DNN_KNOBS 44

struct dnn_choice {
    int64_t engine;
    int knob_count;
    struct dnn_knob {
        int64_t type, value;
    } knobs[DNN_KNOBS];
};

bool dnn_same_choice(const struct dnn_choice *a, const struct dnn_choice *b);
/* "eng7{k2=9,k24=0}"; buffer returned. */
const char *dnn_choice_text(const struct dnn_choice *choice, char *buffer, size_t size);

/* Notes on an engine, as bits: what cuDNN says about its arithmetic, and that it is compiled when a
 * plan is made, which takes from half a second to half a minute. */
#define DNN_NOTE(NOTE)    (1u << CUDNN_NUMERICAL_NOTE_##NOTE)
#define DNN_NOTE_COMPILED (1u << 31)

struct dnn_candidate {
    struct dnn_choice choice;
    unsigned notes; /* of its engine */
};

/* Exactly one of the two is set. */
struct dnn_target {
    cudnnHandle_t handle;
    cudnnBackendDescriptor_t described; /* device properties */
};

/* Device properties from JSON; NULL: ERROR_FAILED. */
cudnnBackendDescriptor_t dnn_described_device(const struct cudnn_api *api, const char *json,
                                              struct error *err);

/*
 * What cuDNN's heuristics offer for a graph, best first, then what it falls back on, without
 * engines that have a forbidden note; at most `capacity`, no choice twice. *count may be 0. False:
 * ERROR_FAILED, and nothing was offered.
 */
bool dnn_candidates(const struct cudnn_api *api, cudnnBackendDescriptor_t graph,
                    const struct dnn_target *target, unsigned forbidden,
                    struct dnn_candidate *candidates, int capacity, int *count, struct error *err);

/* A graph computed in one way. */
struct dnn_plan {
    const struct cudnn_api *api;
    cudnnBackendDescriptor_t engine, knobs[DNN_KNOBS], config, plan;
    int knob_count;
    size_t workspace;
    unsigned notes; /* of its engine */
    bool runnable;  /* false: compiled, but there is no device to load it */
};

/*
 * False: ERROR_FAILED, this engine does not do it, or has a forbidden note. What was compiled for a
 * described device counts as built although it cannot be loaded: `runnable` is false, and the
 * workspace what the engine says before it is compiled.
 */
bool dnn_plan_build(struct dnn_plan *plan, const struct cudnn_api *api,
                    cudnnBackendDescriptor_t graph, const struct dnn_target *target,
                    const struct dnn_choice *choice, unsigned forbidden, struct error *err);
void dnn_plan_free(struct dnn_plan *plan);

/*
 * A plan as text (JSON), compiled code included, for the same version of cuDNN and the same model
 * of GPU: read back, it costs a millisecond where rebuilding it may cost seconds. The text is
 * the caller's to free; NULL: ERROR_FAILED. A plan read back has no engine, knobs or notes.
 */
char *dnn_plan_text(const struct dnn_plan *plan, size_t *length, struct error *err);
bool dnn_plan_load(struct dnn_plan *plan, const struct cudnn_api *api,
                   const struct dnn_target *target, const char *text, size_t length,
                   struct error *err);
