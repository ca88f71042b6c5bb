/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/collective/link_trial.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cuda/replica.h"
#include "engine/train/sync/rendezvous.h"
#include "tests/simgpu/simgpu.h"

static const size_t ends[] = {16 * 3, 16 * 20, LINK_COUNT};
static const char *const names[] = {"cuda:0", "cuda:1", "cuda:2", "cuda:3"};

/* One GPU of the trial, by the thread that uses it. */
struct member {
    struct group *group;
    struct link_result *result;
    int index;
    struct device device;
    struct cuda_replica replica;
    pthread_t thread;
};

struct group {
    struct link_trial *trial;
    const struct links *links;
    struct link_request request;
    struct link *link;
    struct rendezvous *meeting, *start;
    atomic_int turn; /* whose it is to queue, with `ahead` */
    struct device *devices[LINK_MEMBERS];
    struct replica *replicas[LINK_MEMBERS];
    struct member members[LINK_MEMBERS];
};

static bool meet(void *context, int member, struct error *err)
{
    double waited = 0;
    return rendezvous_wait(((struct group *)context)->meeting, member, &waited, err);
}

static bool called_off(void *context)
{
    return rendezvous_called_off(((struct group *)context)->meeting);
}

static bool member_called_off(void *context)
{
    return called_off(((struct member *)context)->group);
}

/* The link is there once nobody waits for anything but its reductions. */
static bool check(void *context, struct error *err)
{
    const struct member *self = context;
    const struct group *t = self->group;
    /* As a thread that gets no processor time, until others have failed. */
    while (t->link && self->index + 1 == t->trial->stopped && !called_off(self->group))
        sched_yield();
    return !t->link || !t->links->check || t->links->check(t->link, self->index, err);
}

/* Numbers whose sum depends on the order in which they are added. */
float link_gradient(int member, int step, size_t at)
{
    return (float)sin((double)at + 10.0 * member + step) * (float)pow(10, member % 3);
}

static bool put(float *device, const float *host, cudaStream_t stream)
{
    /* From memory that may change at once: the simulated stream copies late. */
    return cudaMemcpyAsync(device, host, LINK_COUNT * sizeof(float), cudaMemcpyHostToDevice,
                           stream) == cudaSuccess;
}

static bool begin(struct member *self, struct error *err)
{
    struct device *device = &self->device;
    struct replica *replica = &self->replica.base;
    void *memory = NULL;
    if (!cuda_select(device, err) ||
        !cuda_check(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking), "stream",
                    err) ||
        !cuda_check(cudaMalloc(&memory, (size_t)3 * LINK_COUNT * sizeof(float)), "memory", err))
        return false;
    self->replica.memory = memory;
    self->replica.copies = (uint16_t *)((float *)memory + 2 * LINK_COUNT);
    replica->count = LINK_COUNT;
    replica->params = memory;
    replica->grads = replica->params + LINK_COUNT;
    for (size_t i = 0; i < LINK_COUNT; i++)
        self->result->params[i] = (float)(1000 * self->index) + (float)i;
    return put(replica->params, self->result->params, device->stream) &&
           cuda_wait(device, device->stream, "parameters", err);
}

static bool queue_copy(struct member *self, float *host, const void *device, size_t bytes,
                       struct error *err)
{
    return cuda_check(
        cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, self->device.stream), "copy",
        err);
}

static bool wait_for_copies(struct member *self, struct error *err)
{
    return cuda_wait(&self->device, self->device.stream, "copy", err);
}

static bool stay_away(struct member *self, struct error *err)
{
    while (!called_off(self->group))
        sched_yield();
    return error_set(err, ERROR_FAILED, "hung");
}

/* Queue a step and the copy of its sums. Pieces are asked for as soon as their gradients are
 * queued, which is long before they are there. */
static bool queue_step(struct member *self, int step, struct error *err)
{
    struct group *t = self->group;
    struct replica *replica = &self->replica.base;
    for (size_t i = 0; i < LINK_COUNT; i++)
        self->result->grads[step][i] = link_gradient(self->index, step, i);
    for (int piece = 0; piece < t->request.pieces; piece++) {
        size_t first = piece > 0 ? ends[piece - 1] : 0;
        if (!cuda_check(cudaMemcpyAsync(replica->grads + first, self->result->grads[step] + first,
                                        (ends[piece] - first) * sizeof(float),
                                        cudaMemcpyHostToDevice, self->device.stream),
                        "gradients", err) ||
            (t->links->overlaps && step != 1 &&
             !t->links->reduce(t->link, self->index, piece, piece + 1, err)))
            return false;
    }
    if (!t->links->overlaps && !meet(t, self->index, err))
        return false;
    /* Once all together, as behind a pass that nothing may overlap. */
    if ((!t->links->overlaps || step == 1) &&
        !t->links->reduce(t->link, self->index, 0, t->request.pieces, err))
        return false;
    return t->links->finish(t->link, self->index, err) &&
           queue_copy(self, self->result->grads[step], replica->grads, LINK_COUNT * sizeof(float),
                      err);
}

static bool use_step_by_step(struct member *self, struct error *err)
{
    struct group *t = self->group;
    for (int i = 0; i < LINK_STEPS; i++) {
        if (self->index == t->trial->absent && i == 1)
            return stay_away(self, err);
        if (!queue_step(self, i, err) || !wait_for_copies(self, err) || !meet(t, self->index, err))
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

static bool use_ahead(struct member *self, struct error *err)
{
    struct group *t = self->group;
    while (atomic_load(&t->turn) != self->index)
        sched_yield();
    long before = waits_so_far();
    for (int i = 0; i < LINK_STEPS; i++)
        if (!queue_step(self, i, err))
            return false;
    t->trial->host_waits += waits_so_far() - before;
    atomic_store(&t->turn, self->index + 1);
    return meet(t, self->index, err) && wait_for_copies(self, err) && meet(t, self->index, err);
}

static bool use(struct member *self, struct error *err)
{
    struct group *t = self->group;
    return (t->trial->ahead ? use_ahead : use_step_by_step)(self, err) &&
           t->links->send_params(t->link, self->index, err) &&
           queue_copy(self, self->result->params, self->replica.base.params,
                      LINK_COUNT * sizeof(float), err) &&
           wait_for_copies(self, err) && meet(t, self->index, err);
}

static bool join(struct member *self, struct error *err)
{
    struct group *t = self->group;
    if (self->index == t->trial->absent && t->trial->absent_at_join)
        return stay_away(self, err);
    /* Nobody is ahead before all have begun. */
    return t->links->join(t->link, self->index, err) && meet(t, self->index, err);
}

/* As a worker of a run does it: who fails calls the others off and breaks off. */
static void *work(void *context)
{
    struct member *self = context;
    struct group *t = self->group;
    double waited = 0;
    self->result->ok = begin(self, &self->result->err);
    if (!self->result->ok)
        rendezvous_abort(t->meeting, self->index, &self->result->err);
    struct error ignored = ERROR_INIT;
    rendezvous_wait(t->start, self->index, &waited, &ignored); /* all have begun */
    rendezvous_wait(t->start, self->index, &waited, &ignored); /* the link is made */
    if (self->result->ok && t->link) {
        self->result->ok = join(self, &self->result->err) && use(self, &self->result->err);
        if (!self->result->ok) {
            rendezvous_abort(t->meeting, self->index, &self->result->err);
            t->links->leave(t->link, self->index, true);
        }
        rendezvous_wait(t->start, self->index, &waited, &ignored); /* nobody is at work */
        t->links->leave(t->link, self->index, called_off(t));
    }
    /* On a GPU that hangs this would, too. */
    if (self->result->ok || t->trial->limit_s >= 60) {
        cudaFree(self->replica.memory);
        cudaStreamDestroy(self->device.stream);
    }
    return NULL;
}

static void start_member(struct group *t, int i)
{
    struct member *member = &t->members[i];
    member->group = t;
    member->result = &t->trial->results[i];
    member->index = i;
    member->device.ordinal = t->trial->ordinals[i];
    member->device.watch = (struct device_watch){
        .limit_s = t->trial->limit_s,
        .called_off = member_called_off,
        .check = check,
        .context = member,
    };
    memcpy(member->device.name, names[i], sizeof "cuda:0");
    t->devices[i] = &member->device;
    t->replicas[i] = &member->replica.base;
    ck_assert_int_eq(pthread_create(&member->thread, NULL, work, member), 0);
}

static bool make_link(struct group *t, struct error *err)
{
    t->request = (struct link_request){.count = t->trial->count,
                                       .devices = t->devices,
                                       .replicas = t->replicas,
                                       .names = names,
                                       .method = t->trial->method,
                                       .ends = ends,
                                       .pieces = sizeof ends / sizeof *ends,
                                       .limit_s = t->trial->limit_s,
                                       .meet = meet,
                                       .called_off = called_off,
                                       .context = t};
    return t->links->create(&t->request, &t->link, err);
}

bool link_trial_run(struct link_trial *trial, struct error *err)
{
    static const char *const parties[] = {"0", "1", "2", "3", "main"};
    int count = trial->count;
    double waited = 0;
    struct error ignored = ERROR_INIT;
    struct group *t = calloc(1, sizeof *t);
    ck_assert_ptr_nonnull(t);
    t->trial = trial;
    t->links = trial->links;
    memset(trial->results, 0, sizeof trial->results);
    ck_assert(rendezvous_create(count, names, 60, false, &t->meeting, err));
    ck_assert(rendezvous_create(count + 1, parties, 60, false, &t->start, err));
    for (int i = 0; i < count; i++)
        start_member(t, i);
    ck_assert(rendezvous_wait(t->start, count, &waited, err));
    bool made = make_link(t, err);
    ck_assert(rendezvous_wait(t->start, count, &waited, &ignored));
    if (made)
        ck_assert(rendezvous_wait(t->start, count, &waited, &ignored));
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(pthread_join(t->members[i].thread, NULL), 0);
    if (made)
        trial->links->destroy(t->link);
    rendezvous_destroy(t->meeting);
    rendezvous_destroy(t->start);
    free(t);
    return made;
}
