/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/collective/trial.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/cuda/runtime/wait.h"
#include "engine/train/sync/barrier.h"
#include "tests/simgpu/simgpu.h"

static const size_t ends[] = {16 * 3, 16 * 20, TRIAL_COUNT};
static const char *const names[] = {"cuda:0", "cuda:1", "cuda:2", "cuda:3"};

/* One GPU of the trial, by the thread that uses it. */
struct rank {
    struct group *group;
    struct trial_result *result;
    int index;
    struct device device;
    struct cuda_replica replica;
    pthread_t thread;
};

struct group {
    struct collective_trial *trial;
    const struct collective *collective;
    struct collective_request request;
    struct device_group *device_group;
    struct barrier *barrier, *start;
    atomic_int turn; /* whose it is to queue, with `ahead` */
    struct device *devices[TRIAL_RANKS];
    struct replica *replicas[TRIAL_RANKS];
    struct rank ranks[TRIAL_RANKS];
};

static bool wait_for_all(void *context, int rank, struct error *err)
{
    double waited = 0;
    return barrier_wait(((struct group *)context)->barrier, rank, &waited, err);
}

static bool called_off(void *context)
{
    return barrier_is_aborted(((struct group *)context)->barrier);
}

static bool rank_called_off(void *context)
{
    return called_off(((struct rank *)context)->group);
}

/* Nothing to do, until another thread has done something. */
static void give_way(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* The group is there once nobody waits for anything but its reductions. */
static bool check(void *context, struct error *err)
{
    const struct rank *self = context;
    const struct group *t = self->group;
    /* As a thread that gets no processor time, until others have failed. */
    while (t->device_group && self->index + 1 == t->trial->stopped && !called_off(self->group))
        give_way();
    return !t->device_group || !t->collective->check ||
           t->collective->check(t->device_group, self->index, err);
}

/* Numbers whose sum depends on the order in which they are added. */
float trial_gradient(int rank, int step, size_t at)
{
    return (float)sin((double)at + 10.0 * rank + step) * (float)pow(10, rank % 3);
}

static bool put(float *device, const float *host, cudaStream_t stream)
{
    /* From memory that may change at once: the simulated stream copies late. */
    return cudaMemcpyAsync(device, host, TRIAL_COUNT * sizeof(float), cudaMemcpyHostToDevice,
                           stream) == cudaSuccess;
}

static bool begin(struct rank *self, struct error *err)
{
    struct device *device = &self->device;
    struct replica *replica = &self->replica.base;
    void *memory = NULL;
    if (!cuda_select(device, err) ||
        !cuda_check(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking), "stream",
                    err) ||
        !cuda_check(cudaMalloc(&memory, (size_t)3 * TRIAL_COUNT * sizeof(float)), "memory", err))
        return false;
    self->replica.memory = memory;
    self->replica.copies = (uint16_t *)((float *)memory + 2 * TRIAL_COUNT);
    replica->count = TRIAL_COUNT;
    replica->params = memory;
    replica->grads = replica->params + TRIAL_COUNT;
    for (size_t i = 0; i < TRIAL_COUNT; i++)
        self->result->params[i] = (float)(1000 * self->index) + (float)i;
    return put(replica->params, self->result->params, device->stream) &&
           cuda_wait(device, device->stream, "parameters", err);
}

static bool queue_copy(struct rank *self, float *host, const void *device, size_t bytes,
                       struct error *err)
{
    return cuda_check(
        cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, self->device.stream), "copy",
        err);
}

static bool wait_for_copies(struct rank *self, struct error *err)
{
    return cuda_wait(&self->device, self->device.stream, "copy", err);
}

static bool stay_away(struct rank *self, struct error *err)
{
    while (!called_off(self->group))
        give_way();
    return error_set(err, ERROR_FAILED, "hung");
}

/* Queue a step and the copy of its sums. Buckets are asked for as soon as their gradients are
 * queued, which is long before they are there. */
static bool queue_step(struct rank *self, int step, struct error *err)
{
    struct group *t = self->group;
    struct replica *replica = &self->replica.base;
    for (size_t i = 0; i < TRIAL_COUNT; i++)
        self->result->grads[step][i] = trial_gradient(self->index, step, i);
    for (int bucket = 0; bucket < t->request.buckets; bucket++) {
        size_t first = bucket > 0 ? ends[bucket - 1] : 0;
        if (!cuda_check(cudaMemcpyAsync(replica->grads + first, self->result->grads[step] + first,
                                        (ends[bucket] - first) * sizeof(float),
                                        cudaMemcpyHostToDevice, self->device.stream),
                        "gradients", err) ||
            (t->collective->overlaps && step != 1 &&
             !t->collective->reduce(t->device_group, self->index, bucket, bucket + 1, err)))
            return false;
    }
    if (!t->collective->overlaps && !wait_for_all(t, self->index, err))
        return false;
    /* Once all together, as after a pass that nothing may overlap. */
    if ((!t->collective->overlaps || step == 1) &&
        !t->collective->reduce(t->device_group, self->index, 0, t->request.buckets, err))
        return false;
    return t->collective->finish(t->device_group, self->index, err) &&
           queue_copy(self, self->result->grads[step], replica->grads, TRIAL_COUNT * sizeof(float),
                      err);
}

static bool use_step_by_step(struct rank *self, struct error *err)
{
    struct group *t = self->group;
    for (int i = 0; i < TRIAL_STEPS; i++) {
        if (self->index == t->trial->absent && i == 1)
            return stay_away(self, err);
        if (!queue_step(self, i, err) || !wait_for_copies(self, err) ||
            !wait_for_all(t, self->index, err))
            return false;
    }
    return true;
}

static long waits_so_far(void)
{
    static const char *const calls[] = {"cudaStreamQuery", "cudaStreamSynchronize",
                                        "cudaEventQuery", "cudaEventSynchronize",
                                        "cudaDeviceSynchronize"};
    long count = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        count += simgpu_calls(calls[i]);
    return count;
}

static bool use_ahead(struct rank *self, struct error *err)
{
    struct group *t = self->group;
    while (atomic_load(&t->turn) != self->index)
        give_way();
    long before = waits_so_far();
    for (int i = 0; i < TRIAL_STEPS; i++)
        if (!queue_step(self, i, err))
            return false;
    t->trial->host_waits += waits_so_far() - before;
    atomic_store(&t->turn, self->index + 1);
    return wait_for_all(t, self->index, err) && wait_for_copies(self, err) &&
           wait_for_all(t, self->index, err);
}

static bool use(struct rank *self, struct error *err)
{
    struct group *t = self->group;
    return (t->trial->ahead ? use_ahead : use_step_by_step)(self, err) &&
           t->collective->send_params(t->device_group, self->index, err) &&
           queue_copy(self, self->result->params, self->replica.base.params,
                      TRIAL_COUNT * sizeof(float), err) &&
           wait_for_copies(self, err) && wait_for_all(t, self->index, err);
}

static bool join(struct rank *self, struct error *err)
{
    struct group *t = self->group;
    if (self->index == t->trial->absent && t->trial->absent_at_join)
        return stay_away(self, err);
    /* Nobody is ahead before all have begun. */
    return t->collective->join(t->device_group, self->index, err) &&
           wait_for_all(t, self->index, err);
}

/* As a worker of a run does it: who fails calls the others off and breaks off. */
static void *work(void *context)
{
    struct rank *self = context;
    struct group *t = self->group;
    double waited = 0;
    self->result->ok = begin(self, &self->result->err);
    if (!self->result->ok)
        barrier_abort(t->barrier, self->index, &self->result->err);
    struct error ignored = ERROR_INIT;
    barrier_wait(t->start, self->index, &waited, &ignored); /* all have begun */
    barrier_wait(t->start, self->index, &waited, &ignored); /* the group is made */
    if (self->result->ok && t->device_group) {
        self->result->ok = join(self, &self->result->err) && use(self, &self->result->err);
        if (!self->result->ok) {
            barrier_abort(t->barrier, self->index, &self->result->err);
            t->collective->leave(t->device_group, self->index, true);
        }
        barrier_wait(t->start, self->index, &waited, &ignored); /* all are idle */
        t->collective->leave(t->device_group, self->index, called_off(t));
    }
    /* On a GPU that hangs this would, too. */
    if (self->result->ok || t->trial->limit_s >= 60) {
        cudaFree(self->replica.memory);
        cudaStreamDestroy(self->device.stream);
    }
    return NULL;
}

static void start_rank(struct group *t, int i)
{
    struct rank *rank = &t->ranks[i];
    rank->group = t;
    rank->result = &t->trial->results[i];
    rank->index = i;
    rank->device.ordinal = t->trial->ordinals[i];
    rank->device.watch = (struct device_watch){
        .limit_s = t->trial->limit_s + 1, /* the collective's comes first, on a busy machine, too */
        .called_off = rank_called_off,
        .check = check,
        .context = rank,
    };
    memcpy(rank->device.name, names[i], sizeof "cuda:0");
    t->devices[i] = &rank->device;
    t->replicas[i] = &rank->replica.base;
    ck_assert_int_eq(pthread_create(&rank->thread, NULL, work, rank), 0);
}

static bool make_group(struct group *t, struct error *err)
{
    t->request = (struct collective_request){.count = t->trial->count,
                                             .devices = t->devices,
                                             .replicas = t->replicas,
                                             .names = names,
                                             .method = t->trial->method,
                                             .ends = ends,
                                             .buckets = sizeof ends / sizeof *ends,
                                             .limit_s = t->trial->limit_s,
                                             .barrier = wait_for_all,
                                             .called_off = called_off,
                                             .context = t};
    return t->collective->create(&t->request, &t->device_group, err);
}

bool collective_trial_run(struct collective_trial *trial, struct error *err)
{
    static const char *const parties[] = {"0", "1", "2", "3", "main"};
    int count = trial->count;
    double waited = 0;
    struct error ignored = ERROR_INIT;
    struct group *t = calloc(1, sizeof *t);
    ck_assert_ptr_nonnull(t);
    t->trial = trial;
    t->collective = trial->collective;
    memset(trial->results, 0, sizeof trial->results);
    ck_assert(barrier_create(count, names, 60, false, &t->barrier, err));
    ck_assert(barrier_create(count + 1, parties, 60, false, &t->start, err));
    for (int i = 0; i < count; i++)
        start_rank(t, i);
    ck_assert(barrier_wait(t->start, count, &waited, err));
    bool made = make_group(t, err);
    ck_assert(barrier_wait(t->start, count, &waited, &ignored));
    if (made)
        ck_assert(barrier_wait(t->start, count, &waited, &ignored));
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(pthread_join(t->ranks[i].thread, NULL), 0);
    if (made)
        trial->collective->destroy(t->device_group);
    barrier_destroy(t->barrier);
    barrier_destroy(t->start);
    free(t);
    return made;
}
