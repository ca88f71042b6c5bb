/* SPDX-License-Identifier: MIT */
#include "engine/server/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "spec/likeness.h"

#define STEPS_KEPT 20000

struct record *record_new(long number, struct spec *spec)
{
    struct record *record = calloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->number = number;
    record->status = RUN_QUEUED;
    record->spec = *spec;
    record->likeness = spec_likeness(spec);
    record->epochs = spec->epochs;
    record->lr = spec->lr;
    spec_init(spec);
    run_control_init(&record->control);
    event_buffer_init(&record->events, STEPS_KEPT, RECORD_MARKS);
    record->train_acc = record->test_acc = record->best_test_acc = NAN;
    record->val_acc = record->best_val_acc = NAN;
    record->s_per_epoch = record->samples_per_s = NAN;
    record->energy_j = record->samples_per_j = NAN;
    record->submitted_at = clock_date();
    record->started_at = record->ended_at = NAN;
    record->tags = json_array();
    if (record->tags)
        return record;
    record_free(record);
    return NULL;
}

bool record_keep(struct record *record)
{
    struct record *before = malloc(sizeof *before);
    if (!before)
        return false;
    *before = *record;
    record->before = before;
    return true;
}

void record_forget(struct record *record)
{
    if (record->before)
        spec_free(&record->before->spec);
    free(record->before);
    record->before = NULL;
}

struct record record_as_kept(const struct record *record)
{
    struct record was = *record->before;
    memcpy(was.note, record->note, sizeof was.note);
    was.tags = record->tags;
    was.warnings = record->warnings;
    was.environment = record->environment;
    was.events = record->events;
    was.curve = record->curve;
    was.model = record->model;
    was.data = record->data;
    was.readers = record->readers;
    was.deleted = record->deleted;
    return was;
}

void record_return(struct record *record)
{
    struct record was = record_as_kept(record);
    spec_free(&record->spec);
    free(record->before);
    *record = was;
}

void record_free(struct record *record)
{
    if (!record)
        return;
    record_forget(record);
    event_buffer_free(&record->events);
    curve_free(&record->curve);
    spec_free(&record->spec);
    json_decref(record->tags);
    warnings_free(&record->warnings);
    json_decref(record->environment);
    free(record->model);
    free(record->data);
    free(record);
}

const char *record_status_name(const struct record *record)
{
    if (record->status == RUN_RUNNING && atomic_load(&record->control.paused))
        return "paused";
    return run_status_name(record->status);
}

bool record_stops_after_epoch(const struct record *record)
{
    return record->status == RUN_RUNNING && atomic_load(&record->control.stop) == RUN_STOP_EPOCH;
}

bool record_stops(const struct record *record)
{
    return record->status == RUN_RUNNING && atomic_load(&record->control.stop) >= RUN_STOP_STEP;
}

size_t record_bytes(const struct record *record)
{
    return record->events.bytes + record->curve.capacity * sizeof *record->curve.points;
}

static void take_string(char **field, const json_t *event, const char *key)
{
    const char *value = json_string_value(json_object_get(event, key));
    char *copy = value ? strdup(value) : NULL;
    if (!copy)
        return;
    free(*field);
    *field = copy;
}

static void take_number(double *field, const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    if (json_is_number(value))
        *field = json_number_value(value);
}

/* The first epoch counts as long as it is the only whole one, as src/experiment/measure.h has it.
 */
static void take_energy(struct record *record, const json_t *event, long epoch)
{
    const double joules = member_number(event, "energy_j"), rows = member_number(event, "rows");
    const bool known = joules > 0 && rows > 0;
    if (json_is_true(json_object_get(event, "partial")) || epoch < record->measured_from)
        return;
    if (epoch <= 1 || epoch == record->measured_from) {
        record->energy_j = known ? joules : NAN;
        record->samples_per_j = known ? rows / joules : NAN;
        return;
    }
    if (known) {
        record->energy.count++;
        record->energy.joules += joules;
        record->energy.rows += rows;
    }
    record->energy_j =
        record->energy.count > 0 ? record->energy.joules / (double)record->energy.count : NAN;
    record->samples_per_j =
        record->energy.count > 0 ? record->energy.rows / record->energy.joules : NAN;
}

static void take_epoch(struct record *record, const json_t *event)
{
    const json_t *so_far = json_object_get(event, "so_far");
    long epoch = (long)json_integer_value(json_object_get(event, "epoch"));
    take_energy(record, event, epoch);
    record->epochs_done = epoch > record->epochs_done ? epoch : record->epochs_done + 1;
    take_number(&record->train_acc, event, "train_acc");
    take_number(&record->test_acc, event, "test_acc");
    take_number(&record->val_acc, event, "val_acc");
    if (epoch >= record->measured_from) {
        take_number(&record->s_per_epoch, so_far, "s_per_epoch");
        take_number(&record->samples_per_s, so_far, "samples_per_s");
    }
    if (!isnan(record->test_acc))
        record->best_test_acc = fmax(record->best_test_acc, record->test_acc);
    record->best_val_acc = fmax(record->best_val_acc, record->val_acc);
}

static void take_retune(struct record *record, const json_t *event)
{
    const char *what = json_string_value(json_object_get(event, "what"));
    record->retunes++;
    if (what && strcmp(what, "epochs") == 0)
        record->epochs = (long)json_integer_value(json_object_get(event, "to"));
}

static void take_end(struct record *record, const json_t *event)
{
    const char *error = json_string_value(json_object_get(event, "error"));
    const char *status = json_string_value(json_object_get(event, "status"));
    const char *reason = json_string_value(json_object_get(event, "reason"));
    take_number(&record->test_acc, event, "test_acc");
    /* Where an epoch told it, the end has nothing newer; after a resume that trained no other epoch
     * it knows less, a mean with the warm-up in it. */
    if (isnan(record->s_per_epoch)) {
        take_number(&record->s_per_epoch, event, "s_per_epoch");
        take_number(&record->samples_per_s, event, "samples_per_s");
    }
    snprintf(record->error, sizeof record->error, "%s", error ? error : "");
    snprintf(record->reason, sizeof record->reason, "%s", reason ? reason : "");
    if (run_status_find(status) >= RUN_DONE)
        record->status = run_status_find(status);
    record->ended = true;
    record->ended_at = clock_date();
}

void record_take_event(struct record *record, const json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name)
        return;
    if (strcmp(name, "run") == 0) {
        take_string(&record->model, event, "model");
        take_string(&record->data, event, "data");
        record->params = (long)json_integer_value(json_object_get(event, "params"));
        curve_begin(&record->curve, event);
    } else if (strcmp(name, "epoch") == 0) {
        take_epoch(record, event);
    } else if (strcmp(name, "retune") == 0) {
        take_retune(record, event);
    } else if (strcmp(name, "warning") == 0) {
        warnings_take(&record->warnings, event, clock_date());
    } else if (strcmp(name, "end") == 0) {
        take_end(record, event);
    }
}

/* Is the event one of the first `steps` steps? -1: none is, not even "run"; those that have no step
 * belong to all others. */
static bool belongs(const json_t *event, long steps)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    const json_t *step = json_object_get(event, "step");
    return steps >= 0 && name && strcmp(name, "end") != 0 &&
           (!json_is_integer(step) || json_integer_value(step) <= steps);
}

/* NULL: memory ran out. */
static json_t *events_until(const struct record *record, long steps)
{
    json_t *list = json_array();
    size_t i = 0;
    /* Of a run that began again there is no event 0. */
    const struct kept_event *kept =
        record->events.first.text ? &record->events.first : event_buffer_mark(&record->events, i++);
    for (; list && kept; kept = event_buffer_mark(&record->events, i++)) {
        json_t *event = json_read(kept->text, kept->length, 0, NULL);
        bool ok = event && (!belongs(event, steps) || json_array_append(list, event) == 0);
        list = json_kept_if(ok, list);
        json_decref(event);
    }
    return list;
}

bool record_read_events(struct event_buffer *buffer, const json_t *events)
{
    size_t index;
    const json_t *value;
    bool ok = true;
    event_buffer_init(buffer, STEPS_KEPT, RECORD_MARKS);
    json_array_foreach(events, index, value)
    {
        struct event_mark mark = event_mark_of(value);
        char *text = json_to_text(value, JSON_LINE);
        ok = ok && text && event_buffer_add(buffer, text, &mark);
        free(text);
    }
    if (!ok)
        event_buffer_free(buffer);
    return ok;
}

void record_replace_events(struct record *record, struct event_buffer *events)
{
    event_buffer_renumber(events, record->events.next);
    event_buffer_free(&record->events);
    record->events = *events;
}

/* As it was submitted, but for its history; the curve's points up to there stay. */
static void reset_for_rerun(struct record *record, long steps)
{
    struct curve *curve = &record->curve;
    while (curve->count > 0 && curve->points[curve->count - 1].step > steps)
        curve->count--;
    curve->open.steps = 0;
    record->epochs_done = record->retunes = 0;
    record->train_acc = record->test_acc = record->best_test_acc = NAN;
    record->val_acc = record->best_val_acc = NAN;
    record->s_per_epoch = record->samples_per_s = NAN;
    record->energy_j = record->samples_per_j = NAN;
    record->energy.count = 0;
    record->energy.joules = record->energy.rows = 0;
    record->ended_at = NAN;
    record->ended = record->has_progress = false;
    record->error[0] = record->reason[0] = '\0';
    record->status = RUN_QUEUED;
    record->lr = record->spec.lr;
}

/* What thinned events cannot say. */
static void take_place(struct record *record, const struct checkpoint_place *place)
{
    /* That of an earlier epoch would be wrong. */
    if (record->epochs_done != place->epochs)
        record->train_acc = NAN;
    record->epochs_done = place->epochs;
    record->test_acc = place->test_acc;
    record->val_acc = place->val_acc;
    double *best = isnan(place->val_acc) ? &record->best_test_acc : &record->best_val_acc;
    *best = fmax(*best, place->best_acc);
    record->lr = place->lr;
}

bool record_rewind(struct record *record, const struct checkpoint_place *place, long measured_from)
{
    size_t index;
    const json_t *event;
    struct event_buffer buffer;
    long steps = place ? place->steps : -1;
    json_t *events = events_until(record, steps);
    bool ok = events && record_read_events(&buffer, events);
    if (ok) {
        record_replace_events(record, &buffer);
        reset_for_rerun(record, steps);
        record->measured_from = measured_from;
    }
    json_array_foreach(ok ? events : NULL, index, event)
    {
        /* They are known already, with the times at which they came. */
        if (strcmp(event_mark_of(event).name, "warning") != 0)
            record_take_event(record, event);
    }
    if (ok && place)
        take_place(record, place);
    if (ok)
        record->epochs = record->spec.epochs;
    json_decref(events);
    return ok;
}

void record_set_progress(struct record *record, const struct run_progress *progress)
{
    int count = progress->device_count;
    if (count > SPEC_MAX_DEVICES)
        count = SPEC_MAX_DEVICES;
    memcpy(record->device, progress->devices, (size_t)count * sizeof *record->device);
    record->progress = *progress;
    record->progress.devices = record->device;
    record->progress.device_count = count;
    record->lr = progress->run_lr;
    record->has_progress = true;
}
