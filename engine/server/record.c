/* SPDX-License-Identifier: MIT */
#include "engine/server/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define STEPS_KEPT 20000
#define MARKS_KEPT 10000

static const char *const status_names[] = {"queued", "running", "done", "stopped", "failed"};

struct record *record_new(long number, struct spec *spec)
{
    struct record *record = calloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->number = number;
    record->status = RUN_QUEUED;
    record->spec = *spec;
    record->epochs = spec->epochs;
    spec_init(spec);
    run_control_init(&record->control);
    history_init(&record->history, STEPS_KEPT, MARKS_KEPT);
    record->train_acc = record->test_acc = record->best_test_acc = NAN;
    record->s_per_epoch = record->samples_per_s = NAN;
    record->submitted_at = clock_date();
    record->started_at = record->ended_at = NAN;
    return record;
}

void record_free(struct record *record)
{
    if (!record)
        return;
    history_free(&record->history);
    curve_free(&record->curve);
    spec_free(&record->spec);
    free(record->model);
    free(record->data);
    free(record);
}

bool record_check_note(const char *note, const char *key, struct error *err)
{
    if (strlen(note) > NOTE_BYTES)
        return error_set(err, ERROR_USAGE, "'%s' must be no longer than %d bytes", key, NOTE_BYTES);
    return !text_has_controls(note) ||
           error_set(err, ERROR_USAGE, "'%s' must be one line without control characters", key);
}

void record_set_note(struct record *record, const char *note)
{
    snprintf(record->note, sizeof record->note, "%s", note);
}

const char *record_status_name(const struct record *record)
{
    if (record->status == RUN_RUNNING && atomic_load(&record->control.paused))
        return "paused";
    return status_names[record->status];
}

bool record_stops_after_epoch(const struct record *record)
{
    return record->status == RUN_RUNNING && atomic_load(&record->control.stop) == RUN_STOP_EPOCH;
}

size_t record_bytes(const struct record *record)
{
    return record->history.bytes + record->curve.capacity * sizeof *record->curve.points;
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

static void take_epoch(struct record *record, const json_t *event)
{
    double seconds = NAN;
    record->epochs_done++;
    take_number(&record->train_acc, event, "train_acc");
    take_number(&record->test_acc, event, "test_acc");
    take_number(&record->samples_per_s, event, "samples_per_s");
    take_number(&seconds, event, "seconds");
    if (!isnan(record->test_acc))
        record->best_test_acc = fmax(record->best_test_acc, record->test_acc);
    if (!isnan(seconds)) {
        record->seconds += seconds;
        record->s_per_epoch = record->seconds / (double)record->epochs_done;
    }
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
    take_number(&record->test_acc, event, "test_acc");
    take_number(&record->s_per_epoch, event, "s_per_epoch");
    take_number(&record->samples_per_s, event, "samples_per_s");
    snprintf(record->error, sizeof record->error, "%s", error ? error : "");
    if (status)
        for (int i = RUN_DONE; i <= RUN_FAILED; i++)
            if (strcmp(status, status_names[i]) == 0)
                record->status = (enum record_status)i;
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
    } else if (strcmp(name, "end") == 0) {
        take_end(record, event);
    }
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
    record->has_progress = true;
}
