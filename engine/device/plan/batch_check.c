/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/batch_check.h"

bool batch_check_rows(const struct batch *batch, const struct net *net, struct error *err)
{
    const struct dataset *data = batch->data;
    const size_t given = (size_t)data->channels * (size_t)data->height * (size_t)data->width;
    if (given != net_shape_size(net->input))
        return error_set(err, ERROR_FAILED,
                         "the data have %zu numbers a row, the network reads %zu", given,
                         net_shape_size(net->input));
    for (int n = 0; n < batch->rows; n++)
        if (batch->index[n] >= (uint32_t)data->rows)
            return error_set(err, ERROR_FAILED, "row %u asked for of %d", batch->index[n],
                             data->rows);
    return true;
}

bool batch_check_labels(const struct batch *batch, const struct net *net, struct error *err)
{
    const uint8_t *labels = batch->data->labels;
    for (int n = 0; n < batch->rows; n++)
        if (labels[batch->index[n]] >= net->classes)
            return error_set(err, ERROR_FAILED, "row %u has label %d, the network %d classes",
                             batch->index[n], labels[batch->index[n]], net->classes);
    return true;
}
