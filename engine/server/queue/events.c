/* SPDX-License-Identifier: MIT */
#include "engine/server/queue/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/server/queue/announce.h"
#include "engine/server/record/json.h"
#include "spec/json.h"

static bool is_event(const json_t *event, const char *name)
{
    const char *is = json_string_value(json_object_get(event, "event"));
    return is && strcmp(is, name) == 0;
}

/* The event on one line, with the number of its run: a new string, NULL when memory ran out. */
static char *event_text(const struct record *record, json_t *event)
{
    char *text = NULL;
    if (json_object_get(event, "run"))
        return json_to_text(event, JSON_LINE);
    json_t *numbered = json_pack("{s:I}", "run", (json_int_t)record->number);
    if (numbered && json_object_update(numbered, event) == 0)
        text = json_to_text(numbered, JSON_LINE);
    json_decref(numbered);
    return text;
}

static void tell_point(struct queue *queue, const struct record *record, const struct point *point)
{
    json_t *event = point_json(point);
    char *text = event ? event_text(record, event) : NULL;
    if (text)
        event_buffer_add(&queue->marks, text, &(struct event_mark){.name = "point"});
    free(text);
    history_add_point(queue->history, record->number, event);
}

void queue_keep(struct queue *queue, const struct record *record)
{
    struct record before;
    queue_edited(queue);
    if (record->before) {
        before = record_as_kept(record);
        record = &before;
    }
    if (queue->history)
        history_put_run(queue->history, record_json(record), spec_to_json(&record->spec), NULL);
}

/* What is no step: the event, and the state of the run after it. */
static void keep_mark(struct queue *queue, const struct record *record,
                      const struct event_mark *mark, const char *text)
{
    if (!queue->history)
        return;
    history_begin(queue->history);
    if (text && mark->epoch)
        history_add_epoch(queue->history, record->number, mark->epoch, mark->score, text);
    else if (text)
        history_add_event(queue->history, record->number, mark->name, text);
    /* Pairs of points may have been merged meanwhile. */
    if (strcmp(mark->name, "end") == 0)
        history_set_points(queue->history, record->number, record_points_json(record));
    history_put_run(queue->history, record_json(record), NULL, NULL);
    history_end(queue->history);
}

static void notify(struct queue *queue, const struct record *record, const json_t *event)
{
    char *text = record->spec.notify ? announce_end_text(record->number, event) : NULL;
    if (text)
        notifier_post(queue->notifier, record->spec.notify, record->number, event, text);
    free(text);
}

bool queue_keep_event(struct queue *queue, struct record *record, json_t *event)
{
    struct point point;
    bool is_step = is_event(event, "step");
    bool is_point = is_step                  ? curve_add(&record->curve, event, &point)
                    : is_event(event, "end") ? curve_end(&record->curve, &point)
                                             : false;
    if (is_point)
        tell_point(queue, record, &point);
    struct event_mark mark = event_mark_of(event);
    char *text = event_text(record, event);
    if (text)
        event_buffer_add(&record->events, text, is_step ? NULL : &mark);
    else
        record->events.next++; /* followers learn of it as a gap */
    if (!is_step) {
        record_take_event(record, event);
        queue_touch(queue);
    }
    /* Of all runs: the newest, whatever they are. */
    if (text && !is_step)
        event_buffer_add(&queue->marks, text, &(struct event_mark){.name = mark.name});
    if (!is_step)
        keep_mark(queue, record, &mark, text);
    if (is_event(event, "end"))
        notify(queue, record, event);
    free(text);
    return is_point || !is_step;
}

/* As far as is known: of a run of the store that are its points and epochs. */
static long last_step(const struct record *record)
{
    const struct curve *curve = &record->curve;
    const struct kept_event *epoch = event_buffer_newest(&record->events, "epoch");
    const long of_points = curve->count > 0 ? curve->points[curve->count - 1].step : 0;
    if (record->has_progress)
        return record->progress.step;
    json_t *event = epoch ? json_read(epoch->text, epoch->length, 0, NULL) : NULL;
    const long of_epochs = (long)member_integer(event, "step");
    json_decref(event);
    return of_epochs > of_points ? of_epochs : of_points;
}

static json_t *end_event(const struct record *record, const char *status, const char *error)
{
    json_t *event = json_pack(
        "{s:s, s:I, s:s, s:I, s:I}", "event", "end", "run", (json_int_t)record->number, "status",
        status, "epochs", (json_int_t)record->epochs_done, "steps", (json_int_t)last_step(record));
    if (event && error)
        json_object_set_new(event, "error", json_any_text(error));
    return event;
}

void queue_keep_end(struct queue *queue, struct record *record, const char *status,
                    const char *error)
{
    json_t *event = end_event(record, status, error);
    /* Memory may have run out for the event; the run has ended all the same. */
    if (event)
        queue_keep_event(queue, record, event);
    if (!record->ended) {
        record->ended = true;
        record->status = RUN_FAILED;
    }
    json_decref(event);
}

void queue_tell_end(struct queue *queue, struct record *record, const char *status)
{
    json_t *event = end_event(record, status, NULL);
    const struct event_mark mark = event_mark_of(event);
    char *text = event ? event_text(record, event) : NULL;
    if (text) {
        event_buffer_add(&record->events, text, &mark);
        event_buffer_add(&queue->marks, text, &(struct event_mark){.name = mark.name});
    } else {
        record->events.next++; /* followers learn of it as a gap */
    }
    queue_touch(queue);
    free(text);
    json_decref(event);
}

bool queue_add_lost_end(struct record *record)
{
    const struct kept_event *newest = event_buffer_newest(&record->events, NULL);
    if (newest && strcmp(newest->mark.name, "end") == 0)
        return true;
    json_t *event =
        end_event(record, record_status_name(record), *record->error ? record->error : NULL);
    char *text = event ? json_to_text(event, JSON_LINE) : NULL;
    const struct event_mark mark = event_mark_of(event);
    bool ok = text && event_buffer_add(&record->events, text, &mark);
    free(text);
    json_decref(event);
    return ok;
}
