/* SPDX-License-Identifier: MIT */
#include "engine/server/record/restore.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/server/record/labels.h"
#include "spec/json.h"

static void take_text(char *to, size_t size, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(to, size, "%s", text ? text : "");
}

static char *copy_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? strdup(text) : NULL;
}

static enum run_status status_of(const json_t *object)
{
    enum run_status status = run_status_find(json_string_value(json_object_get(object, "status")));
    return status >= RUN_DONE ? status : RUN_INTERRUPTED;
}

static void take_figures(struct record *record, const json_t *object)
{
    record->status = status_of(object);
    record->ended = record->away = true;
    record->model = copy_text(object, "model");
    record->data = copy_text(object, "data");
    record->params = (long)member_integer(object, "params");
    record->epochs = (long)member_integer(object, "epochs");
    record->epochs_done = (long)member_integer(object, "epochs_done");
    record->retunes = (long)member_integer(object, "retunes");
    record->measured_from = (long)member_integer(object, "measured_from");
    record->train_acc = member_number(object, "train_acc");
    record->test_acc = member_number(object, "test_acc");
    record->best_test_acc = member_number(object, "best_test_acc");
    record->val_acc = member_number(object, "val_acc");
    record->best_val_acc = member_number(object, "best_val_acc");
    record->s_per_epoch = member_number(object, "s_per_epoch");
    record->samples_per_s = member_number(object, "samples_per_s");
    record->energy_j = member_number(object, "energy_j");
    record->samples_per_j = member_number(object, "samples_per_j");
    record->submitted_at = member_number(object, "submitted_at");
    record->started_at = member_number(object, "started_at");
    record->ended_at = member_number(object, "ended_at");
    warnings_restore(&record->warnings, json_object_get(object, "warnings"),
                     json_object_get(object, "warning_counts"), record->submitted_at);
    take_text(record->note, sizeof record->note, object, "note");
    take_text(record->error, sizeof record->error, object, "error");
    take_text(record->reason, sizeof record->reason, object, "reason");
    record->lr =
        json_is_number(json_object_get(object, "lr")) ? member_number(object, "lr") : record->lr;
}

struct record *record_restore(const json_t *object)
{
    struct spec spec;
    struct error ignored = ERROR_INIT;
    long number = (long)member_integer(object, "run");
    spec_init(&spec);
    /* A spec with fields of another version is better than none. */
    bool known = spec_from_json(&spec, json_object_get(object, "spec"), &ignored);
    /* What an older engine did not know of, no recipe may fill in: the run did without. */
    spec.resolved = true;
    struct record *record = known && number > 0 ? record_new(number, &spec) : NULL;
    spec_free(&spec);
    if (!record)
        return NULL;
    take_figures(record, object);
    if (record_change_tags(record, json_object_get(object, "tags"), NULL, &ignored))
        return record;
    record_free(record);
    return NULL;
}

static double or_zero(double value)
{
    return isfinite(value) ? value : 0;
}

/* What point_json wrote, back to the sums that it was made of. */
static struct point point_of(const json_t *event)
{
    long rows = (long)member_integer(event, "rows");
    double rate = or_zero(member_number(event, "samples_per_s"));
    return (struct point){
        .epoch = or_zero(member_number(event, "epoch")),
        .step = (long)member_integer(event, "step"),
        .steps = (long)member_integer(event, "steps"),
        .rows = rows,
        .correct = lround(or_zero(member_number(event, "train_acc")) * (double)rows),
        .loss_sum = member_number(event, "train_loss") * (double)rows,
        .seconds = rate > 0 ? (double)rows / rate : 0,
        .lr = member_number(event, "lr"),
    };
}

bool record_past_read(struct record_past *past, const json_t *events, const json_t *points)
{
    size_t index, count = json_array_size(points);
    const json_t *value;
    struct point *list = calloc(count ? count : 1, sizeof *list);
    *past = (struct record_past){.curve = {.points = list, .capacity = count ? count : 1}};
    if (!list || !record_read_events(&past->events, events)) {
        record_past_free(past);
        return false;
    }
    json_array_foreach(points, index, value)
    {
        list[past->curve.count++] = point_of(value);
    }
    return true;
}

void record_past_free(struct record_past *past)
{
    event_buffer_free(&past->events);
    curve_free(&past->curve);
}

void record_load(struct record *record, struct record_past *past)
{
    struct curve *curve = &record->curve;
    record_replace_events(record, &past->events);
    curve_free(curve);
    curve->points = past->curve.points;
    curve->count = past->curve.count;
    curve->capacity = past->curve.capacity;
    record->away = false;
}
