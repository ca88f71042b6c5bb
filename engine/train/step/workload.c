/* SPDX-License-Identifier: MIT */
#include "engine/train/step/workload.h"

#include <stdlib.h>

#include "base/paths.h"
#include "engine/data/statistics.h"
#include "engine/model/file.h"
#include "engine/train/split/order.h"
#include "spec/data.h"

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

/* All rows of a set, in their order. */
static bool take_set(const struct dataset *data, long rows, struct row_set *set, struct error *err)
{
    set->data = data;
    set->order = malloc((size_t)rows * sizeof *set->order);
    if (!set->order)
        return error_memory(err, "order of the rows");
    for (long i = 0; i < rows; i++)
        set->order[i] = (uint32_t)i;
    set->rows = rows;
    return true;
}

/* The rows for validation: the data's own, or part of those for training. */
static bool take_validation(struct workload *work, const struct spec *spec, struct error *err)
{
    const struct data *data = &work->data;
    struct validation found = {0};
    if (data->validation.rows > 0)
        return spec->validation > 0
                   ? error_set(err, ERROR_USAGE,
                               "validation %g: %s has validation pictures of its own: leave "
                               "validation out",
                               spec->validation, data->name)
                   : take_set(&data->validation, data->validation.rows, &work->validation, err);
    if (!(spec->validation > 0))
        return true;
    bool ok = validation_divide(data, work->train_rows, spec->validation, &found, err);
    work->train_rows = found.train_rows;
    work->train_own = found.train;
    work->validation = (struct row_set){&data->train, found.own, found.rows};
    return ok;
}

static bool open_data(struct workload *work, const struct spec *spec,
                      const struct data_watch *watch, struct error *err)
{
    struct data *data = &work->data;
    const struct data_request request = spec_data(spec, watch);
    long test_rows;
    if (!data_open(&request, data, err) ||
        !take_rows("train", spec->train_rows, data, &data->train, &work->train_rows, err) ||
        !take_rows("test", spec->test_rows, data, &data->test, &test_rows, err) ||
        !take_set(&data->test, test_rows, &work->test, err) || !take_validation(work, spec, err))
        return false;
    work->order = malloc((size_t)work->train_rows * sizeof *work->order);
    if (!work->order)
        return error_memory(err, "order of the rows");
    work->steps_per_epoch = (work->train_rows + spec->batch - 1) / spec->batch;
    /* Test rows are kept for the end of a run that has others to choose by. */
    bool trains = workload_steps(work, spec->epochs, spec->max_steps) > 0;
    work->evaluated = trains && work->validation.rows > 0 ? &work->validation : &work->test;
    return true;
}

static bool load_net(struct workload *work, const struct spec *spec, struct error *err)
{
    const struct dataset *train = &work->data.train;
    struct net_shape input = {train->channels, train->height, train->width};
    char *path = paths_find_model(spec->model, err);
    bool ok = path && net_load(path, input, train->classes, &work->net, err);
    free(path);
    return ok;
}

bool workload_open(struct workload *work, const struct spec *spec, const struct data_watch *watch,
                   struct error *err)
{
    return open_data(work, spec, watch, err) && load_net(work, spec, err);
}

void workload_normalize(struct workload *work)
{
    struct net *net = work->net;
    const bool mean = net->mean_of_data && net->mean_count == 0;
    const bool std = net->std_of_data && net->std_count == 0;
    double means[NET_MOST_NORMALIZED], stds[NET_MOST_NORMALIZED];
    if (!work->data.train.pixels || (!mean && !std))
        return;
    dataset_statistics(&work->data.train, work->train_own, work->train_rows, means, stds);
    for (int c = 0; c < net->input.c; c++) {
        if (mean)
            net->mean[c] = (float)means[c];
        const float deviation = (float)stds[c];
        if (std)
            net->std[c] = (double)deviation < NET_LEAST_STD ? 1 : deviation;
    }
    net->mean_count = mean ? net->input.c : net->mean_count;
    net->std_count = std ? net->input.c : net->std_count;
}

void workload_close(struct workload *work)
{
    weights_free(&work->weights);
    net_free(work->net);
    data_close(&work->data);
    free(work->validation.order);
    free(work->test.order);
    free(work->train_own);
    free(work->order);
}

void workload_fill_order(struct workload *work, const struct order *order)
{
    order_fill(order, work->order);
    for (long i = 0; work->train_own && i < work->train_rows; i++)
        work->order[i] = work->train_own[work->order[i]];
}

long workload_steps(const struct workload *work, long epochs, long limit)
{
    long steps = epochs * work->steps_per_epoch;
    return limit > 0 && limit < steps ? limit : steps;
}
