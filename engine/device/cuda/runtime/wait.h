/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/runtime/device.h"

/*
 * Wait until all that was queued on `stream` is done. Never a bare synchronize: polls, and fails
 * when the run is called off or after watch.limit_s. `what` is being waited for.
 */
bool cuda_wait(const struct device *device, cudaStream_t stream, const char *what,
               struct error *err);
/* The same for what was queued before the event was recorded. */
bool cuda_wait_event(const struct device *device, cudaEvent_t event, const char *what,
                     struct error *err);
/* Have what is queued from here on wait for what another GPU does before `event`; if that does not
 * end, it is to blame until cuda_wait_is_over(). */
bool cuda_wait_for_other(struct device *device, cudaEvent_t event, const char *name,
                         struct error *err);
void cuda_wait_is_over(struct device *device);
/* Sleep briefly between two polls of something waited for since `began`; not in the first
 * microseconds. */
void cuda_rest(double began);
/* While `what` has been waited for since `began`: is there no reason to give up? */
bool cuda_still_waits(const struct device *device, const char *what, double began,
                      struct error *err);
