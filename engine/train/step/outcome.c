/* SPDX-License-Identifier: MIT */
#include "engine/train/step/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static bool add_validation(const struct workload *work, json_t *event, double loss, double accuracy)
{
    return work->validation.rows == 0 ||
           (json_object_set_new(event, "val_loss", json_finite(loss)) == 0 &&
            json_object_set_new(event, "val_acc", json_finite(accuracy)) == 0);
}

static bool add_speed(const struct workload *work, const struct metrics *metrics, json_t *object)
{
    struct run_speed speed = metrics_speed(metrics, (double)work->train_rows);
    return json_object_set_new(object, "s_per_epoch", json_finite(speed.s_per_epoch)) == 0 &&
           json_object_set_new(object, "samples_per_s", json_finite(speed.samples_per_s)) == 0;
}

bool outcome_add_epoch(const struct workload *work, const struct metrics *metrics, json_t *event)
{
    json_t *so_far = json_object();
    return json_object_set_new(event, "so_far", so_far) == 0 && add_speed(work, metrics, so_far) &&
           add_validation(work, event, metrics->epoch.val_loss, metrics->epoch.val_acc);
}

/* Where test rows were kept for the end. */
static bool add_tested(const struct metrics *metrics, long epoch, bool best, json_t *event)
{
    if (!isfinite(metrics->val_acc) || !isfinite(metrics->test_acc))
        return true;
    return json_object_set_new(event, "tested", json_string(best ? "best" : "last")) == 0 &&
           json_object_set_new(event, "tested_epoch", json_integer(epoch)) == 0;
}

/* Was it the limit of steps that ended the run? A range test counts nothing but steps. */
static bool limited(const struct workload *work, const struct metrics *metrics,
                    const struct spec *spec, const json_t *event)
{
    const char *status = json_string_value(json_object_get(event, "status"));
    return status && strcmp(status, "done") == 0 && spec->schedule.shape != LR_RANGE &&
           spec->max_steps > 0 && metrics->steps == spec->max_steps &&
           spec->max_steps < spec->epochs * work->steps_per_epoch;
}

/* Why the run ended before its last epoch, where it did. */
static bool add_reason(const struct workload *work, const struct metrics *metrics,
                       const struct best *best, const struct spec *spec, json_t *event)
{
    char text[sizeof best->reason] = "";
    if (*best->reason)
        snprintf(text, sizeof text, "%s", best->reason);
    else if (limited(work, metrics, spec, event))
        snprintf(text, sizeof text, "max-steps %ld, where %ld epoch%s would take %ld",
                 spec->max_steps, spec->epochs, plural(spec->epochs),
                 spec->epochs * work->steps_per_epoch);
    return !*text || json_object_set_new(event, "reason", json_any_text(text)) == 0;
}

bool outcome_add_end(const struct workload *work, const struct metrics *metrics,
                     const struct best *best, const struct spec *spec, json_t *event)
{
    const bool best_saved = spec->save_best;
    const long epoch = best_saved ? best->epoch : metrics->epoch.epoch;
    return add_speed(work, metrics, event) && add_reason(work, metrics, best, spec, event) &&
           add_validation(work, event, metrics->val_loss, metrics->val_acc) &&
           add_tested(metrics, epoch, best_saved, event);
}
