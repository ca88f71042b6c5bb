/* SPDX-License-Identifier: MIT */
#include "engine/train/run/meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/train/run/command.h"
#include "engine/train/run/state.h"
#include "system/sha256.h"

/* What a host says of one of its devices. */
struct told_device {
    struct step_part part; /* of the oldest step that was queued */
    struct batch_result result;
    struct device_facts facts;
    double plan_s;
    uint64_t memory_bytes;
    int activity;
    char model[sizeof((struct rank *)NULL)->model];
    struct device_load load;
};

struct told {
    /* By the first host. */
    int stop;
    double lr;
    long epochs;
    bool paused, minutes_are_up;
    /* By each. */
    bool cut;
    struct told_device device[];
};

static struct step_part *part_of(struct run *run, struct rank *rank)
{
    return &rank->parts[run->ranks.oldest % PASSES_QUEUED];
}

bool meet_is_first(const struct run *run)
{
    return !run->ranks.link || run->ranks.link->index == 0;
}

bool meet_goes_well(const struct run *run)
{
    const struct host_link *link = run->ranks.link;
    struct error ignored = ERROR_INIT;
    return !link || link->check(link->context, &ignored);
}

bool meet_begin(struct run *run, struct error *err)
{
    struct meeting *meeting = &run->meeting;
    const struct host_link *link = run->ranks.link;
    int most = 0;
    if (!link)
        return true;
    for (int h = 0; h < link->hosts.count; h++) {
        const int devices = run->ranks.map.begin[h + 1] - run->ranks.map.begin[h];
        most = devices > most ? devices : most;
    }
    meeting->bytes = sizeof(struct told) + (size_t)most * sizeof(struct told_device);
    meeting->own = calloc(1, meeting->bytes);
    meeting->all = calloc((size_t)link->hosts.count, meeting->bytes);
    return (meeting->own && meeting->all) || error_memory(err, "what hosts tell each other");
}

void meet_end(struct run *run)
{
    free(run->meeting.own);
    free(run->meeting.all);
}

/* A request is taken from where viewers put it, once. */
static void tell_requests(struct run *run, struct told *told)
{
    struct run_control *asked = run->meeting.asked;
    long epochs = atomic_load(&asked->epochs);
    told->stop = atomic_load(&asked->stop);
    told->lr = atomic_exchange(&asked->lr, 0);
    while (epochs > 0 && !atomic_compare_exchange_weak(&asked->epochs, &epochs, 0))
        ;
    told->epochs = epochs;
    told->paused = atomic_load(&asked->paused);
    told->minutes_are_up = checkpoints_minutes_are_up(run);
}

static void take_requests(struct run *run, const struct told *told)
{
    struct run_control *control = &run->meeting.control;
    if (told->stop == RUN_STOP_NONE)
        (void)run_control_cancel_stop(control);
    else
        run_control_stop(control, (enum run_stop)told->stop);
    if (told->lr > 0)
        atomic_store(&control->lr, told->lr);
    if (told->epochs > 0)
        (void)run_control_set_epochs(control, told->epochs);
    atomic_store(&control->paused, told->paused);
    run->meeting.minutes_are_up = told->minutes_are_up;
}

static void tell_devices(struct run *run, struct told *told)
{
    const struct host_link *link = run->ranks.link;
    for (int i = 0; i < run->ranks.here; i++) {
        struct rank *rank = &run->ranks.rank[run->ranks.first + i];
        struct told_device *device = &told->device[i];
        device->part = *part_of(run, rank);
        device->result = rank->result;
        device->facts = rank->facts;
        device->plan_s = rank->plan_s;
        device->memory_bytes = atomic_load(&rank->memory_bytes);
        device->activity = atomic_load(&rank->activity);
        if (link->sense)
            link->sense(link->sensors, rank->options.id, &rank->load);
        device->load = rank->load;
        snprintf(device->model, sizeof device->model, "%s", rank->model);
    }
}

static void take_devices(struct run *run, int host, const struct told *told)
{
    const int *begin = run->ranks.map.begin;
    for (int i = begin[host]; i < begin[host + 1]; i++) {
        struct rank *rank = &run->ranks.rank[i];
        const struct told_device *device = &told->device[i - begin[host]];
        *part_of(run, rank) = device->part;
        rank->result = device->result;
        rank->facts = device->facts;
        rank->plan_s = device->plan_s;
        atomic_store(&rank->memory_bytes, device->memory_bytes);
        atomic_store(&rank->activity, device->activity);
        rank->load = device->load;
        snprintf(rank->model, sizeof rank->model, "%s", device->model);
    }
}

/* The first rank's, so that the run's own thread is there for its viewers while others are slow. */
static bool gather(void *context, int index, struct error *err)
{
    const struct ranks *ranks = context;
    struct run *run = ranks->owner;
    const struct meeting *meeting = &run->meeting;
    struct host_link *link = ranks->link;
    if (index != ranks->first)
        return true;
    atomic_store(&run->ranks.ends[0].waits, true);
    const bool ok = link->gather(link->context, meeting->own, meeting->bytes, meeting->all, err);
    atomic_store(&run->ranks.ends[0].waits, false);
    return ok;
}

bool meet(struct run *run, struct error *err)
{
    struct meeting *meeting = &run->meeting;
    struct host_link *link = run->ranks.link;
    struct told *own = (struct told *)(void *)meeting->own;
    if (!link)
        return true;
    if (link->index == 0)
        tell_requests(run, own);
    own->cut = atomic_load(&run->ranks.cut);
    tell_devices(run, own);
    if (!run_task(run, gather, 0, err))
        return false;
    bool cut = false;
    for (int h = 0; h < link->hosts.count; h++) {
        const struct told *told =
            (struct told *)(void *)(meeting->all + (size_t)h * meeting->bytes);
        if (h == 0)
            take_requests(run, told);
        if (h != link->index)
            take_devices(run, h, told);
        cut = cut || told->cut;
    }
    /* Not what has been asked for since: the others will hear of that next time. */
    atomic_store(&run->ranks.cut, cut);
    return true;
}

static bool share(struct run *run, int host, void *data, size_t bytes, struct error *err)
{
    struct host_link *link = run->ranks.link;
    return !link || bytes == 0 || link->broadcast(link->context, host, data, bytes, err);
}

bool meet_share(struct run *run, void *data, size_t bytes, struct error *err)
{
    return share(run, 0, data, bytes, err);
}

bool meet_share_of(struct run *run, int rank, void *data, size_t bytes, struct error *err)
{
    return share(run, run->ranks.link ? host_map_find(&run->ranks.map, rank) : 0, data, bytes, err);
}

/* What a run begins with when it resumes. */
static bool share_checkpoint(struct run *run, struct error *err)
{
    struct checkpoints *checkpoints = &run->checkpoints;
    struct checkpoint *from = &checkpoints->resumed;
    const struct net *net = run->work.net;
    const struct state_arrays arrays = optimizer_states(&run->spec);
    if (!run->checkpoints.keep.resumes)
        return true;
    if (!meet_is_first(run) && !checkpoint_create(net, &arrays, from, err))
        return false;
    run->ranks.resumed = from->state;
    return meet_share(run, &from->place, sizeof from->place, err) &&
           meet_share(run, from->state,
                      (size_t)arrays.count * net->value_count * sizeof *from->state, err);
}

bool meet_share_weights(struct run *run, struct error *err)
{
    struct net *net = run->work.net;
    struct weights *weights = &run->work.weights;
    if (!run->ranks.link)
        return true;
    return share_checkpoint(run, err) &&
           meet_share(run, weights->values, net->value_count * sizeof *weights->values, err) &&
           meet_share(run, &weights->batches_tracked, sizeof weights->batches_tracked, err) &&
           meet_share(run, &run->checkpoints.tracked_before, sizeof run->checkpoints.tracked_before,
                      err) &&
           meet_share(run, net->mean, sizeof net->mean, err) &&
           meet_share(run, net->std, sizeof net->std, err) &&
           meet_share(run, &net->mean_count, sizeof net->mean_count, err) &&
           meet_share(run, &net->std_count, sizeof net->std_count, err);
}

/* The rows, or, where they are read during the run, their labels. */
static bool add_rows(struct sha256 *sum, const struct dataset *set, struct error *err)
{
    const int shape[] = {set->rows, set->channels, set->height, set->width, set->classes};
    const size_t rows = (size_t)set->rows;
    const size_t values = rows * (size_t)set->channels * (size_t)set->height * (size_t)set->width;
    const bool labels = rows > 0 && set->labels, there = rows > 0 && !set->changes;
    return sha256_add(sum, shape, sizeof shape, err) &&
           (!labels || sha256_add(sum, set->labels, rows, err)) &&
           (!there || !set->pixels || sha256_add(sum, set->pixels, values, err)) &&
           (!there || !set->numbers ||
            sha256_add(sum, set->numbers, values * sizeof *set->numbers, err));
}

static bool digest_data(const struct data *data, unsigned char *out, struct error *err)
{
    struct sha256 *sum = sha256_begin(err);
    const bool ok = sum && add_rows(sum, &data->train, err) && add_rows(sum, &data->test, err) &&
                    add_rows(sum, &data->validation, err) && sha256_end(sum, out, err);
    sha256_free(sum);
    return ok;
}

bool meet_compare_data(struct run *run, struct error *err)
{
    struct host_link *link = run->ranks.link;
    unsigned char own[SHA256_BYTES], all[SPEC_MAX_HOSTS][SHA256_BYTES];
    if (!link)
        return true;
    if (!digest_data(&run->work.data, own, err) ||
        !link->gather(link->context, own, sizeof own, all, err))
        return false;
    for (int h = 1; h < link->hosts.count; h++)
        if (memcmp(all[h], all[0], SHA256_BYTES) != 0)
            return error_set(err, ERROR_USAGE,
                             "%s has other rows of %s than %s: copy the data of one host to all "
                             "others",
                             link->hosts.name[h], run->work.data.name, link->hosts.name[0]);
    return true;
}

/* What a host sends of the gradients: once around a ring and once more, less its own part. */
static double sent_part(const struct run *run)
{
    const double hosts = run->ranks.link->hosts.count;
    const double parts = run->ranks.group.transport == SYNC_COLLECTIVE ? run->ranks.count : hosts;
    return hosts > 1 ? 2 * (parts - 1) / parts : 0;
}

bool meet_add_network(struct run *run, json_t *event)
{
    const struct host_link *link = run->ranks.link;
    if (!link || !link->summed_s)
        return true;
    const struct epoch_metrics *epoch = &run->metrics.epoch;
    const double summed_s = link->summed_s(link->context);
    const double gradients = (double)epoch->steps * run->ranks.strategy->step_bytes(&run->ranks);
    json_t *network = json_pack("{s:I, s:f, s:f}", "hosts", (json_int_t)link->hosts.count,
                                "seconds", epoch->summed_s + summed_s - run->meeting.summed_s,
                                "bytes", sent_part(run) * gradients);
    run->meeting.summed_s = summed_s;
    return network && json_object_set_new(event, "network", network) == 0;
}
