/* SPDX-License-Identifier: MIT */
#include "ui/chart/rest.h"

#include <math.h>
#include <stdlib.h>

#include "spec/schedule.h"

/* More steps than any run has; doubles up to here are whole numbers. */
static const double MOST_STEPS = 1e15;

static bool is_step(double value)
{
    return value >= 0 && value <= MOST_STEPS;
}

/* The share of the run's rate that the step after `step` others has. */
static double share_at(const struct state_live *live, struct lr_length length, long step)
{
    long last = length.total_steps - 1;
    return lr_share(&live->schedule, length, step < last ? step : last);
}

/* Where the run will end: after its last step, or the epoch that it stops after. */
static long end_of(const struct state_live *live)
{
    double epoch = live->epoch * live->steps_per_epoch;
    return (long)(live->stop_after_epoch && epoch < live->total_steps ? epoch : live->total_steps);
}

/* `begin`..`end` at steps that stay the same as the run advances. */
static int fill(const struct state_live *live, double run_lr, long begin, long end,
                struct chart_point *points)
{
    const struct lr_length length = {(long)live->steps_per_epoch, (long)live->total_steps};
    long stride = 1, step = begin;
    int count = 0;
    while ((end - begin) / stride > REST_MOST - 3)
        stride *= 2;
    while (step <= end) {
        double share = share_at(live, length, step > begin ? step - 1 : step);
        points[count++] =
            (struct chart_point){(double)step / (double)length.epoch_steps, run_lr * share};
        long next = step - step % stride + stride;
        step = step < end && next > end ? end : next;
    }
    return count;
}

int rest_copy(const struct state_live *live, double begin, double from, double to,
              struct chart_point **points, struct error *err)
{
    double each = live->steps_per_epoch, total = live->total_steps;
    *points = NULL;
    if (lr_is_constant(&live->schedule) || !(each >= 1 && total >= 1) || !is_step(each) ||
        !is_step(total) || !is_step(live->step) || !is_step(begin))
        return 0;
    struct lr_length length = {(long)each, (long)total};
    double run_lr = live->lr / share_at(live, length, (long)live->step);
    double first = fmax(begin, floor(from * each)),
           last = fmin((double)end_of(live), ceil(to * each));
    if (!isfinite(run_lr) || !(first < last))
        return 0;
    *points = calloc(REST_MOST, sizeof **points);
    if (!*points) {
        error_memory(err, "the chart");
        return -1;
    }
    return fill(live, run_lr, (long)first, (long)last, *points);
}
