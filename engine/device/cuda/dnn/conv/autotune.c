/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/autotune.h"

#include <math.h>
#include <stdlib.h>

#include "engine/device/cuda/dnn/conv/bench.h"
#include "engine/device/cuda/dnn/conv/check.h"

#define SAMPLES    5
#define SAMPLE_S   5e-4 /* so long at least, that the clock's steps do not matter */
#define RUNS_LIMIT 24   /* in one sample */
/* What starting one kernel by itself may take, which a single run shows in addition to the kernel.
 */
#define START_S 15e-6

struct conv_autotune {
    struct conv_bench bench;
    struct conv_check check;
};

/* A plan while it is timed. */
struct timing {
    struct conv_autotune *autotune;
    const struct dnn_plan *plan;
    cudnnBackendDescriptor_t packs[CONV_BENCH_SETS];
    cudaGraphExec_t graph; /* of `runs` runs; NULL: not captured yet */
    int runs;
    bool unfit; /* does not run, or is wrong */
    bool wrong; /* its results are others than asked for */
};

cudnnBackendDescriptor_t conv_pack(const struct cudnn_api *api, const struct conv_request *request,
                                   void *const pointers[CONV_ROLES], void *workspace,
                                   struct error *err)
{
    int64_t ids[CONV_ROLES];
    void *used[CONV_ROLES];
    int64_t count = 0;
    for (int role = CONV_X; role < CONV_ROLES; role++) {
        if (!conv_role_used(request, role))
            continue;
        ids[count] = role;
        used[count++] = pointers[role];
    }
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids},
        {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, used},
        {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace},
    };
    return dnn_make(api, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "the pointers for cuDNN",
                    attributes, sizeof attributes / sizeof *attributes, NULL, err);
}

bool conv_autotune_open(const struct conv_maker *maker, const struct conv_request *request,
                        struct conv_autotune **out, struct error *err)
{
    bool short_of_memory = false;
    struct conv_autotune *autotune = *out = calloc(1, sizeof *autotune);
    if (!autotune)
        return error_memory(err, "tuning convolutions");
    if (conv_bench_open(&autotune->bench, maker, request, &short_of_memory, err) &&
        conv_check_open(&autotune->check, &autotune->bench, &short_of_memory))
        return true;
    conv_autotune_close(autotune);
    *out = NULL;
    return short_of_memory;
}

void conv_autotune_close(struct conv_autotune *autotune)
{
    if (!autotune)
        return;
    conv_check_close(&autotune->check);
    conv_bench_close(&autotune->bench);
    free(autotune);
}

/* Queue the run numbered `run`. That cuDNN does not start it is no error: unfit. */
static void queue_run(struct timing *t, int run)
{
    const struct conv_maker *maker = t->autotune->bench.maker;
    const cudnnBackendDescriptor_t pack = t->packs[run % t->autotune->bench.sets];
    t->unfit = t->unfit || maker->api->BackendExecute(maker->handle, t->plan->plan, pack) !=
                               CUDNN_STATUS_SUCCESS;
}

/* Seconds of one run: of the graph's, or of a single one while there is none. */
static bool time_runs(struct timing *t, double *seconds)
{
    struct conv_bench *bench = &t->autotune->bench;
    const cudaStream_t stream = bench->maker->stream;
    float milliseconds = 0;
    if (!cuda_check(cudaEventRecord(bench->begin, stream), "cudaEventRecord", bench->err))
        return false;
    if (!t->graph)
        queue_run(t, 0);
    else if (!cuda_check(cudaGraphLaunch(t->graph, stream), "cudaGraphLaunch", bench->err))
        return false;
    if (!conv_bench_wait(bench) ||
        !cuda_check(cudaEventElapsedTime(&milliseconds, bench->begin, bench->end),
                    "cudaEventElapsedTime", bench->err))
        return false;
    *seconds = (double)milliseconds * 1e-3 / (t->graph ? t->runs : 1);
    return true;
}

/* The first run loads the kernels, and finds dirty results; the second finds the first one's. */
static bool check_runs(struct timing *t, double *seconds)
{
    struct conv_check *check = &t->autotune->check;
    if (!conv_check_dirty(check))
        return false;
    for (int i = 0; i < 2 && !t->unfit; i++) {
        bool agrees = false;
        if (!time_runs(t, seconds) || (!t->unfit && !conv_check_results(check, &agrees)))
            return false;
        t->wrong = !t->unfit && !agrees;
        t->unfit = t->unfit || t->wrong;
    }
    return true;
}

/* What a plan that cannot be captured would take in training is not known: it would keep the whole
 * pass from being captured. */
static void capture(struct timing *t)
{
    const cudaStream_t stream = t->autotune->bench.maker->stream;
    cudaGraph_t graph = NULL;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
        for (int run = 0; run < t->runs; run++)
            queue_run(t, run);
        if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || t->unfit ||
            cudaGraphInstantiate(&t->graph, graph, 0) != cudaSuccess)
            t->graph = NULL;
        if (graph)
            (void)cudaGraphDestroy(graph);
    }
    t->unfit = t->unfit || !t->graph;
    if (t->unfit)
        (void)cudaGetLastError(); /* else the next call would report it again */
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool time_graph(struct timing *t, double once, double *seconds)
{
    double sample[SAMPLES];
    t->runs = once * RUNS_LIMIT > SAMPLE_S ? (int)ceil(SAMPLE_S / once) : RUNS_LIMIT;
    if (t->runs < t->autotune->bench.sets)
        t->runs = t->autotune->bench.sets;
    capture(t);
    if (t->unfit)
        return true;
    /* The first start of a graph is slower than others. */
    if (!time_runs(t, &sample[0]))
        return false;
    for (int i = 0; i < SAMPLES; i++)
        if (!time_runs(t, &sample[i]))
            return false;
    qsort(sample, SAMPLES, sizeof *sample, by_value);
    *seconds = sample[SAMPLES / 2];
    return true;
}

static bool make_packs(struct timing *t)
{
    struct conv_bench *bench = &t->autotune->bench;
    for (int set = 0; set < bench->sets; set++) {
        t->packs[set] = conv_pack(bench->maker->api, bench->request, bench->pointers[set],
                                  bench->workspace, bench->err);
        if (!t->packs[set])
            return false;
    }
    return true;
}

static bool time_plan(struct timing *t, double best, double *seconds)
{
    double once = 0;
    if (!make_packs(t) || !check_runs(t, &once))
        return false;
    if (t->unfit)
        return true;
    *seconds = once;
    return once - START_S > 2 * best || time_graph(t, once, seconds);
}

bool conv_autotune_time(struct conv_autotune *autotune, const struct dnn_plan *plan, double best,
                        double *seconds, const char **wrong)
{
    struct timing t = {.autotune = autotune, .plan = plan};
    bool short_of_memory = false;
    *seconds = NAN;
    *wrong = NULL;
    if (!conv_bench_reserve(&autotune->bench, plan->workspace, &short_of_memory))
        return short_of_memory;
    const bool ok = time_plan(&t, best, seconds);
    if (t.unfit) {
        *seconds = NAN;
        (void)cudaGetLastError(); /* of a run that failed: else the next launch is blamed */
    }
    if (t.wrong)
        *wrong = autotune->check.fault;
    if (t.graph && !autotune->bench.stuck)
        (void)cudaGraphExecDestroy(t.graph);
    dnn_release(autotune->bench.maker->api, t.packs, CONV_BENCH_SETS);
    return ok;
}
