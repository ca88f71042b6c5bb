/* SPDX-License-Identifier: MIT */
#include "tests/fakes/slow_backend.h"

#include <string.h>

#include "engine/backends/registry.h"
#include "engine/device/cpu/backend.h"

double slow_row_s[SPEC_MAX_DEVICES];

/* Of the device of this thread: a device is used by the thread that opened it. */
static _Thread_local int device_index;
static _Thread_local double now;

double slow_clock(void)
{
    return now;
}

static bool slow_open(const struct device_options *options, struct device **out, struct error *err)
{
    device_index = options->id.index;
    return cpu_backend.open(options, out, err);
}

static bool slow_run(struct device *device, struct plan *plan, const struct batch *batch,
                     struct batch_result *result, struct error *err)
{
    now += slow_row_s[device_index] * batch->rows;
    return cpu_backend.plan_run(device, plan, batch, result, err);
}

const struct backend *backend_find(enum device_kind kind, const char **why)
{
    static struct backend slow;
    *why = "there are only CPU devices in this test";
    /* First by the test's one thread, before there are workers. */
    if (!slow.open) {
        slow = cpu_backend;
        slow.open = slow_open;
        slow.plan_run = slow_run;
    }
    return kind == DEVICE_CPU ? &slow : NULL;
}

bool devices_resolve(const struct device_list *choice, struct device_id *ids, int *count,
                     struct error *err)
{
    if (choice->choice != DEVICES_LISTED && choice->choice != DEVICES_DEFAULT)
        return error_set(err, ERROR_USAGE, "this machine has no GPU");
    *count = choice->choice == DEVICES_LISTED ? choice->count : 1;
    memset(ids, 0, sizeof *ids);
    memcpy(ids, choice->id, (size_t)choice->count * sizeof *ids);
    return true;
}
