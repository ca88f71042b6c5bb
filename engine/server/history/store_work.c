/* SPDX-License-Identifier: MIT */
#include "engine/server/history/store_work.h"

#include <math.h>
#include <stdlib.h>

#include "store/rescue/copy.h"
#include "store/write.h"

void store_work_free(struct store_work *work)
{
    if (!work)
        return;
    json_decref(work->json);
    json_decref(work->spec);
    json_decref(work->environment);
    free(work->text);
    free(work);
}

void store_work_add(struct store_work_list *list, struct store_work *work)
{
    if (!list->first)
        list->end = &list->first;
    *list->end = work;
    list->end = &work->next;
    list->count++;
}

struct store_work *store_work_take(struct store_work_list *list)
{
    struct store_work *work = list->first;
    list->first = work->next;
    list->count--;
    work->next = NULL;
    return work;
}

void store_work_join(struct store_work_list *list, struct store_work_list *more)
{
    if (!more->first)
        return;
    if (!list->first)
        list->end = &list->first;
    *list->end = more->first;
    list->end = more->end;
    list->count += more->count;
    *more = (struct store_work_list){.first = NULL};
}

void store_work_clear(struct store_work_list *list)
{
    while (list->first)
        store_work_free(store_work_take(list));
}

bool store_work_do(struct store *store, const struct store_work *work, struct error *err)
{
    switch (work->kind) {
    case WORK_RUN:
        return store_put_run(store, work->json, work->spec, work->environment, err);
    case WORK_EVENT:
    case WORK_EPOCH:
        return store_add_event(store, work->run, work->name, work->text, err);
    case WORK_REWIND:
        return store_rewind(store, work->run, work->steps, err);
    case WORK_POINT:
        return store_add_point(store, work->run, work->json, err);
    case WORK_POINTS:
        return store_set_points(store, work->run, work->json, err);
    case WORK_TAGS:
        return store_set_tags(store, work->run, work->json, err);
    case WORK_DELETE:
        /* One that never got there is gone as well. */
        return store_delete_run(store, work->run, err) || err->kind == ERROR_ABSENT;
    }
    return true;
}

static json_int_t run_of(const struct store_work *state)
{
    return json_integer_value(json_object_get(state->json, "run"));
}

/* Takes over `newer`, unless it is NULL. */
static void replace(json_t **value, json_t **newer)
{
    if (!*newer)
        return;
    json_decref(*value);
    *value = *newer;
    *newer = NULL;
}

void store_work_put_state(struct store_work_list *list, struct store_work *state)
{
    struct store_work *earlier = list->first;
    while (earlier && run_of(earlier) != run_of(state))
        earlier = earlier->next;
    if (!earlier) {
        store_work_add(list, state);
        return;
    }
    replace(&earlier->json, &state->json);
    replace(&earlier->spec, &state->spec);
    replace(&earlier->environment, &state->environment);
    store_work_free(state);
}

bool store_work_make_way(struct store *store, const struct store_work_list *list,
                         struct store_taken *taken, struct error *err)
{
    for (const struct store_work *work = list->first; work; work = work->next) {
        const json_t *time = json_object_get(work->json, "submitted_at");
        if (work->kind == WORK_RUN &&
            !store_make_way(store, (long)run_of(work),
                            json_is_number(time) ? json_number_value(time) : NAN, taken, err))
            return false;
    }
    return true;
}
