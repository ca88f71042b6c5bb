/* SPDX-License-Identifier: MIT */
#include "engine/nvml/nvml.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "engine/nvml/library.h"
#include "engine/nvml/scan.h"

static const struct nvml_pace usual_pace = {.read = 2, .look = 30, .patience = 5, .wanted = 15};

/* Seconds that the end of the engine waits for a driver that does not answer. */
#define STOP_PATIENCE 1

static const char no_answer[] = "the NVIDIA driver does not answer";
static const char not_read[] = "not read yet";

struct nvml {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, told;
    bool leaving, ended;
    bool abandoned;       /* nobody waits for the thread: it releases all this */
    bool looked;          /* the list is what the driver reported, or a reason */
    bool stale;           /* ... and it has been dropped since the driver does not answer */
    double busy_since;    /* when the thread went to ask the driver; 0: it does not */
    double wanted_at;     /* when somebody last read */
    bool hurry;           /* the next round shall not wait for its time */
    uint64_t begun, done; /* rounds: how many have begun, and which of them ended last */
    struct gpu_list list;
    /* of the thread alone: */
    char *library, *visible;
    bool processes;
    struct nvml_pace pace;
    struct nvml_api api;
    struct nvml_scan scan;
    double look_at; /* when to look for GPUs again */
    bool restart;   /* the driver must be opened again */
};

struct nvml_options nvml_environment(void)
{
    const char *library = getenv("DPARTUI_NVML");
    if (!library || !*library)
        library = NVML_LIBRARY;
    return (struct nvml_options){.library = strcmp(library, "none") == 0 ? NULL : library,
                                 .visible = getenv("CUDA_VISIBLE_DEVICES")};
}

static void release(struct nvml *nvml)
{
    free(nvml->library);
    free(nvml->visible);
    pthread_cond_destroy(&nvml->wake);
    pthread_cond_destroy(&nvml->told);
    pthread_mutex_destroy(&nvml->lock);
    free(nvml);
}

/* With the lock held: nobody knows the figures of the GPUs, for this reason. */
static void forget(struct gpu_list *list, const char *reason, bool working)
{
    for (int i = 0; i < list->count; i++) {
        struct gpu_figures *gpu = &list->gpu[i];
        gpu_figures_drop(gpu, reason);
        gpu->working &= working;
        if (!working)
            snprintf(gpu->broken.text, sizeof gpu->broken.text, "%s", reason);
    }
    if (!list->count && !working)
        snprintf(list->none.text, sizeof list->none.text, "%s", reason);
    list->version++;
}

/* With the lock held: what is shown shall not be taken for the present while the driver hangs. */
static void expire(struct nvml *nvml)
{
    if (nvml->stale || nvml->busy_since <= 0 ||
        clock_seconds() - nvml->busy_since < nvml->pace.patience)
        return;
    forget(&nvml->list, no_answer, false);
    nvml->stale = nvml->looked = true;
    pthread_cond_broadcast(&nvml->told);
}

static void close_driver(struct nvml *nvml)
{
    nvml_scan_end(&nvml->api, &nvml->scan);
    nvml_library_close(&nvml->api);
}

/* One round of questions to the driver, without the lock. True: what can be seen changed. */
static bool ask(struct nvml *nvml)
{
    double now = clock_seconds();
    struct sensor_reason *none = &nvml->scan.none, before = *none;
    bool changed = false, restart = false;
    if (nvml->restart)
        close_driver(nvml);
    nvml->restart = false;
    if (now >= nvml->look_at) {
        if (nvml->api.library ||
            nvml_library_open(&nvml->api, nvml->library, none->text, sizeof none->text))
            changed = nvml_scan_look(&nvml->api, nvml->visible, &nvml->scan);
        nvml->look_at = now + nvml->pace.look;
    }
    for (int i = 0; i < nvml->scan.count; i++)
        changed |= nvml_gpu_read(&nvml->api, &nvml->scan.gpu[i], now, nvml->processes, &restart);
    if (restart) {
        nvml->restart = true;
        nvml->look_at = 0;
    }
    return changed || strcmp(before.text, none->text) != 0;
}

/* With the lock held. */
static void publish(struct nvml *nvml, bool changed)
{
    if (changed || nvml->stale || !nvml->looked) {
        nvml->list.count = nvml->scan.count;
        for (int i = 0; i < nvml->scan.count; i++)
            nvml->list.gpu[i] = nvml->scan.gpu[i].figures;
        nvml->list.none = nvml->scan.none;
        nvml->list.version++;
    }
    nvml->stale = false;
    nvml->looked = true;
    pthread_cond_broadcast(&nvml->told);
}

/*
 * With the lock held: nobody looks, so release the driver: idle GPUs may sleep, and be reset, and
 * the driver may be replaced.
 */
static void release_driver(struct nvml *nvml)
{
    forget(&nvml->list, not_read, true);
    nvml->busy_since = clock_seconds();
    pthread_mutex_unlock(&nvml->lock);
    close_driver(nvml);
    pthread_mutex_lock(&nvml->lock);
    nvml->busy_since = nvml->look_at = 0;
}

/* With the lock held: until the next round is due and somebody wants it. */
static void rest(struct nvml *nvml)
{
    struct timespec until = deadline_after(nvml->api.library ? nvml->pace.read : nvml->pace.look);
    while (!nvml->leaving && !nvml->hurry &&
           pthread_cond_timedwait(&nvml->wake, &nvml->lock, &until) == 0)
        ;
    if (clock_seconds() - nvml->wanted_at < nvml->pace.wanted)
        return;
    release_driver(nvml);
    while (!nvml->leaving && clock_seconds() - nvml->wanted_at >= nvml->pace.wanted)
        pthread_cond_wait(&nvml->wake, &nvml->lock);
}

static void *ask_forever(void *context)
{
    struct nvml *nvml = context;
    pthread_mutex_lock(&nvml->lock);
    while (!nvml->leaving) {
        nvml->busy_since = clock_seconds();
        nvml->hurry = false;
        nvml->begun++;
        pthread_mutex_unlock(&nvml->lock);
        bool changed = ask(nvml);
        pthread_mutex_lock(&nvml->lock);
        nvml->busy_since = 0;
        nvml->done = nvml->begun;
        publish(nvml, changed);
        if (!nvml->leaving)
            rest(nvml);
    }
    pthread_mutex_unlock(&nvml->lock);
    close_driver(nvml);
    pthread_mutex_lock(&nvml->lock);
    nvml->ended = true;
    bool abandoned = nvml->abandoned;
    pthread_cond_broadcast(&nvml->told);
    pthread_mutex_unlock(&nvml->lock);
    if (abandoned)
        release(nvml);
    return NULL;
}

static bool begin(struct nvml *nvml, const struct nvml_options *options, struct error *err)
{
    if (!options->library) {
        nvml->looked = nvml->ended = true;
        return true;
    }
    nvml->library = strdup(options->library);
    nvml->visible = options->visible ? strdup(options->visible) : NULL;
    if (!nvml->library || (options->visible && !nvml->visible))
        return error_memory(err, "telemetry of GPUs");
    errno = pthread_create(&nvml->thread, NULL, ask_forever, nvml);
    return errno == 0 || error_errno(err, "cannot start the telemetry thread of GPUs");
}

bool nvml_start(struct nvml **out, const struct nvml_options *options, struct error *err)
{
    struct nvml *nvml = calloc(1, sizeof *nvml);
    if (!nvml)
        return error_memory(err, "telemetry of GPUs");
    nvml->pace = options->pace ? *options->pace : usual_pace;
    nvml->processes = !options->no_processes;
    nvml->wanted_at = clock_seconds();
    deadline_cond_init(&nvml->wake);
    deadline_cond_init(&nvml->told);
    pthread_mutex_init(&nvml->lock, NULL);
    if (!begin(nvml, options, err)) {
        release(nvml);
        return false;
    }
    *out = nvml;
    return true;
}

bool nvml_stop(struct nvml *nvml)
{
    if (!nvml)
        return true;
    if (!nvml->library) {
        release(nvml);
        return true;
    }
    pthread_t thread = nvml->thread;
    struct timespec until = deadline_after(STOP_PATIENCE);
    pthread_mutex_lock(&nvml->lock);
    nvml->leaving = true;
    pthread_cond_signal(&nvml->wake);
    while (!nvml->ended && pthread_cond_timedwait(&nvml->told, &nvml->lock, &until) == 0)
        ;
    bool ended = nvml->ended;
    nvml->abandoned = !ended;
    pthread_mutex_unlock(&nvml->lock);
    if (!ended) {
        pthread_detach(thread);
        return false;
    }
    pthread_join(thread, NULL);
    release(nvml);
    return true;
}

/* With the lock held: somebody reads. */
static void want(struct nvml *nvml)
{
    double now = clock_seconds();
    bool rested = now - nvml->wanted_at >= nvml->pace.wanted;
    nvml->wanted_at = now;
    if (rested)
        pthread_cond_signal(&nvml->wake);
    expire(nvml);
}

void nvml_read(struct nvml *nvml, struct gpu_list *list)
{
    pthread_mutex_lock(&nvml->lock);
    want(nvml);
    gpu_list_copy(list, &nvml->list);
    pthread_mutex_unlock(&nvml->lock);
}

uint64_t nvml_version(struct nvml *nvml)
{
    pthread_mutex_lock(&nvml->lock);
    want(nvml);
    uint64_t version = nvml->list.version;
    pthread_mutex_unlock(&nvml->lock);
    return version;
}

bool nvml_wait(struct nvml *nvml, double seconds)
{
    struct timespec until = deadline_after(seconds);
    pthread_mutex_lock(&nvml->lock);
    want(nvml);
    while (!nvml->looked && pthread_cond_timedwait(&nvml->told, &nvml->lock, &until) == 0)
        ;
    bool looked = nvml->looked;
    pthread_mutex_unlock(&nvml->lock);
    return looked;
}

bool nvml_renew(struct nvml *nvml, double seconds)
{
    struct timespec until = deadline_after(seconds);
    pthread_mutex_lock(&nvml->lock);
    want(nvml);
    const uint64_t before = nvml->begun;
    nvml->hurry = true;
    pthread_cond_signal(&nvml->wake);
    while (nvml->library && nvml->done <= before &&
           pthread_cond_timedwait(&nvml->told, &nvml->lock, &until) == 0)
        ;
    bool renewed = !nvml->library || nvml->done > before;
    pthread_mutex_unlock(&nvml->lock);
    return renewed;
}
