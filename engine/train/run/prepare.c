/* SPDX-License-Identifier: MIT */
#include "engine/model/file.h"
#include "engine/train/run/run_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "engine/train/split/order.h"
#include "system/affinity.h"

static bool take_rows(const char *option, long asked, const struct data *data,
                      const struct dataset *set, long *rows, struct error *err)
{
    if (set->rows < 1)
        return error_set(err, ERROR_USAGE, "%s: no rows to %s on", data->name, option);
    if (asked > set->rows)
        return error_set(err, ERROR_USAGE, "%s-rows %ld: %s has %d", option, asked, data->name,
                         set->rows);
    *rows = asked ? asked : set->rows;
    return true;
}

static bool open_data(struct run *run, struct error *err)
{
    const struct spec *spec = &run->spec;
    if (!data_open(spec->data, spec->data_dir, spec->seed, &run->data, err) ||
        !take_rows("train", spec->train_rows, &run->data, &run->data.train, &run->train_rows,
                   err) ||
        !take_rows("test", spec->test_rows, &run->data, &run->data.test, &run->test_rows, err))
        return false;
    run->order = malloc((size_t)run->train_rows * sizeof *run->order);
    run->test_order = malloc((size_t)run->test_rows * sizeof *run->test_order);
    if (!run->order || !run->test_order)
        return error_memory(err, "order of the rows");
    struct order order = order_make(ORDER_SEQUENTIAL, 0, 1, (uint32_t)run->test_rows);
    order_fill(&order, run->test_order);
    run->steps_per_epoch = (run->train_rows + spec->batch - 1) / spec->batch;
    run->total_steps = run_count_steps(run);
    return true;
}

static bool load_net(struct run *run, struct error *err)
{
    const struct dataset *train = &run->data.train;
    struct net_shape input = {train->channels, train->height, train->width};
    char *path = paths_find_model(run->spec.model, err);
    bool ok = path && net_load(path, input, train->classes, &run->net, err);
    free(path);
    return ok;
}

static bool make_weights(struct run *run, struct error *err)
{
    const struct spec *spec = &run->spec;
    if (!weights_create(run->net, &run->weights, err))
        return false;
    if (run->keep.resumes)
        return run_read_checkpoint(run, err);
    if (spec->init == INIT_FILE) {
        bool ok = weights_read(run->net, spec->init_file, &run->weights, err);
        run->tracked_before = run->weights.batches_tracked;
        return ok;
    }
    weights_init(run->net, &run->weights, spec->init, spec->init_std, spec->seed);
    return true;
}

void run_take_shares(struct run *run, const struct row_shares *shares)
{
    run->statistics_from = 0;
    while (shares->device[run->statistics_from].full == 0)
        run->statistics_from++;
    for (int i = 0; i < run->rank_count; i++) {
        const struct row_share *share = &shares->device[i];
        struct rank *rank = &run->ranks[i];
        rank->train[PASS_FULL].rows = (int)share->full;
        rank->train[PASS_SHORT].rows = (int)share->rest;
        rank->trains_short = shares->rest_occurs;
        rank->eval_begin = share->eval_begin;
        rank->eval_rows = share->eval_rows;
        rank->eval[PASS_FULL].rows = (int)share->eval_full;
        rank->eval[PASS_SHORT].rows = (int)share->eval_rest;
    }
}

/* Whose rows are whose, in training and in evaluation. */
static bool take_shares(struct run *run, struct error *err)
{
    struct row_shares shares;
    if (!share_rows(&run->spec, run->train_rows, run->test_rows, &shares, err))
        return false;
    run_take_shares(run, &shares);
    return true;
}

/* Consecutive CPUs for each CPU device where there are enough; otherwise the system schedules. */
static bool take_cpus(struct run *run, bool *crowded, struct error *err)
{
    const struct device_list *devices = &run->spec.devices;
    int count, threads[SPEC_MAX_DEVICES];
    share_threads(&run->spec, threads);
    if (!affinity_cpus(&run->cpus, &count, err))
        return false;
    *crowded = !cpus_suffice(threads, run->rank_count, count);
    for (int i = 0; i < run->rank_count; i++) {
        struct device_options *options = &run->ranks[i].options;
        if (options->id.kind != DEVICE_CPU)
            continue;
        options->threads = threads[i];
        if (!*crowded) {
            options->cpus = run->cpus + first_cpu(devices, threads, i);
            options->cpu_count = threads[i];
        }
    }
    return true;
}

static bool make_members(struct run *run, struct error *err)
{
    const struct device_list *devices = &run->spec.devices;
    run->rank_count = devices->count;
    for (int i = 0; i < devices->count; i++) {
        struct rank *rank = &run->ranks[i];
        const char *why = "no backend";
        rank->run = run;
        rank->index = i;
        rank->options.id = devices->id[i];
        run->names[i] = device_id_text(devices->id[i], rank->name);
        atomic_init(&rank->activity, ACTIVITY_PREPARE);
        rank->backend = backend_find(devices->id[i].kind, &why);
        if (!rank->backend)
            return error_set(err, ERROR_USAGE, "%s: %s", rank->name, why);
    }
    return take_shares(run, err);
}

void run_shard(const struct run *run, int index, enum pass_size size, long *before, long *rows)
{
    *before = 0;
    for (int i = 0; i < index; i++)
        *before += run->ranks[i].train[size].rows;
    *rows = run->ranks[index].train[size].rows;
}

static bool device_called_off(void *context)
{
    return barrier_called_off(((struct rank *)context)->run->barrier);
}

static bool device_check(void *context, struct error *err)
{
    const struct rank *rank = context;
    return sync_check(&rank->run->group, rank->index, err);
}

/* The slowest GPU worth waiting for. */
static const double SLOWEST_GPU_FLOPS = 1e11;

static void take_options(struct run *run)
{
    double work = net_training_flops(run->net) * (double)run->spec.batch;
    for (int i = 0; i < run->rank_count; i++) {
        struct device_options *options = &run->ranks[i].options;
        options->type = options->id.kind == DEVICE_CPU ? TYPE_F32 : run->spec.dtype;
        options->deterministic = run->spec.deterministic;
        options->watch = (struct device_watch){
            .limit_s = run->limits.stall_s + work / SLOWEST_GPU_FLOPS,
            .called_off = device_called_off,
            .check = device_check,
            .context = &run->ranks[i],
        };
    }
}

static void release_abandoned(void *context)
{
    run_release(context);
}

/* Between two steps the owner needs a fraction of it. */
static const double SPIN_S = 200e-6;

static bool start_workers(struct run *run, struct error *err)
{
    bool crowded = false;
    struct worker_tasks tasks = {
        .context = run, .close = rank_close, .abandoned = release_abandoned};
    /* The calling thread watches for hanging devices and says so better; this is the second net. */
    double limit_s =
        4 * run->limits.stall_s + net_training_flops(run->net) * (double)run->spec.batch / 1e8;
    if (!take_cpus(run, &crowded, err) ||
        !barrier_create(run->rank_count, run->names, limit_s, !crowded, &run->barrier, err))
        return false;
    run->group.ends = run->ends;
    tasks.spin_s = crowded ? 0 : SPIN_S;
    take_options(run);
    return workers_start(run->rank_count, run->names, &tasks, &run->workers, err);
}

bool run_prepare(struct run *run, struct error *err)
{
    if (!open_data(run, err) || !load_net(run, err) || !make_members(run, err) ||
        !run_begin_profile(run, err) || !make_weights(run, err) || !run_begin_saving(run, err) ||
        !start_workers(run, err) || !run_command(run, rank_prepare, 0, err) ||
        !run_inspect(run, err) || !run_connect(run, err))
        return false;
    weights_let_go(run->net, &run->weights); /* the devices have them now */
    run_begin_load_balance(run);
    run_begin_steps(run);
    return true;
}

void run_release(struct run *run)
{
    sync_close(&run->group);
    barrier_destroy(run->barrier);
    /* Not before: a device that hung may come back and read the one, or write the other. */
    checkpoint_free(&run->saving.resumed);
    checkpoint_writer_free(run->saving.writer);
    weights_free(&run->weights);
    net_free(run->net);
    data_close(&run->data);
    figures_free(&run->figures);
    if (run->profile)
        profile_free(run->profile);
    free(run->profile);
    for (int i = 0; i < run->warning_count; i++)
        free(run->warnings[i]);
    free(run->test_order);
    free(run->order);
    free(run->cpus);
    spec_free(&run->spec);
    free(run);
}
