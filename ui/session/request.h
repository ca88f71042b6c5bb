/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

enum request {
    REQUEST_HELLO,
    REQUEST_WATCH,
    REQUEST_RUNS,
    REQUEST_SHOW,
    REQUEST_COPY, /* `show`, for its spec */
    REQUEST_SUBMIT,
    REQUEST_SWEEP, /* `submit`, of a sweep's runs one after the other */
    REQUEST_STOP,
    REQUEST_SET_LR,
    REQUEST_SET_EPOCHS,
    REQUEST_PAUSE,
    REQUEST_UNPAUSE,
    REQUEST_MOVE,
    REQUEST_DELETE,
    REQUEST_CHECK,
    REQUEST_CHECKPOINTS, /* of the runs in ui->chosen, or of the one to resume */
    REQUEST_EXPORT,      /* `show`, for the file of ui->exported */
    REQUEST_NOTE,
    REQUEST_TAGS,
    REQUEST_RESUME, /* `submit`, of a run that has ended */
    REQUEST_EVALUATE,
    REQUEST_CANCEL,
    REQUEST_LOG,
    REQUEST_COUNT
};

const char *request_method(enum request request);

/* Hand a request to the engine without waiting; `params` is stolen. */
struct requester {
    bool (*send)(void *context, enum request request, json_t *params, struct error *err);
    void *context;
};

struct ui;

/* Send a request; a failure becomes the message. `params` is stolen. */
bool ui_request(struct ui *ui, enum request request, json_t *params);
/* The same for one that only names a run. */
bool ui_request_run(struct ui *ui, enum request request, long run);
