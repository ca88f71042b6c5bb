/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/pass/step_times.h"

#include <stdlib.h>

#include "engine/device/cuda/pass/plan.h"

bool step_times_make(struct plan *plan, struct error *err)
{
    struct step_times *times = &plan->times;
    struct plan_core *core = &plan->core;
    if (!core->times)
        return true;
    plan->device->profiles = true;
    times->list = core->times;
    times->count = core->step_count;
    core->times = NULL; /* else the host's clock would tell what queueing a step takes */
    times->events = calloc(2 * (size_t)times->count, sizeof(*times->events));
    if (!times->events)
        return error_memory(err, "a profile");
    for (int i = 0; i < 2 * times->count; i++)
        if (!cuda_check(cudaEventCreate(&times->events[i]), "an event of the profile", err))
            return false;
    return true;
}

void step_times_free(struct step_times *times)
{
    for (int i = 0; times->events && i < 2 * times->count; i++)
        if (times->events[i])
            (void)cudaEventDestroy(times->events[i]);
    free(times->events);
    free(times->list);
}

static bool mark(const struct plan *plan, int event, struct error *err)
{
    return cuda_check(cudaEventRecord(plan->times.events[event], plan->device->stream),
                      "timing a step", err) ||
           error_prefix(err, "%s", plan->device->name);
}

bool step_times_queue(struct plan *plan, int begin, int end, struct error *err)
{
    for (int i = begin; i < end; i++)
        if (!mark(plan, 2 * i, err) ||
            !plan_core_run(&plan->core, plan, plan->replica->base.net, plan->device->name, i, i + 1,
                           err) ||
            !mark(plan, 2 * i + 1, err))
            return false;
    return true;
}

bool step_times_take(struct step_times *times, int begin, int end, struct error *err)
{
    for (int i = begin; i < end; i++) {
        float milliseconds = 0;
        if (!cuda_check(
                cudaEventElapsedTime(&milliseconds, times->events[2 * i], times->events[2 * i + 1]),
                "the time of a step", err))
            return false;
        times->list[i].calls++;
        times->list[i].seconds += 1e-3 * (double)milliseconds;
    }
    return true;
}
