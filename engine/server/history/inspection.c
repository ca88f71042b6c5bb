/* SPDX-License-Identifier: MIT */
#include "engine/server/history/inspection.h"

#include <stdio.h>

#include "store/doubt.h"

void history_inspection_init(struct history_inspection *inspection, struct engine_log *log)
{
    *inspection = (struct history_inspection){.log = log};
    pthread_mutex_init(&inspection->lock, NULL);
}

void history_inspection_free(struct history_inspection *inspection)
{
    pthread_mutex_destroy(&inspection->lock);
}

static void take_damage(void *context, const char *text)
{
    struct history_inspection *inspection = context;
    engine_log(inspection->log, MESSAGE_ERROR, 0, "%s", text);
    pthread_mutex_lock(&inspection->lock);
    snprintf(inspection->notice, sizeof inspection->notice, "%s", text);
    pthread_mutex_unlock(&inspection->lock);
}

void history_inspection_start(struct history_inspection *inspection, const char *path)
{
    struct error err = ERROR_INIT;
    if (!store_is_unchecked(path))
        return;
    engine_log(inspection->log, MESSAGE_INFO, 0,
               "%s: an engine that used it was killed: its runs are being checked", path);
    if (!store_inspect_start(path, take_damage, inspection, &inspection->running, &err))
        engine_log(inspection->log, MESSAGE_WARNING, 0, "%s", err.text);
}

void history_inspection_stop(struct history_inspection *inspection)
{
    store_inspect_stop(inspection->running);
    inspection->running = NULL;
}

void history_inspection_take_notice(struct history_inspection *inspection, char *notice)
{
    pthread_mutex_lock(&inspection->lock);
    if (*inspection->notice)
        snprintf(notice, HISTORY_NOTICE, "%s", inspection->notice);
    *inspection->notice = '\0';
    pthread_mutex_unlock(&inspection->lock);
}
