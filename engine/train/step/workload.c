/* SPDX-License-Identifier: MIT */
#include "engine/train/step/workload.h"

#include <stdlib.h>

#include "base/paths.h"
#include "engine/model/file.h"
#include "engine/train/split/order.h"

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

static bool open_data(struct workload *work, const struct spec *spec, struct error *err)
{
    struct data *data = &work->data;
    if (!data_open(spec->data, spec->data_dir, spec->seed, data, err) ||
        !take_rows("train", spec->train_rows, data, &data->train, &work->train_rows, err) ||
        !take_rows("test", spec->test_rows, data, &data->test, &work->test_rows, err))
        return false;
    work->order = malloc((size_t)work->train_rows * sizeof *work->order);
    work->test_order = malloc((size_t)work->test_rows * sizeof *work->test_order);
    if (!work->order || !work->test_order)
        return error_memory(err, "order of the rows");
    struct order order = order_make(ORDER_SEQUENTIAL, 0, 1, (uint32_t)work->test_rows);
    order_fill(&order, work->test_order);
    work->steps_per_epoch = (work->train_rows + spec->batch - 1) / spec->batch;
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

bool workload_open(struct workload *work, const struct spec *spec, struct error *err)
{
    return open_data(work, spec, err) && load_net(work, spec, err);
}

void workload_close(struct workload *work)
{
    weights_free(&work->weights);
    net_free(work->net);
    data_close(&work->data);
    free(work->test_order);
    free(work->order);
}

long workload_steps(const struct workload *work, long epochs, long limit)
{
    long steps = epochs * work->steps_per_epoch;
    return limit > 0 && limit < steps ? limit : steps;
}
