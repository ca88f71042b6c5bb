/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "engine/server/record.h"

/* Runs as docs/protocol.md has them. */

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
        "s:I, s:o, s:o, s:I, s:b, s:o, s:o, s:o, s:o, s:o}",
        "run", (json_int_t)record->number, "status", record_status_name(record), "model",
        string_or_null(model_name(record)), "data", string_or_null(data_name(record)), "devices",
        device_names(spec), "batch", (json_int_t)spec->batch, "lr", json_finite(lr), "epochs",
        (json_int_t)record->epochs, "epochs_done", (json_int_t)record->epochs_done, "test_acc",
        json_finite(record->test_acc), "best_test_acc", json_finite(record->best_test_acc),
        "train_acc", json_finite(record->train_acc), "s_per_epoch",
        json_finite(record->s_per_epoch), "samples_per_s", json_finite(record->samples_per_s),
        "error", string_or_null(record->error), "split", split_rule_name(spec->split), "sync",
        sync_method_name(spec->sync), "seed", (json_int_t)spec->seed, "params",
        record->params ? json_integer(record->params) : json_null(), "note",
        string_or_null(record->note), "retunes", (json_int_t)record->retunes, "stop_after_epoch",
        record_stops_after_epoch(record), "submitted_at", json_finite(record->submitted_at),
        "started_at", json_finite(record->started_at), "ended_at", json_finite(record->ended_at),
        "tags", json_copy(record->tags), "warnings", json_copy(record->warnings));
}

/*
 * A response is one line, 1 MiB at most: what the epochs and the retunes may take of it. The points
 * take some 200 KiB, and the rest of a run little.
 */
#define EPOCHS_BYTES  ((size_t)550 << 10)
#define RETUNES_BYTES ((size_t)100 << 10)
#define SHARES_BYTES  ((size_t)50 << 10)
#define PROFILE_BYTES ((size_t)250 << 10) /* taken from the epochs */

/*
 * The newest kept events of one name, oldest first, as many as fit into `limit` bytes; `brief`:
 * without their figures per device.
 */
static json_t *kept_events(const struct record *record, const char *name, size_t limit, bool brief)
{
    json_t *newest_first = json_array(), *list = json_array();
    size_t used = 0, marks = record->history.marks.count;
    while (marks) {
        const struct kept_event *mark = history_mark(&record->history, --marks);
        json_t *event = json_loadb(mark->text, mark->length, 0, NULL);
        const char *is = json_string_value(json_object_get(event, "event"));
        if (!is || strcmp(is, name) != 0) {
            json_decref(event);
            continue;
        }
        if (brief)
            json_object_del(event, "devices");
        used += json_dumpb(event, NULL, 0, JSON_LINE) + 1;
        if (used > limit) {
            json_decref(event);
            break;
        }
        json_array_append_new(newest_first, event);
    }
    for (size_t i = json_array_size(newest_first); i > 0; i--)
        json_array_append(list, json_array_get(newest_first, i - 1));
    json_decref(newest_first);
    return list;
}

/* Of a run that went on there may be several; NULL: none. */
static json_t *newest_profile(const struct record *record)
{
    json_t *list = kept_events(record, "profile", PROFILE_BYTES, false);
    json_t *newest = json_incref(json_array_get(list, json_array_size(list) - 1));
    json_decref(list);
    return newest;
}

json_t *record_points_json(const struct record *record)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < record->curve.count; i++)
        if (json_array_append_new(list, point_json(&record->curve.points[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

/* As its "run" event, the first of all, has them. */
static void add_types(json_t *object, const struct record *record)
{
    const struct kept_event *first = history_find(&record->history, 0, false);
    json_t *event = first ? json_loadb(first->text, first->length, 0, NULL) : NULL;
    json_t *types = json_object_get(event, "types");
    if (types)
        json_object_set(object, "types", types);
    json_decref(event);
}

/* When the epochs do not fit, their figures per device go first, then the oldest ones. */
json_t *record_json_full(const struct record *record)
{
    json_t *object = record_json(record);
    json_t *profile = newest_profile(record);
    size_t room = EPOCHS_BYTES - (profile ? PROFILE_BYTES : 0);
    json_t *epochs = kept_events(record, "epoch", room, false);
    json_t *figures = json_incref(
        json_object_get(json_array_get(epochs, json_array_size(epochs) - 1), "devices"));
    if ((long)json_array_size(epochs) < record->epochs_told) {
        json_decref(epochs);
        epochs = kept_events(record, "epoch", room, true);
    }
    long left_out = record->epochs_done - (long)json_array_size(epochs);
    add_types(object, record);
    json_object_set_new(object, "spec", spec_to_json(&record->spec));
    json_object_set_new(object, "epochs", epochs);
    json_object_set_new(object, "device_figures", figures ? figures : json_array());
    json_object_set_new(object, "points", record_points_json(record));
    json_object_set_new(object, "retunes", kept_events(record, "retune", RETUNES_BYTES, false));
    json_object_set_new(object, "shares", kept_events(record, "shares", SHARES_BYTES, false));
    if (profile)
        json_object_set_new(object, "profile", profile);
    if (record->environment)
        json_object_set_new(object, "environment", json_deep_copy(record->environment));
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
        "s:o, s:b, s:I}",
        "run", (json_int_t)record->number, "status", record_status_name(record), "phase",
        phase_name(p ? p->phase : PHASE_PREPARE), "model", string_or_null(model_name(record)),
        "data", string_or_null(data_name(record)), "batch", (json_int_t)record->spec.batch, "epoch",
        (json_int_t)(p ? p->epoch : 0), "epochs", (json_int_t)record->epochs, "step",
        (json_int_t)(p ? p->step : 0), "total_steps", (json_int_t)(p ? p->total_steps : 0),
        "epoch_step", (json_int_t)(p ? p->epoch_step : 0), "steps_per_epoch",
        (json_int_t)(p ? p->steps_per_epoch : 0), "lr", json_finite(p ? p->lr : record->spec.lr),
        "train_loss", json_finite(p ? p->train_loss : NAN), "train_acc",
        json_finite(p ? p->train_acc : NAN), "samples_per_s",
        json_finite(p ? p->samples_per_s : NAN), "elapsed_s", json_finite(p ? p->elapsed_s : NAN),
        "eta_s", json_finite(p ? p->eta_s : NAN), "stop_after_epoch",
        record_stops_after_epoch(record), "retunes", (json_int_t)record->retunes);
}
