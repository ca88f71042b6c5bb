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
static int answer(struct method_call *call, int code)
{
    method_unlock(call->server);
    call->result = code == RPC_OK ? json_object() : NULL;
    return code;
}

/* The same where the next state is due at once. */
static int finish(struct method_call *call, int code)
{
    queue_touch(&call->server->queue);
    return answer(call, code);
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

int method_stop(struct method_call *call)
{
    struct record *record;
    enum run_stop when = RUN_STOP_STEP;
    if (!stop_when(call->params, &when, call->err))
        return RPC_PARAMS;
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    long number = record->number;
    bool taken_out = record->status == RUN_QUEUED && when != RUN_STOP_NONE;
    if (record->status != RUN_QUEUED && record->status != RUN_RUNNING) {
        code = ended_already(record, call->err);
    } else if (when != RUN_STOP_NONE) {
        queue_stop(&call->server->queue, record, when);
    } else if (!run_control_cancel_stop(&record->control)) {
        error_set(call->err, ERROR_FAILED, "run %ld is being stopped already", number);
        code = RPC_FAILED;
    }
    code = finish(call, code);
    if (taken_out)
        engine_log(&call->server->log, MESSAGE_INFO, number, "run %ld is taken out of the queue",
                   number);
    return code;
}

int method_set_lr(struct method_call *call)
{
    struct record *record;
    double lr = 0;
    if (!json_get_double(call->params, "lr", 0, SPEC_MAX_LR, &lr, call->err))
        return RPC_PARAMS;
    if (lr <= 0)
        return method_fail(call->err, RPC_PARAMS, "'lr' must be a number above 0");
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_QUEUED) {
        record->spec.lr = record->lr = lr;
        spec_give(&record->spec, "lr");
        queue_keep(&call->server->queue, record);
    } else if (record->status == RUN_RUNNING) {
        atomic_store(&record->control.lr, lr);
    } else {
        code = ended_already(record, call->err);
    }
    return finish(call, code);
}

static bool change_queued_epochs(struct record *record, long epochs, struct error *err)
{
    struct spec *spec = &record->spec;
    const long before = spec->epochs;
    if (record->before && epochs < record->resume_epochs)
        return error_set(err, ERROR_FAILED, "run %ld has begun %ld epoch%s: it cannot have fewer",
                         record->number, record->resume_epochs, plural(record->resume_epochs));
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

int method_set_epochs(struct method_call *call)
{
    struct record *record;
    long epochs = 0;
    if (!json_get_long(call->params, "epochs", 1, SPEC_MAX_EPOCHS, &epochs, call->err))
        return RPC_PARAMS;
    if (epochs == 0)
        return method_fail(call->err, RPC_PARAMS, "'epochs' is missing");
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    code = change_epochs(record, epochs, call->err);
    if (code == RPC_OK)
        queue_keep(&call->server->queue, record);
    return finish(call, code);
}

static int set_paused(struct method_call *call, bool paused)
{
    struct record *record;
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_RUNNING)
        atomic_store(&record->control.paused, paused);
    else
        code = refuse(record, "a running run can be paused", call->err);
    return finish(call, code);
}

int method_pause(struct method_call *call)
{
    return set_paused(call, true);
}

int method_unpause(struct method_call *call)
{
    return set_paused(call, false);
}

int method_move(struct method_call *call)
{
    struct record *record;
    long place = -1;
    if (!json_get_long(call->params, "place", 0, LONG_MAX, &place, call->err))
        return RPC_PARAMS;
    if (place < 0)
        return method_fail(call->err, RPC_PARAMS, "'place' is missing");
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    if (record->status == RUN_QUEUED)
        queue_move(&call->server->queue, record, (size_t)place);
    else
        code = refuse(record, "a queued run has a place in the queue", call->err);
    return finish(call, code);
}

int method_delete(struct method_call *call)
{
    struct record *record;
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    long number = record->number;
    if (record->status == RUN_QUEUED || record->status == RUN_RUNNING)
        code = refuse(record, "a run that has ended can be deleted; stop it first", call->err);
    else if (!queue_delete(&call->server->queue, record, call->err))
        code = RPC_FAILED;
    code = answer(call, code);
    if (code == RPC_OK)
        engine_log(&call->server->log, MESSAGE_INFO, number, "run %ld is deleted", number);
    return code;
}

int method_note(struct method_call *call)
{
    struct record *record;
    const char *text = NULL;
    if (!json_get_string(call->params, "text", &text, call->err))
        return RPC_PARAMS;
    if (!text)
        return method_fail(call->err, RPC_PARAMS, "'text' is missing");
    if (!record_check_note(text, "text", call->err))
        return RPC_PARAMS;
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    record_set_note(record, text);
    queue_keep(&call->server->queue, record);
    return answer(call, code);
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

int method_tag(struct method_call *call)
{
    struct record *record;
    const json_t *add, *remove;
    if (!check_tags(call->params, "add", &add, call->err) ||
        !check_tags(call->params, "remove", &remove, call->err))
        return RPC_PARAMS;
    int code = method_lock_run(call, &record);
    if (code != RPC_OK)
        return code;
    if (record_change_tags(record, add, remove, call->err)) {
        history_set_tags(call->server->history, record->number, json_copy(record->tags));
        queue_keep(&call->server->queue, record);
    } else {
        code = RPC_PARAMS;
    }
    return answer(call, code);
}

int method_cancel(struct method_call *call)
{
    const char *name = NULL;
    if (!json_get_string(call->params, "method", &name, call->err))
        return RPC_PARAMS;
    if (!name)
        return method_fail(call->err, RPC_PARAMS, "'method' is missing");
    int count = 0;
    for (struct task *task = call->server->tasks; task; task = task->next)
        if (task->connection == call->connection->id && strcmp(task->request.method, name) == 0 &&
            !atomic_exchange(&task->cancelled, true))
            count++;
    call->result = json_pack("{s:i}", "cancelled", count);
    return RPC_OK;
}
