/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/backends/registry.h"
#include "engine/device/cuda/collective/nccl.h"
#include "engine/device/cuda/libraries/nccl.h"
#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/cuda/runtime/wait.h"
#include "tests/gpu/gpu_case.h"
#include "tests/reference/trial.h"
#include "tests/suites.h"

/*
 * The engine's collectives by NCCL on a machine with one GPU: with one rank, and between two
 * processes that share the GPU, each of which is told that it is on its own host. On simulated
 * GPUs two threads with a GPU each take their place.
 */

static struct error err = ERROR_INIT;

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool barrier_alone(void *context, int index, struct error *error)
{
    (void)context;
    (void)index;
    (void)error;
    return true;
}

static void check_method(struct rig *rig, enum sync_method method)
{
    const size_t count = rig->replica->count;
    const size_t ends[] = {count / 32 * 16, count};
    const char *const names[] = {"cuda:0"};
    struct device *const devices[] = {rig->device};
    struct replica *const replicas[] = {rig->replica};
    const struct collective_request request = {.count = 1,
                                               .devices = devices,
                                               .replicas = replicas,
                                               .names = names,
                                               .method = method,
                                               .ends = ends,
                                               .buckets = 2,
                                               .limit_s = 60,
                                               .barrier = barrier_alone,
                                               .called_off = never};
    struct device_group *group = NULL;
    char text[200];
    float *grads = rig_read(rig, ARENA_GRADS), *params = rig_read(rig, ARENA_PARAMS);
    for (size_t i = 0; i < count; i++)
        grads[i] = (float)(i % 1000) - 500;
    rig_write(rig, ARENA_GRADS, grads);
    ck_assert_msg(nccl_collective.create(&request, &group, &err), "%s", err.text);
    nccl_collective.describe(group, text, sizeof text);
    ck_assert_msg(nccl_collective.join(group, 0, &err), "%s", err.text);
    for (int step = 0; step < 3; step++) {
        ck_assert_msg(nccl_collective.reduce(group, 0, 0, request.buckets, &err), "%s", err.text);
        ck_assert_msg(nccl_collective.finish(group, 0, &err), "%s", err.text);
    }
    ck_assert_msg(nccl_collective.send_params(group, 0, &err), "%s", err.text);
    nccl_collective.leave(group, 0, false);
    nccl_collective.destroy(group);
    float *after = rig_read(rig, ARENA_GRADS), *kept = rig_read(rig, ARENA_PARAMS);
    ck_assert_mem_eq(after, grads, count * sizeof *grads);
    ck_assert_mem_eq(kept, params, count * sizeof *params);
    printf("note: %s\n", text);
    free(kept);
    free(after);
    free(params);
    free(grads);
}

START_TEST(one_rank_sums_itself)
{
    const char *why = "";
    const struct trial_device device = {.backend = backend_find(DEVICE_CUDA, &why),
                                        .options = {.id = {DEVICE_CUDA, 0}, .type = TYPE_F32}};
    struct trial trial;
    struct rig rig;
    ck_assert_msg(device.backend != NULL, "%s", why);
    trial_make(&trial, "{ type = \"linear\"; outputs = 50; }, { type = \"linear\"; outputs = 4; }",
               (struct net_shape){1, 8, 8}, 4, 3, false, 1);
    rig_open(&rig, &trial, &device);
    for (int method = SYNC_ALLREDUCE; method <= SYNC_CENTRAL; method++)
        check_method(&rig, (enum sync_method)method);
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

/* --- two ranks, each with its own group --- */

enum { RANKS = 2, NUMBERS = 1 << 20, STEPS = 3, CHANNELS = 64 };

static const double LIMIT_S = 60, LOST_S = 5;

/* One rank: a GPU's own arenas and nothing else of a run. */
struct rank {
    int number, ordinal;
    ncclUniqueId id;
    bool leaves_early; /* without an error, after its first step */
    double limit_s;
    struct device device;
    struct cuda_replica replica;
    double *sums; /* on the GPU: own, then all */
    float *host;
    const char *names[1]; /* the group keeps it */
    struct device_group *group;
    bool ok;
    struct error err;
};

static bool check_rank(void *context, struct error *error)
{
    const struct rank *rank = context;
    return !rank->group || nccl_collective.check(rank->group, 0, error);
}

static bool open_rank(struct rank *rank)
{
    struct replica *base = &rank->replica.base;
    void *memory = NULL, *sums = NULL;
    rank->device.ordinal = rank->ordinal;
    rank->device.watch =
        (struct device_watch){.limit_s = rank->limit_s, .check = check_rank, .context = rank};
    snprintf(rank->device.name, sizeof rank->device.name, "rank %d", rank->number);
    rank->host = malloc(NUMBERS * sizeof *rank->host);
    if (!rank->host)
        return error_memory(&rank->err, "a rank");
    if (!cuda_select(&rank->device, &rank->err) ||
        !cuda_check(cudaStreamCreateWithFlags(&rank->device.stream, cudaStreamNonBlocking),
                    "stream", &rank->err) ||
        !cuda_check(cudaMalloc(&memory, 2 * NUMBERS * sizeof(float)), "memory", &rank->err))
        return false;
    base->params = memory;
    base->grads = base->params + NUMBERS;
    base->count = NUMBERS;
    if (!cuda_check(cudaMalloc(&sums, 2 * CHANNELS * sizeof(double)), "memory", &rank->err))
        return false;
    rank->sums = sums;
    return true;
}

static void close_rank(struct rank *rank)
{
    if (rank->group) {
        nccl_collective.leave(rank->group, 0, !rank->ok);
        nccl_collective.destroy(rank->group);
    }
    cudaFree(rank->sums);
    cudaFree(rank->replica.base.params);
    if (rank->device.stream)
        cudaStreamDestroy(rank->device.stream);
    free(rank->host);
}

static bool make_group(struct rank *rank)
{
    static const size_t ends[] = {NUMBERS / 2, NUMBERS - 4096, NUMBERS};
    rank->names[0] = rank->device.name;
    struct device *const devices[] = {&rank->device};
    struct replica *const replicas[] = {&rank->replica.base};
    const struct collective_world world = {rank->number, RANKS, &rank->id};
    const struct collective_request request = {.count = 1,
                                               .devices = devices,
                                               .replicas = replicas,
                                               .names = rank->names,
                                               .method = SYNC_ALLREDUCE,
                                               .ends = ends,
                                               .buckets = 3,
                                               .limit_s = rank->limit_s,
                                               .barrier = barrier_alone,
                                               .called_off = never,
                                               .world = &world};
    return nccl_collective.create(&request, &rank->group, &rank->err) &&
           nccl_collective.join(rank->group, 0, &rank->err);
}

static bool copied(struct rank *rank, void *to, const void *from, size_t bytes)
{
    return cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, rank->device.stream),
                      "copy", &rank->err) &&
           cuda_wait(&rank->device, rank->device.stream, "a copy", &rank->err);
}

/* host[i] = i % 1000 + rank + step becomes the sum over the ranks, two buckets of it together. */
static bool reduce_step(struct rank *rank, int step)
{
    float *grads = rank->replica.base.grads;
    for (int i = 0; i < NUMBERS; i++)
        rank->host[i] = (float)(i % 1000 + rank->number + step);
    if (!copied(rank, grads, rank->host, NUMBERS * sizeof *grads) ||
        !nccl_collective.reduce(rank->group, 0, 0, 1, &rank->err) ||
        !nccl_collective.reduce(rank->group, 0, 1, 3, &rank->err) ||
        !nccl_collective.finish(rank->group, 0, &rank->err) ||
        !copied(rank, rank->host, grads, NUMBERS * sizeof *grads))
        return false;
    for (int i = 0; i < NUMBERS; i++)
        if (rank->host[i] != (float)(RANKS * (i % 1000 + step) + RANKS * (RANKS - 1) / 2))
            return error_set(&rank->err, ERROR_FAILED, "gradient %d is %g", i,
                             (double)rank->host[i]);
    return true;
}

static bool send_step(struct rank *rank)
{
    float *params = rank->replica.base.params;
    for (int i = 0; i < NUMBERS; i++)
        rank->host[i] = (float)(i + rank->number);
    if (!copied(rank, params, rank->host, NUMBERS * sizeof *params) ||
        !nccl_collective.send_params(rank->group, 0, &rank->err) ||
        !copied(rank, rank->host, params, NUMBERS * sizeof *params))
        return false;
    for (int i = 0; i < NUMBERS; i++)
        if (rank->host[i] != (float)i)
            return error_set(&rank->err, ERROR_FAILED, "parameter %d is %g", i,
                             (double)rank->host[i]);
    return true;
}

static bool sum_step(struct rank *rank)
{
    double sums[CHANNELS];
    for (int i = 0; i < CHANNELS; i++)
        sums[i] = 1e9 + i + rank->number;
    if (!copied(rank, rank->sums, sums, sizeof sums) ||
        !nccl_collective.sum(rank->group, 0, rank->sums, rank->sums + CHANNELS, CHANNELS,
                             &rank->err) ||
        !copied(rank, sums, rank->sums + CHANNELS, sizeof sums))
        return false;
    for (int i = 0; i < CHANNELS; i++)
        if (sums[i] != RANKS * (1e9 + i) + RANKS * (RANKS - 1) / 2)
            return error_set(&rank->err, ERROR_FAILED, "sum %d is %.17g", i, sums[i]);
    return true;
}

/* A layer's parts come to all ranks; of the gradients each gets the sum of its own part. */
static bool gather_step(struct rank *rank)
{
    enum { PART = NUMBERS / RANKS };
    float *parts = rank->replica.base.grads, *own = rank->host + rank->number * PART;
    for (int i = 0; i < NUMBERS; i++)
        rank->host[i] = (float)(i % 1000 + 1000 * rank->number);
    if (!copied(rank, parts, rank->host, NUMBERS * sizeof *parts) ||
        !nccl_collective.gather(rank->group, 0, parts, PART * sizeof *parts, &rank->err) ||
        !copied(rank, rank->host, parts, NUMBERS * sizeof *parts))
        return false;
    for (int i = 0; i < NUMBERS; i++)
        if (rank->host[i] != (float)(i % 1000 + i / PART * 1000))
            return error_set(&rank->err, ERROR_FAILED, "gathered number %d is %g", i,
                             (double)rank->host[i]);
    if (!nccl_collective.scatter(rank->group, 0, parts, PART, TYPE_F32, &rank->err) ||
        !copied(rank, rank->host, parts, NUMBERS * sizeof *parts))
        return false;
    for (int i = 0; i < PART; i++)
        if (own[i] != (float)(RANKS * ((rank->number * PART + i) % 1000 + 1000 * rank->number)))
            return error_set(&rank->err, ERROR_FAILED, "scattered number %d is %g", i,
                             (double)own[i]);
    return true;
}

static void *run_rank(void *context)
{
    struct rank *rank = context;
    rank->ok = open_rank(rank) && make_group(rank);
    for (int step = 0; rank->ok && step < STEPS && (step == 0 || !rank->leaves_early); step++)
        rank->ok = reduce_step(rank, step) && sum_step(rank) && gather_step(rank);
    rank->ok = rank->ok && (rank->leaves_early || send_step(rank));
    if (rank->leaves_early)
        rank->ok = false;
    close_rank(rank);
    return NULL;
}

#ifndef DPARTUI_REAL_GPU /* of which every process has its own */

static void run_ranks(struct rank *ranks)
{
    pthread_t threads[RANKS];
    ck_assert_msg(nccl_collective.make_id(&ranks[0].id, &err), "%s", err.text);
    for (int i = 0; i < RANKS; i++) {
        ranks[i].id = ranks[0].id;
        ranks[i].ordinal = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_rank, &ranks[i]), 0);
    }
    for (int i = 0; i < RANKS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

#else

/* Two processes that share the GPU. Rank 0 makes the id and hands it on. */
static bool take_id(struct rank *rank, const int *ends)
{
    bool ok = rank->number == 0
                  ? nccl_collective.make_id(&rank->id, &rank->err) &&
                        write(ends[1], &rank->id, sizeof rank->id) == (ssize_t)sizeof rank->id
                  : read(ends[0], &rank->id, sizeof rank->id) == (ssize_t)sizeof rank->id;
    return ok || rank->err.kind != ERROR_NONE || error_errno(&rank->err, "id");
}

static void run_process(struct rank *rank, const int *ends, int results)
{
    char host[32];
    snprintf(host, sizeof host, "dpartui-test-%d", rank->number);
    setenv("NCCL_HOSTID", host, 1);
    alarm(4 * (unsigned)LIMIT_S);
    if (take_id(rank, ends))
        run_rank(rank);
    const ssize_t size = sizeof *rank;
    _exit(write(results, rank, sizeof *rank) == size ? 0 : 1);
}

static void run_ranks(struct rank *ranks)
{
    int ends[2], results[RANKS][2];
    pid_t children[RANKS];
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    for (int i = 0; i < RANKS; i++) {
        ck_assert_int_eq(pipe(results[i]), 0);
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0)
            run_process(&ranks[i], ends, results[i][1]);
        close(results[i][1]);
    }
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < RANKS; i++) {
        const ssize_t size = sizeof ranks[i];
        int status = 0;
        bool told = read(results[i][0], &ranks[i], sizeof ranks[i]) == size;
        close(results[i][0]);
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_msg(told && WIFEXITED(status), "rank %d ended with status %d", i, status);
    }
}

#endif

START_TEST(two_ranks_reduce)
{
    struct rank ranks[RANKS] = {{.number = 0, .limit_s = LIMIT_S},
                                {.number = 1, .limit_s = LIMIT_S}};
    run_ranks(ranks);
    for (int i = 0; i < RANKS; i++)
        ck_assert_msg(ranks[i].ok, "rank %d: %s", i, ranks[i].err.text);
}
END_TEST

/* A rank that goes away in the middle: the other gives up in time, and its GPU comes to rest. */
START_TEST(lost_rank_is_given_up)
{
    struct rank ranks[RANKS] = {{.number = 0, .limit_s = LOST_S},
                                {.number = 1, .limit_s = LOST_S, .leaves_early = true}};
    double began = clock_seconds();
    run_ranks(ranks);
    double seconds = clock_seconds() - began;
    ck_assert(!ranks[0].ok);
    ck_assert_msg(strstr(ranks[0].err.text, "NCCL") != NULL, "%s", ranks[0].err.text);
    ck_assert_msg(seconds < LIMIT_S, "%.1f s", seconds);
    printf("note: %s; %.1f s in all\n", ranks[0].err.text, seconds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu nccl");
    TCase *one = gpu_case(tcase_create("nccl-one"), 120);
    tcase_add_test(one, one_rank_sums_itself);
    suite_add_tcase(suite, one);
    TCase *two = gpu_case(tcase_create("nccl-two"), 150);
    tcase_add_test(two, two_ranks_reduce);
    tcase_add_test(two, lost_rank_is_given_up);
    suite_add_tcase(suite, two);
    return run_suites(suite, NULL);
}
