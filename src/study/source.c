/* SPDX-License-Identifier: MIT */
#include "study/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "events/status.h"

/* What becomes of a run's status. */
static enum study_state state_of(enum run_status status, bool engine)
{
    if (status == RUN_DONE)
        return STUDY_DONE;
    if (status == RUN_FAILED)
        return STUDY_FAILED;
    /* Without an engine nothing trains: it was killed, and the next one will notice. */
    return status < RUN_DONE && engine ? STUDY_RUNNING : STUDY_STOPPED;
}

/* *object is NULL when there is no such run. */
static bool find_run(struct run_source *source, long run, json_t **object, struct error *err)
{
    if (run <= 0 || run_source_show(source, run, object, err))
        return true;
    *object = NULL;
    if (err->kind != ERROR_ABSENT)
        return false;
    *err = (struct error)ERROR_INIT;
    return true;
}

bool study_source_run(struct run_source *source, struct study_entry *entry, struct study_run *run,
                      struct error *err)
{
    json_t *object = NULL;
    measure_free(&run->measure);
    *run = (struct study_run){.variant = entry->variant, .wall_s = NAN};
    bool ok = find_run(source, entry->run, &object, err);
    if (ok && object) {
        const char *error = json_string_value(json_object_get(object, "error"));
        ok = measure_read(&run->measure, json_object_get(object, "epochs"), err);
        measure_read_devices(&run->measure, object);
        run->wall_s = member_number(object, "ended_at") - member_number(object, "started_at");
        entry->state = state_of(run_status_find(member_text(object, "status")),
                                source->client || source->silent);
        if (entry->state == STUDY_FAILED)
            snprintf(entry->reason, sizeof entry->reason, "%s", error ? error : "not known");
    } else if (ok && entry->run > 0) {
        entry->state = STUDY_DELETED;
    }
    run->state = entry->state;
    json_decref(object);
    return ok;
}

bool study_source_runs(struct run_source *source, struct study *study, struct study_run **runs,
                       struct error *err)
{
    bool ok = true;
    *runs = calloc((size_t)study->entry_count, sizeof **runs);
    if (!*runs)
        return error_memory(err, "runs");
    for (int i = 0; ok && i < study->entry_count; i++)
        ok = study_source_run(source, &study->entries[i], &(*runs)[i], err);
    if (!ok) {
        study_runs_free(study, *runs);
        *runs = NULL;
    }
    return ok;
}

void study_runs_free(const struct study *study, struct study_run *runs)
{
    for (int i = 0; runs && i < study->entry_count; i++)
        measure_free(&runs[i].measure);
    free(runs);
}
