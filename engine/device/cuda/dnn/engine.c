/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Configurations taken from one list of the heuristics; the lists are at most about forty long. */
#define LIST_LIMIT 64

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

const char *dnn_choice_text(const struct dnn_choice *choice, char *buffer, size_t size)
{
    int length = snprintf(buffer, size, "eng%" PRId64, choice->engine);
    for (int i = 0; i < choice->knob_count && length >= 0 && (size_t)length < size; i++)
        length += snprintf(buffer + length, size - (size_t)length, "%sk%" PRId64 "=%" PRId64 "%s",
                           i ? "," : "{", choice->knobs[i].type, choice->knobs[i].value,
                           i + 1 == choice->knob_count ? "}" : "");
    return buffer;
}

cudnnBackendDescriptor_t dnn_described_device(const struct cudnn_api *api, const char *json,
                                              struct error *err)
{
    const struct dnn_attribute attribute = {CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                            CUDNN_TYPE_CHAR, (int64_t)strlen(json), json};
    return dnn_make(api, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the description of a GPU",
                    &attribute, 1, NULL, err);
}

static bool read_notes(const struct cudnn_api *api, cudnnBackendDescriptor_t engine, unsigned *out,
                       struct error *err)
{
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    cudnnBackendBehaviorNote_t behaviours[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
    int64_t note_count = 0, behaviour_count = 0;
    cudnnStatus_t status = api->BackendGetAttribute(
        engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
        CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &note_count, notes);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->BackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                          CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT,
                                          &behaviour_count, behaviours);
    if (!cudnn_check(api, status, "the notes on an engine of cuDNN", err))
        return false;
    *out = 0;
    for (int64_t i = 0; i < note_count && i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT; i++)
        *out |= 1u << notes[i];
    for (int64_t i = 0; i < behaviour_count && i < CUDNN_BEHAVIOR_NOTE_TYPE_COUNT; i++)
        if (behaviours[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION)
            *out |= DNN_NOTE_COMPILED;
    return true;
}

static bool read_knobs(const struct cudnn_api *api, cudnnBackendDescriptor_t config,
                       struct dnn_choice *choice, struct error *err)
{
    cudnnBackendDescriptor_t knobs[DNN_KNOBS];
    int count = 0;
    if (!dnn_read_parts(api, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                        CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, knobs, DNN_KNOBS, &count, err))
        return false;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    for (int i = 0; i < count && status == CUDNN_STATUS_SUCCESS; i++) {
        cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;
        int64_t got = 0;
        status = api->BackendGetAttribute(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                                          CUDNN_TYPE_KNOB_TYPE, 1, &got, &type);
        if (status == CUDNN_STATUS_SUCCESS)
            status = api->BackendGetAttribute(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
                                              CUDNN_TYPE_INT64, 1, &got, &choice->knobs[i].value);
        choice->knobs[i].type = type;
    }
    choice->knob_count = count;
    dnn_release(api, knobs, count);
    return cudnn_check(api, status, "the knobs of an engine of cuDNN", err);
}

/* What one configuration is; *allowed: it has no forbidden note. */
static bool read_config(const struct cudnn_api *api, cudnnBackendDescriptor_t config,
                        unsigned forbidden, struct dnn_candidate *candidate, bool *allowed,
                        struct error *err)
{
    cudnnBackendDescriptor_t engine;
    struct dnn_choice *choice = &candidate->choice;
    int count = 0;
    memset(candidate, 0, sizeof *candidate);
    if (!dnn_read_parts(api, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR,
                        &engine, 1, &count, err))
        return false;
    if (!count)
        return error_set(err, ERROR_FAILED, "cuDNN offers a way without an engine");
    int64_t got = 0;
    bool ok = cudnn_check(api,
                          api->BackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                                   CUDNN_TYPE_INT64, 1, &got, &choice->engine),
                          "the number of an engine of cuDNN", err) &&
              read_notes(api, engine, &candidate->notes, err);
    dnn_release(api, &engine, 1);
    *allowed = !(candidate->notes & forbidden);
    return ok && (!*allowed || read_knobs(api, config, choice, err));
}

bool dnn_same_choice(const struct dnn_choice *a, const struct dnn_choice *b)
{
    return a->engine == b->engine && a->knob_count == b->knob_count &&
           memcmp(a->knobs, b->knobs, (size_t)a->knob_count * sizeof *a->knobs) == 0;
}

static void keep_new(const struct dnn_candidate *candidate, struct dnn_candidate *candidates,
                     int capacity, int *count)
{
    for (int i = 0; i < *count; i++)
        if (dnn_same_choice(&candidate->choice, &candidates[i].choice))
            return;
    if (*count < capacity)
        candidates[(*count)++] = *candidate;
}

static bool ask_heuristics(const struct cudnn_api *api, cudnnBackendDescriptor_t graph,
                           const struct dnn_target *target, cudnnBackendHeurMode_t mode,
                           cudnnBackendDescriptor_t *configs, int *count, struct error *err)
{
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph},
        {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode},
        {CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &target->described},
    };
    cudnnBackendDescriptor_t heuristics =
        dnn_make(api, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "cuDNN's heuristics", attributes,
                 COUNT(attributes) - (target->described ? 0 : 1), NULL, err);
    if (!heuristics)
        return false;
    bool ok = dnn_read_parts(api, heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                             CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, configs, LIST_LIMIT, count, err);
    dnn_release(api, &heuristics, 1);
    return ok;
}

bool dnn_candidates(const struct cudnn_api *api, cudnnBackendDescriptor_t graph,
                    const struct dnn_target *target, unsigned forbidden,
                    struct dnn_candidate *candidates, int capacity, int *count, struct error *err)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    bool answered = false;
    *count = 0;
    for (size_t m = 0; m < COUNT(modes) && *count < capacity; m++) {
        cudnnBackendDescriptor_t configs[LIST_LIMIT];
        int listed = 0;
        /* A graph that one mode knows nothing about may be known to the other. */
        if (!ask_heuristics(api, graph, target, modes[m], configs, &listed, err))
            continue;
        answered = true;
        for (int i = 0; i < listed; i++) {
            struct dnn_candidate candidate;
            bool allowed = false;
            struct error ignored = ERROR_INIT; /* one that cannot be read is no candidate */
            if (read_config(api, configs[i], forbidden, &candidate, &allowed, &ignored) && allowed)
                keep_new(&candidate, candidates, capacity, count);
        }
        dnn_release(api, configs, listed);
    }
    return answered;
}

static bool build_engine(struct dnn_plan *plan, cudnnBackendDescriptor_t graph,
                         const struct dnn_target *target, const struct dnn_choice *choice,
                         struct error *err)
{
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph},
        {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &choice->engine},
        {CUDNN_ATTR_ENGINE_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &target->described},
    };
    plan->engine = dnn_make(plan->api, CUDNN_BACKEND_ENGINE_DESCRIPTOR, "an engine of cuDNN",
                            attributes, COUNT(attributes) - (target->described ? 0 : 1), NULL, err);
    return plan->engine != NULL;
}

static bool build_config(struct dnn_plan *plan, const struct dnn_choice *choice, struct error *err)
{
    for (int i = 0; i < choice->knob_count; i++) {
        cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)choice->knobs[i].type;
        const struct dnn_attribute knob[] = {
            {CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type},
            {CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &choice->knobs[i].value},
        };
        plan->knobs[i] = dnn_make(plan->api, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                  "a knob of cuDNN's", knob, COUNT(knob), NULL, err);
        if (!plan->knobs[i])
            return false;
        plan->knob_count = i + 1;
    }
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &plan->engine},
        {CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, plan->knob_count,
         plan->knobs},
    };
    plan->config =
        dnn_make(plan->api, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "an engine of cuDNN's with knobs",
                 attributes, COUNT(attributes) - (plan->knob_count ? 0 : 1), NULL, err);
    return plan->config != NULL;
}

static bool read_workspace(struct dnn_plan *plan, cudnnBackendDescriptor_t from,
                           cudnnBackendAttributeName_t name, struct error *err)
{
    int64_t bytes = 0, got = 0;
    if (!cudnn_check(plan->api,
                     plan->api->BackendGetAttribute(from, name, CUDNN_TYPE_INT64, 1, &got, &bytes),
                     "the workspace that cuDNN needs", err))
        return false;
    if (bytes < 0)
        return error_set(err, ERROR_FAILED, "cuDNN asks for a workspace of %" PRId64 " bytes",
                         bytes);
    plan->workspace = (size_t)bytes;
    return true;
}

/* Where a plan is to run. */
static struct dnn_attribute place_of_plan(const struct dnn_target *target)
{
    return target->handle
               ? (struct dnn_attribute){CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
                                        &target->handle}
               : (struct dnn_attribute){CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &target->described};
}

static bool build_plan(struct dnn_plan *plan, const struct dnn_target *target, struct error *err)
{
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &plan->config},
        place_of_plan(target),
    };
    cudnnStatus_t status;
    plan->plan = dnn_make(plan->api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan of cuDNN's",
                          attributes, COUNT(attributes), &status, err);
    plan->runnable = plan->plan && target->handle;
    if (plan->plan)
        return read_workspace(plan, plan->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, err);
    /* The driver is needed only to load what has been compiled already. */
    if (target->handle || !(plan->notes & DNN_NOTE_COMPILED) ||
        status != CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER)
        return false;
    return read_workspace(plan, plan->config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, err);
}

bool dnn_plan_build(struct dnn_plan *plan, const struct cudnn_api *api,
                    cudnnBackendDescriptor_t graph, const struct dnn_target *target,
                    const struct dnn_choice *choice, unsigned forbidden, struct error *err)
{
    *plan = (struct dnn_plan){.api = api};
    bool ok = build_engine(plan, graph, target, choice, err) &&
              read_notes(api, plan->engine, &plan->notes, err);
    if (ok && (plan->notes & forbidden))
        ok = error_set(err, ERROR_FAILED, "engine %" PRId64 " works in a way not allowed here",
                       choice->engine);
    ok = ok && build_config(plan, choice, err) && build_plan(plan, target, err);
    if (!ok)
        dnn_plan_free(plan);
    return ok;
}

void dnn_plan_free(struct dnn_plan *plan)
{
    if (!plan->api)
        return;
    dnn_release(plan->api, &plan->plan, 1);
    dnn_release(plan->api, &plan->config, 1);
    dnn_release(plan->api, plan->knobs, plan->knob_count);
    dnn_release(plan->api, &plan->engine, 1);
    plan->knob_count = 0;
}

char *dnn_plan_text(const struct dnn_plan *plan, size_t *length, struct error *err)
{
    static const char what[] = "cuDNN's plan as text";
    const struct cudnn_api *api = plan->api;
    int64_t size = 0, got = 0;
    if (!plan->plan) {
        error_set(err, ERROR_FAILED, "%s: there is no device to load it", what);
        return NULL;
    }
    if (!cudnn_check(api,
                     api->BackendGetAttribute(plan->plan,
                                              CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                              CUDNN_TYPE_CHAR, 0, &size, NULL),
                     what, err))
        return NULL;
    char *text = size > 0 ? calloc(1, (size_t)size + 1) : NULL;
    if (!text) {
        error_memory(err, what);
        return NULL;
    }
    if (!cudnn_check(api,
                     api->BackendGetAttribute(plan->plan,
                                              CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                              CUDNN_TYPE_CHAR, size, &got, text),
                     what, err)) {
        free(text);
        return NULL;
    }
    *length = strnlen(text, (size_t)size);
    return text;
}

bool dnn_plan_load(struct dnn_plan *plan, const struct cudnn_api *api,
                   const struct dnn_target *target, const char *text, size_t length,
                   struct error *err)
{
    /* The device first: cuDNN 9.19 crashes when it finalizes a text for no device. */
    const struct dnn_attribute attributes[] = {
        place_of_plan(target),
        {CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)length, text},
    };
    *plan = (struct dnn_plan){.api = api};
    plan->plan = dnn_make(api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a stored plan of cuDNN's",
                          attributes, COUNT(attributes), NULL, err);
    plan->runnable = plan->plan && target->handle;
    if (plan->plan &&
        read_workspace(plan, plan->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, err))
        return true;
    dnn_plan_free(plan);
    return false;
}
