/* SPDX-License-Identifier: MIT */
#include "engine/energy/meter.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "engine/energy/counters.h"

/* Counters of packages begin again at 65 kJ at the least, which a package of 2 kW takes this long
 * for. */
#define LOOK_S 30

enum request { REQUEST_NONE, REQUEST_BEGIN, REQUEST_END, REQUEST_LEAVE };

struct energy_meter {
    char *root, *library, *visible;
    struct nvml_options gpus;
    double patience;
    struct device_id ids[SPEC_MAX_DEVICES];
    int id_count;
    struct energy_counters counters; /* the thread's */
    pthread_t thread;
    pthread_cond_t wake, told;
    pthread_mutex_t lock; /* guards the rest */
    enum request request; /* what the thread has yet to do */
    bool opened, usable;
    bool late;      /* who asked for the beginning has given up on it */
    bool abandoned; /* nobody waits for the thread any more */
    double joules;  /* since the beginning; NAN: not known */
};

struct energy_options energy_environment(void)
{
    const char *root = getenv("DPARTUI_ENERGY_ROOT");
    root = root && *root ? root : "/";
    return (struct energy_options){.root = strcmp(root, "none") == 0 ? NULL : root,
                                   .gpus = nvml_environment(),
                                   .open_s = 5,
                                   .patience = 0.5};
}

static void release(struct energy_meter *meter)
{
    free(meter->root);
    free(meter->library);
    free(meter->visible);
    pthread_cond_destroy(&meter->wake);
    pthread_cond_destroy(&meter->told);
    pthread_mutex_destroy(&meter->lock);
    free(meter);
}

/* With the lock held, which is released while counters are read. */
static void read_counters(struct energy_meter *meter)
{
    pthread_mutex_unlock(&meter->lock);
    double joules = energy_counters_read(&meter->counters);
    pthread_mutex_lock(&meter->lock);
    meter->joules += joules;
}

/* With the lock held: what was asked, or the look between. */
static void serve(struct energy_meter *meter)
{
    enum request request = meter->request;
    read_counters(meter);
    if (request == REQUEST_BEGIN) {
        meter->joules = meter->late ? NAN : 0;
        meter->late = false;
    }
    /* Who asks next has given up on this one. */
    if (request != REQUEST_NONE && meter->request == request)
        meter->request = REQUEST_NONE;
    pthread_cond_broadcast(&meter->told);
}

static void *read_forever(void *context)
{
    struct energy_meter *meter = context;
    bool usable = energy_counters_open(&meter->counters, meter->root, &meter->gpus, meter->ids,
                                       meter->id_count);
    pthread_mutex_lock(&meter->lock);
    meter->opened = true;
    meter->usable = usable;
    pthread_cond_broadcast(&meter->told);
    while (meter->request != REQUEST_LEAVE) {
        struct timespec until = deadline_after(LOOK_S);
        while (meter->request == REQUEST_NONE &&
               pthread_cond_timedwait(&meter->wake, &meter->lock, &until) == 0)
            ;
        if (meter->request != REQUEST_LEAVE)
            serve(meter);
    }
    pthread_mutex_unlock(&meter->lock);
    energy_counters_close(&meter->counters);
    pthread_mutex_lock(&meter->lock);
    bool abandoned = meter->abandoned;
    meter->opened = false;
    pthread_cond_broadcast(&meter->told);
    pthread_mutex_unlock(&meter->lock);
    if (abandoned)
        release(meter);
    return NULL;
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* With the lock held: wait until it has been opened, or closed. */
static bool wait_opened(struct energy_meter *meter, bool opened, double seconds)
{
    struct timespec until = deadline_after(seconds);
    while (meter->opened != opened &&
           pthread_cond_timedwait(&meter->told, &meter->lock, &until) == 0)
        ;
    return meter->opened == opened;
}

static struct energy_meter *make(const struct energy_options *options, const struct device_id *ids,
                                 int count)
{
    struct energy_meter *meter = calloc(1, sizeof *meter);
    if (!meter)
        return NULL;
    meter->root = copy(options->root);
    meter->library = copy(options->gpus.library);
    meter->visible = copy(options->gpus.visible);
    meter->gpus = (struct nvml_options){.library = meter->library, .visible = meter->visible};
    meter->patience = options->patience;
    memcpy(meter->ids, ids, (size_t)count * sizeof *ids);
    meter->id_count = count;
    meter->joules = NAN;
    deadline_cond_init(&meter->wake);
    deadline_cond_init(&meter->told);
    pthread_mutex_init(&meter->lock, NULL);
    if ((!options->root || meter->root) && (!options->gpus.library || meter->library) &&
        (!options->gpus.visible || meter->visible) &&
        pthread_create(&meter->thread, NULL, read_forever, meter) == 0)
        return meter;
    release(meter);
    return NULL;
}

struct energy_meter *energy_meter_open(const struct energy_options *options,
                                       const struct device_id *ids, int count, bool *hangs)
{
    bool possible = count <= SPEC_MAX_DEVICES;
    for (int i = 0; possible && i < count; i++)
        possible = ids[i].kind == DEVICE_CUDA ? options->gpus.library : options->root;
    struct energy_meter *meter = possible && count > 0 ? make(options, ids, count) : NULL;
    if (!meter)
        return NULL;
    pthread_mutex_lock(&meter->lock);
    bool usable = wait_opened(meter, true, options->open_s) && meter->usable;
    pthread_mutex_unlock(&meter->lock);
    if (usable)
        return meter;
    *hangs |= !energy_meter_close(meter);
    return NULL;
}

bool energy_meter_close(struct energy_meter *meter)
{
    if (!meter)
        return true;
    pthread_t thread = meter->thread;
    pthread_mutex_lock(&meter->lock);
    meter->request = REQUEST_LEAVE;
    pthread_cond_signal(&meter->wake);
    bool closed = meter->opened && wait_opened(meter, false, meter->patience);
    meter->abandoned = !closed;
    pthread_mutex_unlock(&meter->lock);
    if (closed) {
        pthread_join(thread, NULL);
        release(meter);
    } else {
        pthread_detach(thread);
    }
    return closed;
}

/* Have the thread do something; false: it has not within its time. */
static bool ask(struct energy_meter *meter, enum request request)
{
    struct timespec until = deadline_after(meter->patience);
    int status = meter->request == REQUEST_NONE ? 0 : EBUSY; /* it still hangs */
    if (status == 0) {
        meter->request = request;
        pthread_cond_signal(&meter->wake);
    }
    while (status == 0 && meter->request != REQUEST_NONE)
        status = pthread_cond_timedwait(&meter->told, &meter->lock, &until);
    return status == 0;
}

void energy_meter_begin(struct energy_meter *meter)
{
    if (!meter)
        return;
    pthread_mutex_lock(&meter->lock);
    meter->late = !ask(meter, REQUEST_BEGIN);
    pthread_mutex_unlock(&meter->lock);
}

double energy_meter_end(struct energy_meter *meter)
{
    if (!meter)
        return NAN;
    pthread_mutex_lock(&meter->lock);
    double joules = ask(meter, REQUEST_END) ? meter->joules : NAN;
    meter->joules = NAN;
    pthread_mutex_unlock(&meter->lock);
    return joules;
}
