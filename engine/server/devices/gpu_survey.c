/* SPDX-License-Identifier: MIT */
#include "engine/server/devices/gpu_survey.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"

/* Seconds that the end of the engine waits for a driver that does not answer. */
#define STOP_PATIENCE 1

struct gpu_survey {
    const struct backend *backend;
    struct engine_log *log;
    uint64_t version;
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool asking;    /* a thread is at it */
    bool abandoned; /* only that thread is left: it releases all this */
    struct gpu_findings findings;
};

static void release(struct gpu_survey *survey)
{
    pthread_cond_destroy(&survey->told);
    pthread_mutex_destroy(&survey->lock);
    free(survey);
}

bool gpu_survey_start(struct gpu_survey **out, const struct backend *backend, const char *why,
                      struct engine_log *log, struct error *err)
{
    struct gpu_survey *survey = calloc(1, sizeof *survey);
    if (!survey)
        return error_memory(err, "survey of GPUs");
    survey->backend = backend;
    survey->log = log;
    survey->findings.answered = !backend;
    snprintf(survey->findings.why, sizeof survey->findings.why, "%s",
             backend ? "the NVIDIA driver has not answered yet" : why);
    pthread_mutex_init(&survey->lock, NULL);
    deadline_cond_init(&survey->told);
    if (!backend)
        engine_log(log, MESSAGE_INFO, 0, "no GPUs: %s", why);
    *out = survey;
    return true;
}

static void ask_backend(const struct backend *backend, struct gpu_findings *findings)
{
    struct error err = ERROR_INIT;
    *findings = (struct gpu_findings){.answered = true};
    if (!backend->enumerate(findings->info, SPEC_MAX_DEVICES, &findings->count, findings->why,
                            sizeof findings->why, &err)) {
        findings->count = 0;
        snprintf(findings->why, sizeof findings->why, "%s", err.text);
    }
}

static void log_findings(struct engine_log *log, const struct gpu_findings *findings)
{
    char name[DEVICE_NAME];
    if (findings->count == 0)
        engine_log(log, MESSAGE_INFO, 0, "no GPUs: %s", findings->why);
    for (int i = 0; i < findings->count; i++) {
        const struct device_info *info = &findings->info[i];
        engine_log(log, MESSAGE_INFO, 0, "%s: %s%s%s", device_id_text(info->id, name), info->name,
                   info->available ? "" : ", not used: ", info->reason);
    }
}

static bool same_findings(const struct gpu_findings *a, const struct gpu_findings *b)
{
    bool same = a->answered == b->answered && a->count == b->count && !strcmp(a->why, b->why);
    for (int i = 0; same && i < a->count; i++)
        same = !strcmp(a->info[i].uuid, b->info[i].uuid) &&
               !strcmp(a->info[i].reason, b->info[i].reason);
    return same;
}

/* With the lock held. */
static void publish(struct gpu_survey *survey, const struct gpu_findings *findings)
{
    if (!same_findings(&survey->findings, findings)) {
        survey->findings = *findings;
        survey->version++;
        log_findings(survey->log, findings);
    }
}

static void *ask(void *context)
{
    struct gpu_survey *survey = context;
    struct gpu_findings findings;
    ask_backend(survey->backend, &findings);
    pthread_mutex_lock(&survey->lock);
    bool abandoned = survey->abandoned;
    if (!abandoned)
        publish(survey, &findings);
    survey->asking = false;
    pthread_cond_broadcast(&survey->told);
    pthread_mutex_unlock(&survey->lock);
    if (abandoned)
        release(survey);
    return NULL;
}

/* With the lock held. A thread that cannot be started is tried again at the next reading. */
static void begin_asking(struct gpu_survey *survey)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (survey->asking || !survey->backend)
        return;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    survey->asking = pthread_create(&thread, &attributes, ask, survey) == 0;
    pthread_attr_destroy(&attributes);
}

/* With the lock held: wait for the thread that is asking. */
static bool wait_for_answer(struct gpu_survey *survey, double seconds)
{
    struct timespec until = deadline_after(seconds);
    while (survey->asking && pthread_cond_timedwait(&survey->told, &survey->lock, &until) == 0)
        ;
    return !survey->asking;
}

bool gpu_survey_stop(struct gpu_survey *survey)
{
    if (!survey)
        return true;
    pthread_mutex_lock(&survey->lock);
    bool ended = wait_for_answer(survey, STOP_PATIENCE);
    survey->abandoned = !ended;
    pthread_mutex_unlock(&survey->lock);
    if (ended)
        release(survey);
    return ended;
}

void gpu_survey_read(struct gpu_survey *survey, struct gpu_findings *out)
{
    pthread_mutex_lock(&survey->lock);
    if (!survey->findings.answered)
        begin_asking(survey);
    *out = survey->findings;
    pthread_mutex_unlock(&survey->lock);
}

uint64_t gpu_survey_version(struct gpu_survey *survey)
{
    pthread_mutex_lock(&survey->lock);
    uint64_t version = survey->version;
    pthread_mutex_unlock(&survey->lock);
    return version;
}

void gpu_survey_ask(struct gpu_survey *survey)
{
    pthread_mutex_lock(&survey->lock);
    begin_asking(survey);
    pthread_mutex_unlock(&survey->lock);
}

bool gpu_survey_wait(struct gpu_survey *survey, double seconds)
{
    pthread_mutex_lock(&survey->lock);
    bool answered = wait_for_answer(survey, seconds) && survey->findings.answered;
    pthread_mutex_unlock(&survey->lock);
    return answered;
}
