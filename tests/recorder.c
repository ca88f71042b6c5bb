/* SPDX-License-Identifier: MIT */
#include "tests/recorder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spec/set.h"

static void set_all(struct spec *spec, const char *settings)
{
    struct error err = ERROR_INIT;
    char *copy = strdup(settings), *state;
    ck_assert_ptr_nonnull(copy);
    for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        char *equals = strchr(word, '=');
        ck_assert_ptr_nonnull(equals);
        *equals = '\0';
        ck_assert_msg(spec_set(spec, word, equals + 1, &err), "%s", err.text);
    }
    free(copy);
}

void recorder_init(struct recorder *recorder, const char *settings)
{
    *recorder = (struct recorder){.limits = RUN_LIMITS_DEFAULT};
    spec_init(&recorder->spec);
    set_all(&recorder->spec, settings);
}

void recorder_free(struct recorder *recorder)
{
    json_decref(recorder->events);
    spec_free(&recorder->spec);
    *recorder = (struct recorder){.events = NULL};
}

static void take_event(void *context, json_t *event)
{
    struct recorder *recorder = context;
    /* As a viewer would get it. */
    char *line = json_dumps(event, JSON_COMPACT);
    ck_assert_ptr_nonnull(line);
    json_t *copy = json_loads(line, 0, NULL);
    ck_assert_ptr_nonnull(copy);
    free(line);
    ck_assert_int_eq(json_array_append_new(recorder->events, copy), 0);
    if (recorder->on_event)
        recorder->on_event(recorder, recorder_string(copy, "event"), copy);
}

static void take_progress(void *context, const struct run_progress *progress)
{
    struct recorder *recorder = context;
    recorder->snapshots++;
    recorder->phases[progress->phase]++;
    recorder->last = *progress;
    ck_assert_int_le(progress->device_count, SPEC_MAX_DEVICES);
    memcpy(recorder->last_devices, progress->devices,
           (size_t)progress->device_count * sizeof progress->devices[0]);
    recorder->last.devices = recorder->last_devices;
    if (recorder->on_progress)
        recorder->on_progress(recorder, progress);
}

static bool train_within(struct recorder *recorder, const struct run_sink *sink)
{
    return run_train_within(&recorder->limits, &recorder->spec, 12, &recorder->keep,
                            &recorder->control, sink, &recorder->err);
}

bool recorder_run(struct recorder *recorder)
{
    recorder_train *const train = recorder->train ? recorder->train : train_within;
    struct run_sink sink = {.event = take_event,
                            .progress = take_progress,
                            .predictions = recorder->on_predictions,
                            .context = recorder};
    json_decref(recorder->events);
    recorder->events = json_array();
    ck_assert_ptr_nonnull(recorder->events);
    recorder->err = (struct error)ERROR_INIT;
    recorder->snapshots = 0;
    memset(recorder->phases, 0, sizeof recorder->phases);
    run_control_init(&recorder->control);
    bool ok = train(recorder, &sink);
    /* Whatever happened, the last event says how it ended, once. */
    ck_assert_int_eq(recorder_count(recorder, "end"), 1);
    json_t *end = json_array_get(recorder->events, json_array_size(recorder->events) - 1);
    ck_assert_str_eq(recorder_string(end, "event"), "end");
    ck_assert_str_eq(recorder_string(end, "status"),
                     ok                                      ? "done"
                     : recorder->err.kind == ERROR_CANCELLED ? "stopped"
                     : recorder->err.kind == ERROR_LOST      ? "interrupted"
                                                             : "failed");
    ck_assert_int_eq(recorder->last.phase, PHASE_ENDED);
    return ok;
}

int recorder_count(const struct recorder *recorder, const char *kind)
{
    int count = 0;
    for (size_t i = 0; i < json_array_size(recorder->events); i++)
        count += strcmp(recorder_string(json_array_get(recorder->events, i), "event"), kind) == 0;
    return count;
}

json_t *recorder_event(const struct recorder *recorder, const char *kind, int index)
{
    if (index < 0)
        index += recorder_count(recorder, kind);
    for (size_t i = 0; i < json_array_size(recorder->events); i++) {
        json_t *event = json_array_get(recorder->events, i);
        if (strcmp(recorder_string(event, "event"), kind) == 0 && index-- == 0)
            return event;
    }
    ck_abort_msg("no such %s event", kind);
    return NULL;
}

double recorder_number(const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    ck_assert_msg(json_is_number(value), "%s is no number", key);
    return json_number_value(value);
}

long recorder_step(const char *kind, const json_t *event)
{
    return strcmp(kind, "step") == 0 ? (long)recorder_number(event, "step") : 0;
}

const char *recorder_string(const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    ck_assert_msg(json_is_string(value), "%s is no string", key);
    return json_string_value(value);
}

const char *temporary_path(const char *name)
{
    static char paths[4][512];
    static int next;
    const char *directory = getenv("TMPDIR");
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s-%ld", directory ? directory : "/tmp", name,
             (long)getpid());
    return path;
}
