/* SPDX-License-Identifier: MIT */
#include "engine/server/protocol/change.h"

#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "engine/server/queue/events.h"
#include "engine/server/record/labels.h"
#include "spec/fill.h"
#include "spec/origin.h"

/* With the lock held: release it, and answer. */
static int finish(struct server *server, int code, json_t **result)
{
    queue_touch(&server->queue);
    method_unlock(server);
    *result = code == RPC_OK ? json_object() : NULL;
    return code;
}

/* With the lock held: the request does not suit what the run does. */
static int refuse(const struct record *record, const char *only, struct error *err)
{
    error_set(err, ERROR_FAILED, "run %ld is %s: only %s", record->number,
              record_status_name(record), only);
    return RPC_FAILED;
}

static int ended_already(const struct record *record, struct error *err)
{
    error_set(err, ERROR_FAILED, "run %ld has ended already", record->number);
    return RPC_FAILED;
}

static const char *const stop_names[] = {"never", "epoch", "step", "now"};

/* `when` of a stop as enum run_stop, RUN_STOP_NONE for "never". */
static bool stop_when(const json_t *params, enum run_stop *when, struct error *err)
{
    bool now = false;
    const char *name = "step";
    if (!json_get_bool(params, "now", &now, err) || !json_get_string(params, "when", &name, err))
        return false;
    for (int i = RUN_STOP_NONE; i <= RUN_STOP_NOW; i++)
        if (strcmp(name, stop_names[i]) == 0) {
            *when = now ? RUN_STOP_NOW : (enum run_stop)i;
            return true;
        }
    return error_set(err, ERROR_USAGE, "'when' must be step, epoch, now or never");
}

int method_stop(struct server *server, struct connection *connection, const json_t *params,
                json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    enum run_stop when = RUN_STOP_STEP;
    if (!stop_when(params, &when, err))
        return RPC_PARAMS;
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    long number = record->number;
    bool taken_out = record->status == RUN_QUEUED && when != RUN_STOP_NONE;
    if (record->status != RUN_QUEUED && record->status != RUN_RUNNING) {
        code = ended_already(record, err);
    } else if (when != RUN_STOP_NONE) {
        queue_stop(&server->queue, record, when);
    } else if (!run_control_cancel_stop(&record->control)) {
        error_set(err, ERROR_FAILED, "run %ld is being stopped already", number);
        code = RPC_FAILED;
    }
    code = finish(server, code, result);
    if (taken_out)
        engine_log(&server->log, MESSAGE_INFO, number, "run %ld is taken out of the queue", number);
    return code;
}

int method_set_lr(struct server *server, struct connection *connection, const json_t *params,
                  json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    double lr = 0;
    if (!json_get_double(params, "lr", 0, SPEC_MAX_LR, &lr, err))
        return RPC_PARAMS;
    if (lr <= 0)
        return method_fail(err, RPC_PARAMS, "'lr' must be a number above 0");
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_QUEUED) {
        record->spec.lr = lr;
        spec_give(&record->spec, "lr");
        queue_keep(&server->queue, record);
    } else if (record->status == RUN_RUNNING) {
        atomic_store(&record->control.lr, lr);
    } else {
        code = ended_already(record, err);
    }
    return finish(server, code, result);
}

static bool change_queued_epochs(struct record *record, long epochs, struct error *err)
{
    struct spec *spec = &record->spec;
    const long before = spec->epochs;
    spec->epochs = epochs;
    spec_fit_warmup(spec, before);
    if (!lr_schedule_check(&spec->schedule, epochs, err)) {
        spec->epochs = before;
        return false;
    }
    record->epochs = epochs;
    spec_give(spec, "epochs");
    return true;
}

/* With the lock held: an epoch that has begun is trained to its end. */
static int change_epochs(struct record *record, long epochs, struct error *err)
{
    long begun = record->has_progress ? record->progress.epoch : 0;
    if (record->status == RUN_QUEUED)
        return change_queued_epochs(record, epochs, err) ? RPC_OK : RPC_FAILED;
    if (record->status != RUN_RUNNING)
        return ended_already(record, err);
    if (record->epochs == 0)
        error_set(err, ERROR_FAILED, "run %ld only evaluates: submit another one to train",
                  record->number);
    else if (epochs < begun)
        error_set(err, ERROR_FAILED, "run %ld is in epoch %ld: it cannot have fewer than %ld",
                  record->number, begun, begun);
    else if (!run_control_set_epochs(&record->control, epochs))
        error_set(err, ERROR_FAILED, "run %ld has trained its last epoch already", record->number);
    else
        return RPC_OK;
    return RPC_FAILED;
}

int method_set_epochs(struct server *server, struct connection *connection, const json_t *params,
                      json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    long epochs = 0;
    if (!json_get_long(params, "epochs", 1, SPEC_MAX_EPOCHS, &epochs, err))
        return RPC_PARAMS;
    if (epochs == 0)
        return method_fail(err, RPC_PARAMS, "'epochs' is missing");
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    code = change_epochs(record, epochs, err);
    if (code == RPC_OK)
        queue_keep(&server->queue, record);
    return finish(server, code, result);
}

static int set_paused(struct server *server, const json_t *params, bool paused, json_t **result,
                      struct error *err)
{
    struct record *record;
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_RUNNING)
        atomic_store(&record->control.paused, paused);
    else
        code = refuse(record, "a running run can be paused", err);
    return finish(server, code, result);
}

int method_pause(struct server *server, struct connection *connection, const json_t *params,
                 json_t **result, struct error *err)
{
    (void)connection;
    return set_paused(server, params, true, result, err);
}

int method_unpause(struct server *server, struct connection *connection, const json_t *params,
                   json_t **result, struct error *err)
{
    (void)connection;
    return set_paused(server, params, false, result, err);
}

int method_move(struct server *server, struct connection *connection, const json_t *params,
                json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    long place = -1;
    if (!json_get_long(params, "place", 0, LONG_MAX, &place, err))
        return RPC_PARAMS;
    if (place < 0)
        return method_fail(err, RPC_PARAMS, "'place' is missing");
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_QUEUED)
        queue_move(&server->queue, record, (size_t)place);
    else
        code = refuse(record, "a queued run has a place in the queue", err);
    return finish(server, code, result);
}

int method_delete(struct server *server, struct connection *connection, const json_t *params,
                  json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    long number = record->number;
    if (record->status == RUN_QUEUED || record->status == RUN_RUNNING)
        code = refuse(record, "a run that has ended can be deleted; stop it first", err);
    else
        queue_delete(&server->queue, record);
    code = finish(server, code, result);
    if (code == RPC_OK)
        engine_log(&server->log, MESSAGE_INFO, number, "run %ld is deleted", number);
    return code;
}

int method_note(struct server *server, struct connection *connection, const json_t *params,
                json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    const char *text = NULL;
    if (!json_get_string(params, "text", &text, err))
        return RPC_PARAMS;
    if (!text)
        return method_fail(err, RPC_PARAMS, "'text' is missing");
    if (!record_check_note(text, "text", err))
        return RPC_PARAMS;
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    record_set_note(record, text);
    queue_keep(&server->queue, record);
    return finish(server, code, result);
}

/* An array of tags, each as it should be. */
static bool check_tags(const json_t *params, const char *key, const json_t **tags,
                       struct error *err)
{
    size_t index;
    const json_t *value;
    *tags = json_object_get(params, key);
    if (*tags && !json_is_array(*tags))
        return error_set(err, ERROR_USAGE, "'%s' must be an array of words", key);
    json_array_foreach(*tags, index, value)
    {
        if (!json_is_string(value))
            return error_set(err, ERROR_USAGE, "'%s' must be an array of words", key);
        if (!record_check_tag(json_string_value(value), err))
            return false;
    }
    return true;
}

int method_tag(struct server *server, struct connection *connection, const json_t *params,
               json_t **result, struct error *err)
{
    (void)connection;
    struct record *record;
    const json_t *add, *remove;
    if (!check_tags(params, "add", &add, err) || !check_tags(params, "remove", &remove, err))
        return RPC_PARAMS;
    int code = method_lock_run(server, params, &record, err);
    if (code != RPC_OK)
        return code;
    record_change_tags(record, add, remove);
    history_set_tags(server->history, record->number, json_copy(record->tags));
    queue_keep(&server->queue, record);
    return finish(server, code, result);
}

int method_cancel(struct server *server, struct connection *connection, const json_t *params,
                  json_t **result, struct error *err)
{
    const char *name = NULL;
    if (!json_get_string(params, "method", &name, err))
        return RPC_PARAMS;
    if (!name)
        return method_fail(err, RPC_PARAMS, "'method' is missing");
    int count = 0;
    for (struct task *task = server->tasks; task; task = task->next)
        if (task->connection == connection->id && strcmp(task->request.method, name) == 0 &&
            !atomic_exchange(&task->cancelled, true))
            count++;
    *result = json_pack("{s:i}", "cancelled", count);
    return RPC_OK;
}
