/* SPDX-License-Identifier: MIT */
#include "tests/fakes/posing_backend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/backends/registry.h"
#include "engine/device/cpu/backend.h"

struct posing posing;

/* Of the device of this thread: a device is used by the thread that opened it. */
static _Thread_local struct self {
    int index;
    int passes;
    bool in_pass;
    double now;
    struct gradient_buckets buckets;
    const struct plan *training[16]; /* plans for it */
    int training_count;
} mine;

void posing_reset(void)
{
    memset(&posing, 0, sizeof posing);
}

void posing_check(bool correct)
{
    if (!correct)
        atomic_fetch_add(&posing.misuse, 1);
}

double posing_clock(void)
{
    return mine.now;
}

bool posing_in_pass(void)
{
    return mine.in_pass;
}

bool posing_fault(enum posing_phase phase, struct error *err)
{
    static const char *const names[] = {"never",  "open",      "facts", "plan",   "join", "pass",
                                        "bucket", "reduction", "write", "update", "save"};
    if (atomic_load(&posing.phase) != phase || posing.device != mine.index ||
        (phase >= POSING_PASS && mine.passes < 2))
        return true;
    while (posing.hangs && !atomic_load(&posing.go_on))
        usleep(1000);
    return error_set(err, ERROR_FAILED, "the %s went wrong", names[phase]);
}

static bool open_posing(const struct device_options *options, struct device **out,
                        struct error *err)
{
    struct device_options cpu = *options;
    memset(&mine, 0, sizeof mine);
    mine.index = options->id.index;
    posing_check(options->watch.limit_s > 0 && options->watch.called_off);
    options->watch.called_off(options->watch.context);
    cpu.id.kind = DEVICE_CPU;
    cpu.threads = 1;
    if (!posing_fault(POSING_OPEN, err) || !cpu_backend.open(&cpu, out, err))
        return false;
    atomic_fetch_add(&posing.opened, 1);
    return true;
}

static void close_posing(struct device *device)
{
    cpu_backend.close(device);
    atomic_fetch_add(&posing.closed, 1);
}

static bool facts(struct device *device, struct device_facts *out, struct error *err)
{
    (void)device;
    *out = posing.facts;
    return posing_fault(POSING_FACTS, err);
}

static bool create_replica(struct device *device, const struct net *net,
                           const struct replica_request *request, struct replica **out,
                           struct error *err)
{
    if (!cpu_backend.replica_create(device, net, request, out, err))
        return false;
    (*out)->host_accessible = false;
    (*out)->type = TYPE_DEFAULT;
    return true;
}

static float *arena_of(const struct replica *replica, enum replica_arena arena, size_t end)
{
    size_t count;
    float *numbers = replica_arena(replica, arena, &count);
    posing_check(end <= count);
    return numbers;
}

static bool read_arena(struct device *device, const struct replica *replica,
                       enum replica_arena arena, size_t begin, size_t end, float *host,
                       struct error *err)
{
    (void)device;
    if (!posing_fault(POSING_REDUCTION, err))
        return false;
    memcpy(host, arena_of(replica, arena, end) + begin, (end - begin) * sizeof *host);
    return true;
}

static bool write_arena(struct device *device, struct replica *replica, enum replica_arena arena,
                        size_t begin, size_t end, const float *host, struct error *err)
{
    (void)device;
    if (!posing_fault(POSING_WRITE, err))
        return false;
    memcpy(arena_of(replica, arena, end) + begin, host, (end - begin) * sizeof *host);
    return true;
}

static bool export_values(struct device *device, const struct replica *replica,
                          enum replica_arena arena, float *values, struct error *err)
{
    struct error late = ERROR_INIT;
    bool ok = posing_fault(arena == ARENA_STATE ? POSING_SAVE : POSING_REDUCTION, err);
    /* A copy that hung and comes back still writes where it was told to. */
    return cpu_backend.values_export(device, replica, arena, values, ok ? err : &late) && ok;
}

static bool import_values(struct device *device, struct replica *replica, enum replica_arena arena,
                          const float *values, struct error *err)
{
    return posing_fault(POSING_WRITE, err) &&
           cpu_backend.values_import(device, replica, arena, values, err);
}

static bool create_stage(struct device *device, size_t bytes, void **out, struct error *err)
{
    (void)device;
    if (!posing_fault(POSING_JOIN, err))
        return false;
    *out = malloc(bytes);
    atomic_fetch_add(&posing.stages, *out != NULL);
    return *out || error_memory(err, "stage");
}

static void destroy_stage(struct device *device, void *stage)
{
    (void)device;
    free(stage);
    atomic_fetch_sub(&posing.stages, 1);
}

/* The CPU's bucket, as it becomes ready. */
static bool tell_ready(void *context, int bucket, struct error *err)
{
    const struct self *self = context;
    return posing_fault(POSING_BUCKET, err) &&
           self->buckets.ready(self->buckets.context, bucket, err);
}

static bool create_plan(struct device *device, struct replica *replica,
                        const struct plan_request *request, struct plan **out, struct error *err)
{
    struct plan_request watched = *request;
    watched.buckets.ready = tell_ready;
    watched.buckets.context = &mine;
    posing_check(request->buckets.count == 0 ||
                 request->buckets.ends[request->buckets.count - 1] == replica->count);
    if (!posing_fault(POSING_PLAN, err) ||
        !cpu_backend.plan_create(device, replica, &watched, out, err))
        return false;
    if (request->mode == PLAN_TRAIN) {
        mine.buckets = request->buckets;
        posing_check(mine.training_count < 16);
        mine.training[mine.training_count++ % 16] = *out;
    }
    return true;
}

static bool is_training(const struct plan *plan)
{
    bool found = false;
    for (int i = 0; i < mine.training_count && i < 16; i++)
        found = found || mine.training[i] == plan;
    return found;
}

static bool run_plan(struct device *device, struct plan *plan, const struct batch *batch,
                     struct batch_result *result, struct error *err)
{
    bool training = is_training(plan);
    mine.passes += training;
    posing_check(batch->next_rows == 0 || batch->next_index);
    if (training && !posing_fault(POSING_PASS, err))
        return false;
    if (!training) {
        usleep(posing.evaluation_us);
        atomic_fetch_add(&posing.evaluations, 1);
    }
    /* Code takes its time to load, not the same everywhere. */
    if (training && mine.passes == 1)
        usleep(20000U * (unsigned)mine.index);
    if (mine.index < (int)(sizeof posing.row_s / sizeof *posing.row_s))
        mine.now += posing.row_s[mine.index] * batch->rows;
    mine.in_pass = training;
    bool ok = cpu_backend.plan_run(device, plan, batch, result, err);
    mine.in_pass = false;
    atomic_fetch_add(&posing.first_passes, ok && training && mine.passes == 1);
    return ok;
}

/* Of a stage, which has its fault in the second micro-batch. */
static bool run_forward(struct device *device, struct plan *plan, const struct batch *batch,
                        const struct micro_batch *micro, struct batch_result *result,
                        struct error *err)
{
    const bool training = is_training(plan);
    mine.passes += training;
    return (!training || posing_fault(POSING_PASS, err)) &&
           cpu_backend.plan_forward(device, plan, batch, micro, result, err);
}

static bool run_backward(struct device *device, struct plan *plan, const struct batch *batch,
                         const struct micro_batch *micro, struct error *err)
{
    return posing_fault(POSING_BUCKET, err) &&
           cpu_backend.plan_backward(device, plan, batch, micro, err);
}

static bool update(struct device *device, struct replica *replica, size_t begin, size_t end,
                   const struct optimizer_step *step, struct error *err)
{
    return posing_fault(POSING_UPDATE, err) &&
           cpu_backend.update(device, replica, begin, end, step, err);
}

static const struct collective *const posing_collectives[] = {&posing_collective, NULL};

static bool enumerate(struct device_info *list, int capacity, int *count, char *why,
                      size_t why_size, struct error *err)
{
    (void)err;
    (void)why_size;
    why[0] = '\0';
    *count = capacity < 16 ? capacity : 16;
    for (int i = 0; i < *count; i++)
        list[i] = (struct device_info){
            .id = {DEVICE_CUDA, i}, .name = "Pretender", .cores = 1, .available = true};
    return true;
}

static struct backend gpus, collective_gpus;

static void make_backends(void)
{
    gpus = cpu_backend;
    gpus.kind = DEVICE_CUDA;
    gpus.enumerate = enumerate;
    gpus.open = open_posing;
    gpus.close = close_posing;
    gpus.facts = facts;
    gpus.replica_create = create_replica;
    gpus.values_export = export_values;
    gpus.values_import = import_values;
    gpus.arena_read = read_arena;
    gpus.arena_write = write_arena;
    gpus.stage_create = create_stage;
    gpus.stage_destroy = destroy_stage;
    gpus.plan_create = create_plan;
    gpus.plan_run = run_plan;
    gpus.plan_forward = run_forward;
    gpus.plan_backward = run_backward;
    gpus.update = update;
    collective_gpus = gpus;
    collective_gpus.collectives = posing_collectives;
}

const struct backend *backend_find(enum device_kind kind, const char **why)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    *why = "";
    if (kind == DEVICE_CPU)
        return &cpu_backend;
    pthread_once(&made, make_backends);
    return posing.has_collective ? &collective_gpus : &gpus;
}
