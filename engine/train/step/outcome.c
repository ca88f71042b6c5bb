/* SPDX-License-Identifier: MIT */
#include "engine/train/step/outcome.h"

#include <math.h>

#include "base/json.h"

static bool add_validation(const struct workload *work, json_t *event, double loss, double accuracy)
{
    return work->validation.rows == 0 ||
           (json_object_set_new(event, "val_loss", json_finite(loss)) == 0 &&
            json_object_set_new(event, "val_acc", json_finite(accuracy)) == 0);
}

bool outcome_add_epoch(const struct workload *work, const struct epoch_metrics *epoch,
                       json_t *event)
{
    return add_validation(work, event, epoch->val_loss, epoch->val_acc);
}

/* Where test rows were kept for the end. */
static bool add_tested(const struct metrics *metrics, long epoch, bool best, json_t *event)
{
    if (!isfinite(metrics->val_acc) || !isfinite(metrics->test_acc))
        return true;
    return json_object_set_new(event, "tested", json_string(best ? "best" : "last")) == 0 &&
           json_object_set_new(event, "tested_epoch", json_integer(epoch)) == 0;
}

bool outcome_add_end(const struct workload *work, const struct metrics *metrics,
                     const struct best *best, bool best_saved, json_t *event)
{
    const long epoch = best_saved ? best->epoch : metrics->epoch.epoch;
    return (!*best->reason ||
            json_object_set_new(event, "reason", json_any_text(best->reason)) == 0) &&
           add_validation(work, event, metrics->val_loss, metrics->val_acc) &&
           add_tested(metrics, epoch, best_saved, event);
}
