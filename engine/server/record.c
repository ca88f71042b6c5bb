/* SPDX-License-Identifier: MIT */
#include "engine/server/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

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
    spec_init(spec);
    atomic_init(&record->control.stop, RUN_GO_ON);
    atomic_init(&record->control.lr, 0.0);
    atomic_init(&record->control.paused, false);
    history_init(&record->history, STEPS_KEPT, MARKS_KEPT);
    record->train_acc = record->test_acc = record->best_test_acc = NAN;
    record->s_per_epoch = record->samples_per_s = NAN;
    return record;
}

void record_free(struct record *record)
{
    if (!record)
        return;
    history_free(&record->history);
    spec_free(&record->spec);
    free(record->model);
    free(record->data);
    free(record);
}

const char *record_status_name(const struct record *record)
{
    if (record->status == RUN_RUNNING && atomic_load(&record->control.paused))
        return "paused";
    return status_names[record->status];
}

static void note_string(char **field, const json_t *event, const char *key)
{
    const char *value = json_string_value(json_object_get(event, key));
    char *copy = value ? strdup(value) : NULL;
    if (!copy)
        return;
    free(*field);
    *field = copy;
}

static void note_number(double *field, const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    if (json_is_number(value))
        *field = json_number_value(value);
}

static void note_epoch(struct record *record, const json_t *event)
{
    double seconds = NAN;
    record->epochs_done++;
    note_number(&record->train_acc, event, "train_acc");
    note_number(&record->test_acc, event, "test_acc");
    note_number(&record->samples_per_s, event, "samples_per_s");
    note_number(&seconds, event, "seconds");
    if (!isnan(record->test_acc))
        record->best_test_acc = fmax(record->best_test_acc, record->test_acc);
    if (!isnan(seconds)) {
        record->seconds += seconds;
        record->s_per_epoch = record->seconds / (double)record->epochs_done;
    }
}

static void note_end(struct record *record, const json_t *event)
{
    const char *error = json_string_value(json_object_get(event, "error"));
    const char *status = json_string_value(json_object_get(event, "status"));
    note_number(&record->test_acc, event, "test_acc");
    note_number(&record->s_per_epoch, event, "s_per_epoch");
    note_number(&record->samples_per_s, event, "samples_per_s");
    snprintf(record->error, sizeof record->error, "%s", error ? error : "");
    if (status)
        for (int i = RUN_DONE; i <= RUN_FAILED; i++)
            if (strcmp(status, status_names[i]) == 0)
                record->status = (enum record_status)i;
    record->ended = true;
}

void record_note(struct record *record, const json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name)
        return;
    if (strcmp(name, "run") == 0) {
        note_string(&record->model, event, "model");
        note_string(&record->data, event, "data");
        record->params = (long)json_integer_value(json_object_get(event, "params"));
    } else if (strcmp(name, "epoch") == 0) {
        note_epoch(record, event);
    } else if (strcmp(name, "end") == 0) {
        note_end(record, event);
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

static json_t *device_names(const struct spec *spec)
{
    json_t *list = json_array();
    char name[16];
    for (int i = 0; spec->devices.choice == DEVICES_LISTED && i < spec->devices.count; i++)
        json_array_append_new(list, json_string(device_id_text(spec->devices.id[i], name)));
    return list;
}

static json_t *string_or_null(const char *text)
{
    return text && *text ? json_any_text(text) : json_null();
}

static const char *model_name(const struct record *record)
{
    return record->model ? record->model : record->spec.model;
}

static const char *data_name(const struct record *record)
{
    return record->data ? record->data : record->spec.data;
}

json_t *record_json(const struct record *record)
{
    const struct spec *spec = &record->spec;
    double lr = record->has_progress ? record->progress.lr : spec->lr;
    return json_pack(
        "{s:I, s:s, s:o, s:o, s:o, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, "
        "s:I, s:o}",
        "run", (json_int_t)record->number, "status", record_status_name(record), "model",
        string_or_null(model_name(record)), "data", string_or_null(data_name(record)), "devices",
        device_names(spec), "batch", (json_int_t)spec->batch, "lr", json_finite(lr), "epochs",
        (json_int_t)spec->epochs, "epochs_done", (json_int_t)record->epochs_done, "test_acc",
        json_finite(record->test_acc), "best_test_acc", json_finite(record->best_test_acc),
        "train_acc", json_finite(record->train_acc), "s_per_epoch",
        json_finite(record->s_per_epoch), "samples_per_s", json_finite(record->samples_per_s),
        "error", string_or_null(record->error), "split", split_rule_name(spec->split), "sync",
        sync_method_name(spec->sync), "seed", (json_int_t)spec->seed, "params",
        record->params ? json_integer(record->params) : json_null());
}

/* A response is one line: leave room in it for everything but the epochs. */
#define EPOCHS_BYTES ((size_t)700 << 10)

/*
 * The kept epoch events, oldest first. When they do not fit into one line of the protocol their
 * figures per device go first, then the oldest ones; how many is in *left_out.
 */
static json_t *epoch_events(const struct record *record, long *left_out)
{
    json_t *newest_first = json_array(), *list = json_array();
    bool brief = record->history.bytes > EPOCHS_BYTES;
    size_t used = 0, marks = record->history.marks.count;
    while (marks && used < EPOCHS_BYTES) {
        const struct kept_event *mark = history_mark(&record->history, --marks);
        json_t *event = json_loadb(mark->text, mark->length, 0, NULL);
        const char *name = json_string_value(json_object_get(event, "event"));
        if (!name || strcmp(name, "epoch") != 0) {
            json_decref(event);
            continue;
        }
        size_t devices = json_array_size(json_object_get(event, "devices"));
        if (brief)
            json_object_del(event, "devices");
        /* A device's figures take at most some 150 bytes, an epoch's own some 400. */
        used += 400 + (brief ? 0 : 150 * devices);
        json_array_append_new(newest_first, event);
    }
    for (size_t i = json_array_size(newest_first); i > 0; i--)
        json_array_append(list, json_array_get(newest_first, i - 1));
    json_decref(newest_first);
    *left_out = record->epochs_done - (long)json_array_size(list);
    return list;
}

json_t *record_json_full(const struct record *record)
{
    long left_out;
    json_t *object = record_json(record);
    json_t *epochs = epoch_events(record, &left_out);
    json_t *figures = json_incref(
        json_object_get(json_array_get(epochs, json_array_size(epochs) - 1), "devices"));
    json_object_set_new(object, "spec", spec_to_json(&record->spec));
    json_object_set_new(object, "epochs", epochs);
    json_object_set_new(object, "device_figures", figures ? figures : json_array());
    if (left_out > 0)
        json_object_set_new(object, "epochs_left_out", json_integer(left_out));
    return object;
}

static const char *phase_name(enum run_phase phase)
{
    static const char *const names[] = {"prepare", "train", "eval", "save", "save"};
    return names[phase];
}

json_t *record_json_state(const struct record *record)
{
    const struct run_progress *p = record->has_progress ? &record->progress : NULL;
    return json_pack(
        "{s:I, s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "run", (json_int_t)record->number, "status", record_status_name(record), "phase",
        phase_name(p ? p->phase : PHASE_PREPARE), "model", string_or_null(model_name(record)),
        "data", string_or_null(data_name(record)), "batch", (json_int_t)record->spec.batch, "epoch",
        (json_int_t)(p ? p->epoch : 0), "epochs", (json_int_t)record->spec.epochs, "step",
        (json_int_t)(p ? p->step : 0), "total_steps", (json_int_t)(p ? p->total_steps : 0),
        "epoch_step", (json_int_t)(p ? p->epoch_step : 0), "steps_per_epoch",
        (json_int_t)(p ? p->steps_per_epoch : 0), "lr", json_finite(p ? p->lr : record->spec.lr),
        "train_loss", json_finite(p ? p->train_loss : NAN), "train_acc",
        json_finite(p ? p->train_acc : NAN), "samples_per_s",
        json_finite(p ? p->samples_per_s : NAN), "elapsed_s", json_finite(p ? p->elapsed_s : NAN),
        "eta_s", json_finite(p ? p->eta_s : NAN));
}
