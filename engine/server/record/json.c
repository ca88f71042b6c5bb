/* SPDX-License-Identifier: MIT */
#include "engine/server/record/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/server/record/thinning.h"
#include "spec/json.h"
#include "spec/names.h"

static json_t *device_names(const struct spec *spec)
{
    json_t *list = json_array();
    char name[DEVICE_NAME];
    for (int i = 0; spec->devices.choice == DEVICES_LISTED && i < spec->devices.count; i++)
        json_array_append_new(list, json_string(device_id_text(spec->devices.id[i], name)));
    return list;
}

/* NULL: all rows are used. */
static json_t *unless_all(long rows)
{
    return rows > 0 ? json_integer(rows) : NULL;
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
    json_t *counts = record->warnings.count ? warnings_counts_json(&record->warnings) : NULL;
    if (record->warnings.count && !counts)
        return NULL;
    const bool validates = !isnan(record->val_acc);
    return json_pack(
        "{s:I, s:s, s:o, s:o, s:o, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, "
        "s:s, s:I, s:o, s:o, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o*, s:o*, s:o*, s:o*, "
        "s:o*, s:I, s:i, s:o*, s:o*, s:o*, s:o*, s:o*}",
        "run", (json_int_t)record->number, "status", record_status_name(record), "model",
        string_or_null(model_name(record)), "data", string_or_null(data_name(record)), "devices",
        device_names(spec), "batch", (json_int_t)spec->batch, "lr", json_finite(record->lr),
        "epochs", (json_int_t)record->epochs, "epochs_done", (json_int_t)record->epochs_done,
        "test_acc", json_finite(record->test_acc), "best_test_acc",
        json_finite(record->best_test_acc), "train_acc", json_finite(record->train_acc),
        "s_per_epoch", json_finite(record->s_per_epoch), "samples_per_s",
        json_finite(record->samples_per_s), "error", string_or_null(record->error), "split",
        split_rule_name(spec->split), "sync", sync_method_name(spec->sync), "strategy",
        strategy_name(spec->strategy), "seed", (json_int_t)spec->seed, "params",
        record->params ? json_integer(record->params) : json_null(), "note",
        string_or_null(record->note), "retunes", (json_int_t)record->retunes, "stop_after_epoch",
        record_stops_after_epoch(record), "submitted_at", json_finite(record->submitted_at),
        "started_at", json_finite(record->started_at), "ended_at", json_finite(record->ended_at),
        "tags", json_copy(record->tags), "warnings", warnings_json(&record->warnings),
        "warning_counts", counts, "val_acc", validates ? json_real(record->val_acc) : NULL,
        "best_val_acc", validates ? json_finite(record->best_val_acc) : NULL, "reason",
        *record->reason ? json_any_text(record->reason) : NULL, "replicas",
        spec->strategy == STRATEGY_PIPELINE && spec->replicas > 1 ? json_integer(spec->replicas)
                                                                  : NULL,
        "likeness", (json_int_t)record->likeness, "threads",
        spec->thread_count == 0 ? spec->cpu_threads : 0, "train_rows", unless_all(spec->train_rows),
        "test_rows", unless_all(spec->test_rows), "energy_j", json_if_finite(record->energy_j),
        "samples_per_j", json_if_finite(record->samples_per_j), "measured_from",
        record->measured_from > 0 ? json_integer(record->measured_from) : NULL);
}

/*
 * A response is one line, 1 MiB at most: what the epochs and the retunes may take of it. The points
 * take some 200 KiB, and the rest of a run little.
 */
#define EPOCHS_BYTES   ((size_t)550 << 10)
#define RETUNES_BYTES  ((size_t)100 << 10)
#define SHARES_BYTES   ((size_t)50 << 10)
#define PROFILE_BYTES  ((size_t)250 << 10) /* taken from the epochs, as is the next */
#define TIMELINE_BYTES ((size_t)100 << 10)

/* A kept event, parsed; NULL: memory ran out. */
static json_t *parsed(const struct kept_event *kept)
{
    return json_read(kept->text, kept->length, 0, NULL);
}

/* The newest kept events of one name, oldest first, as many as fit into `limit` bytes. */
static json_t *kept_events(const struct record *record, const char *name, size_t limit)
{
    json_t *list = json_array();
    size_t used = 0, count = record->events.marks.count, first = count;
    while (first > 0) {
        const struct kept_event *kept = event_buffer_mark(&record->events, first - 1);
        bool wanted = strcmp(kept->mark.name, name) == 0;
        if (wanted && (used += kept->length + 1) > limit)
            break;
        first--;
    }
    for (size_t i = first; i < count; i++) {
        const struct kept_event *kept = event_buffer_mark(&record->events, i);
        if (strcmp(kept->mark.name, name) == 0)
            json_array_append_new(list, parsed(kept));
    }
    return list;
}

/* Of those of a kind; NULL: there is none. */
static json_t *newest_event(const struct record *record, const char *name, size_t limit)
{
    json_t *list = kept_events(record, name, limit);
    json_t *newest = json_incref(json_array_get(list, json_array_size(list) - 1));
    json_decref(list);
    return newest;
}

json_t *record_points_json(const struct record *record)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < record->curve.count; i++)
        list = json_kept_if(json_array_append_new(list, point_json(&record->curve.points[i])) == 0,
                            list);
    return list;
}

/* Of a run that was resumed there may be several; NULL: none, or memory ran out. */
static json_t *newest_beginning(const struct record *record)
{
    const struct kept_event *kept = event_buffer_newest(&record->events, "run");
    return kept ? parsed(kept) : NULL;
}

/* What its "run" event says of its devices. */
static void add_beginning(json_t *object, const struct record *record)
{
    static const char *const members[] = {"types", "memory", "sync_bytes_per_step"};
    json_t *event = newest_beginning(record);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *value = json_object_get(event, members[i]);
        if (value)
            json_object_set(object, members[i], value);
    }
    json_decref(event);
}

/* The kept epochs that a stride leaves (thinning.h): how many, and their bytes. */
struct chosen {
    size_t count, bytes;
    const struct kept_event *last;
};

static struct thinning thinning_of(const struct event_buffer *events)
{
    struct thinning thinning = THINNING_INIT;
    const struct kept_event *kept;
    for (size_t i = 0; (kept = event_buffer_mark(events, i)); i++)
        if (kept->mark.epoch)
            thinning_add(&thinning, kept->mark.epoch, kept->mark.score);
    return thinning;
}

static struct chosen choose(const struct event_buffer *events, const struct thinning *thinning,
                            long stride)
{
    struct chosen chosen = {.count = 0};
    const struct kept_event *kept;
    for (size_t i = 0; (kept = event_buffer_mark(events, i)); i++)
        if (kept->mark.epoch && thinning_keeps(thinning, kept->mark.epoch, stride)) {
            chosen.count++;
            chosen.bytes += kept->length + 1;
            chosen.last = kept;
        }
    return chosen;
}

/* What one epoch takes of the room that it has with its figures per device, once without them. */
static double brief_part(const struct kept_event *kept)
{
    json_t *event = kept ? parsed(kept) : NULL;
    json_object_del(event, "devices");
    size_t length = event ? json_length(event, JSON_LINE) : 0;
    json_decref(event);
    /* Some have longer figures than others. */
    return kept && length ? 1.1 * (double)length / (double)kept->length : 1;
}

/*
 * The epochs, as many as fit. When they do not, their figures per device go first, and then they
 * are thinned.
 */
static json_t *fitting_epochs(const struct record *record, size_t room)
{
    const struct event_buffer *events = &record->events;
    struct thinning thinning = thinning_of(events);
    struct chosen chosen = choose(events, &thinning, 1);
    bool brief = chosen.bytes > room;
    double part = brief ? brief_part(chosen.last) : 1;
    long stride = 1;
    while (part * (double)chosen.bytes > (double)room && stride < THINNING_STRIDE_MOST) {
        stride *= 2;
        chosen = choose(events, &thinning, stride);
    }
    json_t *list = json_array();
    const struct kept_event *kept;
    for (size_t i = 0; (kept = event_buffer_mark(events, i)); i++) {
        if (!kept->mark.epoch || !thinning_keeps(&thinning, kept->mark.epoch, stride))
            continue;
        json_t *event = parsed(kept);
        if (brief)
            json_object_del(event, "devices");
        json_array_append_new(list, event);
    }
    return list;
}

/* Those of the last epoch. */
static json_t *device_figures(const struct record *record)
{
    const struct event_buffer *events = &record->events;
    struct thinning thinning = thinning_of(events);
    struct chosen chosen = choose(events, &thinning, THINNING_STRIDE_MOST);
    json_t *event = chosen.last ? parsed(chosen.last) : NULL;
    json_t *figures = json_incref(json_object_get(event, "devices"));
    json_decref(event);
    return figures ? figures : json_array();
}

json_t *record_json_full(const struct record *record)
{
    json_t *object = record_json(record);
    json_t *profile = newest_event(record, "profile", PROFILE_BYTES);
    json_t *timeline = newest_event(record, "timeline", TIMELINE_BYTES);
    const size_t others = (profile ? PROFILE_BYTES : 0) + (timeline ? TIMELINE_BYTES : 0);
    json_t *epochs = fitting_epochs(record, EPOCHS_BYTES - others);
    long count = (long)json_array_size(epochs);
    add_beginning(object, record);
    json_object_set_new(object, "spec", spec_to_json(&record->spec));
    json_object_set_new(object, "epochs", epochs);
    json_object_set_new(object, "device_figures", device_figures(record));
    json_object_set_new(object, "points", record_points_json(record));
    json_object_set_new(object, "retunes", kept_events(record, "retune", RETUNES_BYTES));
    json_object_set_new(object, "shares", kept_events(record, "shares", SHARES_BYTES));
    if (profile)
        json_object_set_new(object, "profile", profile);
    if (timeline)
        json_object_set_new(object, "timeline", timeline);
    if (record->environment)
        json_object_set_new(object, "environment", json_deep_copy(record->environment));
    if (count < record->epochs_done)
        json_object_set_new(object, "thinned",
                            json_pack("{s:I, s:I}", "kept", (json_int_t)count, "of",
                                      (json_int_t)record->epochs_done));
    return object;
}

static const char *phase_name(enum run_phase phase)
{
    static const char *const names[] = {"prepare", "train", "eval", "save", "save"};
    return names[phase];
}

/* NULL: memory ran out. */
static json_t *schedule_json(const struct lr_schedule *schedule)
{
    char *text = lr_is_constant(schedule) ? NULL : lr_schedule_text(schedule);
    json_t *value = text ? json_string(text) : lr_is_constant(schedule) ? json_null() : NULL;
    free(text);
    return value;
}

json_t *record_json_state(const struct record *record)
{
    const struct run_progress *p = record->has_progress ? &record->progress : NULL;
    return json_pack(
        "{s:I, s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, "
        "s:o, "
        "s:o, s:o, s:b, s:b, s:I, s:o, s:f}",
        "run", (json_int_t)record->number, "status", record_status_name(record), "phase",
        phase_name(p ? p->phase : PHASE_PREPARE), "model", string_or_null(model_name(record)),
        "data", string_or_null(data_name(record)), "batch", (json_int_t)record->spec.batch, "epoch",
        (json_int_t)(p ? p->epoch : 0), "epochs", (json_int_t)record->epochs, "step",
        (json_int_t)(p ? p->step : 0), "total_steps", (json_int_t)(p ? p->total_steps : 0),
        "epoch_step", (json_int_t)(p ? p->epoch_step : 0), "steps_per_epoch",
        (json_int_t)(p ? p->steps_per_epoch : 0), "read", (json_int_t)(p ? p->read : 0), "to_read",
        (json_int_t)(p ? p->to_read : 0), "lr", json_finite(p ? p->lr : record->lr), "train_loss",
        json_finite(p ? p->train_loss : NAN), "train_acc", json_finite(p ? p->train_acc : NAN),
        "samples_per_s", json_finite(p ? p->samples_per_s : NAN), "elapsed_s",
        json_finite(p ? p->elapsed_s : NAN), "eta_s", json_finite(p ? p->eta_s : NAN),
        "stop_after_epoch", record_stops_after_epoch(record), "stopping", record_stops(record),
        "retunes", (json_int_t)record->retunes, "lr_schedule",
        schedule_json(&record->spec.schedule), "warmup", record->spec.schedule.warmup);
}
