/* SPDX-License-Identifier: MIT */
#include "ui/session/request.h"

#include "ui/session/ui.h"

const char *request_method(enum request request)
{
    static const char *const methods[REQUEST_COUNT] = {
        [REQUEST_HELLO] = "hello",   [REQUEST_WATCH] = "watch",
        [REQUEST_RUNS] = "runs",     [REQUEST_SHOW] = "show",
        [REQUEST_COPY] = "show",     [REQUEST_SUBMIT] = "submit",
        [REQUEST_SWEEP] = "submit",  [REQUEST_STOP] = "stop",
        [REQUEST_SET_LR] = "set_lr", [REQUEST_SET_EPOCHS] = "set_epochs",
        [REQUEST_PAUSE] = "pause",   [REQUEST_UNPAUSE] = "unpause",
        [REQUEST_MOVE] = "move",     [REQUEST_DELETE] = "delete",
        [REQUEST_NOTE] = "note",     [REQUEST_LOG] = "log",
        [REQUEST_CHECK] = "check",   [REQUEST_TAGS] = "tag",
        [REQUEST_RESUME] = "submit", [REQUEST_EVALUATE] = "evaluate",
        [REQUEST_CANCEL] = "cancel", [REQUEST_CHECKPOINTS] = "checkpoints",
        [REQUEST_EXPORT] = "show",
    };
    return methods[request];
}

bool ui_request(struct ui *ui, enum request request, json_t *params)
{
    struct error err = ERROR_INIT;
    if (ui->link != LINK_UP || !ui->requester.send) {
        json_decref(params);
        return ui_say(ui, true, "no engine: %s",
                      ui->link == LINK_STARTING ? "it is being started" : "press e to start it");
    }
    if (ui->requester.send(ui->requester.context, request, params, &err))
        return true;
    ui_log_local(ui, LOG_ERROR, "%s was not sent: %s", request_method(request), err.text);
    return ui_say(ui, true, "%s", err.text);
}

bool ui_request_run(struct ui *ui, enum request request, long run)
{
    return ui_request(ui, request, json_pack("{s:I}", "run", (json_int_t)run));
}
