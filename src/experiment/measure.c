/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "experiment/figures.h"

/* Seconds and rows that are counted, and where the devices' time went meanwhile. */
struct sums {
    double device_s, sync_s, wait_s, rate, rows;
    int devices, rates;
};

static bool make_room(struct study_measure *measure, size_t count, struct error *err)
{
    measure->s_per_epoch = calloc(count, sizeof(double));
    measure->samples_per_s = calloc(count, sizeof(double));
    return (measure->s_per_epoch && measure->samples_per_s) || error_memory(err, "epochs");
}

static void add_sample(struct study_measure *measure, double seconds, double rate)
{
    if (!(seconds > 0) || !isfinite(seconds) || !isfinite(rate))
        return;
    measure->s_per_epoch[measure->samples] = seconds;
    measure->samples_per_s[measure->samples++] = rate;
}

static void add_devices(struct sums *sums, const json_t *epoch)
{
    double seconds = member_number(epoch, "seconds"), steps = member_number(epoch, "steps");
    size_t index;
    json_t *device;
    json_array_foreach(json_object_get(epoch, "devices"), index, device)
    {
        double sync = member_number(device, "sync_s"), wait = member_number(device, "wait_s");
        double rate = member_number(device, "samples_per_s"), rows = member_number(device, "rows");
        if (isfinite(seconds) && isfinite(sync) && isfinite(wait)) {
            sums->device_s += seconds;
            sums->sync_s += sync;
            sums->wait_s += wait;
        }
        if (isfinite(rate) && isfinite(rows) && steps > 0) {
            sums->rate += rate;
            sums->rows += rows / steps;
            sums->rates++;
        }
    }
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Of a single epoch, the steps behind the first tenth; their speed gives the epoch's seconds. */
static void measure_steps(struct study_measure *measure, const json_t *epoch, const json_t *points)
{
    double steps = member_number(epoch, "steps"), rows = 0, seconds = 0, skipped = 0;
    size_t index;
    json_t *point;
    json_array_foreach(points, index, point)
    {
        double end = member_number(point, "step"), length = member_number(point, "steps");
        double more = member_number(point, "rows"), rate = member_number(point, "samples_per_s");
        if (!(end - length >= fmax(1, steps / 10)) || !(rate > 0)) {
            skipped += isfinite(length) ? length : 0;
            continue;
        }
        rows += more;
        seconds += more / rate;
    }
    double whole = member_number(epoch, "rows");
    measure->warmup = rows > 0 && skipped > 0 ? WARMUP_STEPS : WARMUP_KEPT;
    if (measure->warmup == WARMUP_STEPS)
        add_sample(measure, whole * seconds / rows, rows / seconds);
    else
        add_sample(measure, member_number(epoch, "seconds"), member_number(epoch, "samples_per_s"));
}

static bool is_whole(const json_t *epoch)
{
    return !json_is_true(json_object_get(epoch, "partial"));
}

static void measure_epochs(struct study_measure *measure, const json_t *epochs,
                           const json_t *points)
{
    struct sums sums = {.devices = 0};
    size_t index, count = json_array_size(epochs), whole = 0;
    json_t *epoch;
    json_array_foreach(epochs, index, epoch)
    {
        whole += is_whole(epoch);
    }
    bool single = whole < 2;
    measure->warmup = single ? WARMUP_KEPT : WARMUP_EPOCH;
    if (single && count > 0)
        measure_steps(measure, json_array_get(epochs, 0), points);
    json_array_foreach(epochs, index, epoch)
    {
        if (!single && (index == 0 || !is_whole(epoch)))
            continue;
        add_devices(&sums, epoch);
        if (!single)
            add_sample(measure, member_number(epoch, "seconds"),
                       member_number(epoch, "samples_per_s"));
    }
    measure->sync_share = ratio(sums.sync_s, sums.device_s);
    measure->wait_share = ratio(sums.wait_s, sums.device_s);
    measure->device_rate = ratio(sums.rate, sums.rates);
    measure->rows = ratio(sums.rows, sums.rates);
}

static bool take_medians(struct study_measure *measure, struct error *err)
{
    size_t count = measure->samples;
    double *copy = calloc(count + 1, sizeof *copy);
    if (!copy)
        return error_memory(err, "epochs");
    memcpy(copy, measure->s_per_epoch, count * sizeof *copy);
    measure->median_s_per_epoch = study_spread(copy, count).median;
    memcpy(copy, measure->samples_per_s, count * sizeof *copy);
    measure->median_samples_per_s = study_spread(copy, count).median;
    free(copy);
    return true;
}

/* Seconds of training, evaluation excluded, until the target was reached. */
static double seconds_to(const json_t *epochs, double target)
{
    double seconds = 0;
    size_t index;
    json_t *epoch;
    json_array_foreach(epochs, index, epoch)
    {
        seconds += member_number(epoch, "seconds");
        if (member_number(epoch, "test_acc") >= target)
            return seconds;
    }
    return NAN;
}

bool study_measure_run(const json_t *object, double target_acc, struct study_measure *measure,
                       struct error *err)
{
    const json_t *epochs = json_object_get(object, "epochs");
    size_t count = json_array_size(epochs);
    *measure = (struct study_measure){.test_acc = NAN};
    if (!make_room(measure, count + 1, err))
        return false;
    measure_epochs(measure, epochs, json_object_get(object, "points"));
    measure->test_acc = member_number(json_array_get(epochs, count ? count - 1 : 0), "test_acc");
    measure->target_s = seconds_to(epochs, target_acc);
    measure->wall_s = member_number(object, "ended_at") - member_number(object, "started_at");
    return take_medians(measure, err);
}

void study_measure_free(struct study_measure *measure)
{
    free(measure->s_per_epoch);
    free(measure->samples_per_s);
    *measure = (struct study_measure){0};
}
