/* SPDX-License-Identifier: MIT */
#include "tests/engine/train/run/hosts_fixture.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/resolve/resolve.h"
#include "tests/fakes/host_threads.h"

struct hosts_seen hosts_seen;
void (*hosts_change)(int host, struct spec *spec);

/* One of the others than the first. */
struct other {
    pthread_t thread;
    struct host_link *link;
    struct recorder *first;
    struct spec spec;
    atomic_int reports;
    bool ok;
};

static void no_event(void *context, json_t *event)
{
    struct other *other = context;
    (void)event;
    atomic_fetch_add(&other->reports, 1);
}

static void no_progress(void *context, const struct run_progress *progress)
{
    struct other *other = context;
    (void)progress;
    atomic_fetch_add(&other->reports, 1);
}

static void no_predictions(void *context, const struct confusion *confusion,
                           const char *const *class_names)
{
    struct other *other = context;
    (void)confusion;
    (void)class_names;
    atomic_fetch_add(&other->reports, 1);
}

static void *train_there(void *context)
{
    struct other *other = context;
    struct run_control control;
    struct run_keep keep = other->first->keep;
    const struct run_sink sink = {.event = no_event,
                                  .progress = no_progress,
                                  .predictions = no_predictions,
                                  .context = other};
    if (keep.checkpoints)
        keep.checkpoints = "/nonexistent/checkpoints";
    keep.sync = NULL;
    run_control_init(&control);
    other->ok = run_train_over(other->link, &other->first->limits, &other->spec, 12, &keep,
                               &control, &sink, &hosts_seen.err[other->link->index]);
    return NULL;
}

/* No such file on this host. */
static void hide(char **path)
{
    if (!*path)
        return;
    free(*path);
    *path = strdup("/nonexistent/file");
    ck_assert_ptr_nonnull(*path);
}

static void begin(struct other *other, struct recorder *first, struct host_link *link)
{
    struct error err = ERROR_INIT;
    *other = (struct other){.link = link, .first = first};
    ck_assert_msg(spec_copy(&other->spec, &first->spec, &err), "%s", err.text);
    hide(&other->spec.save);
    hide(&other->spec.save_best);
    hide(&other->spec.init_file);
    hide(&other->spec.log);
    hide(&other->spec.tensorboard);
    if (hosts_change)
        hosts_change(link->index, &other->spec);
    ck_assert_int_eq(pthread_create(&other->thread, NULL, train_there, other), 0);
}

static void end(struct other *other, bool ok)
{
    const struct host_link *link = other->link;
    ck_assert_int_eq(pthread_join(other->thread, NULL), 0);
    ck_assert_msg(other->ok == ok, "%s: %s", link->hosts.name[link->index],
                  hosts_seen.err[link->index].text);
    ck_assert_int_eq(atomic_load(&other->reports), 0);
    spec_free(&other->spec);
}

/* Until the next run: a device that hung may come back and use its link. */
static struct host_threads *threads;

static bool train_on_all(struct recorder *first, const struct host_list *hosts,
                         const struct run_sink *sink)
{
    struct other *others = calloc((size_t)hosts->count, sizeof *others);
    ck_assert_ptr_nonnull(others);
    host_threads_free(threads);
    threads = host_threads_create(hosts);
    memset(&hosts_seen, 0, sizeof hosts_seen);
    hosts_seen.count = hosts->count;
    if (hosts_change)
        hosts_change(0, &first->spec);
    for (int i = 1; i < hosts->count; i++)
        begin(&others[i], first, host_threads_link(threads, i));
    const bool ok = run_train_over(host_threads_link(threads, 0), &first->limits, &first->spec, 12,
                                   &first->keep, &first->control, sink, &first->err);
    for (int i = 1; i < hosts->count; i++)
        end(&others[i], ok);
    hosts_seen.err[0] = first->err;
    hosts_seen.sums = host_threads_sums(threads);
    free(others);
    return ok;
}

bool train_over_hosts(struct recorder *recorder, const struct run_sink *sink)
{
    struct host_list hosts;
    if (!spec_has_hosts(&recorder->spec))
        return run_train_within(&recorder->limits, &recorder->spec, 12, &recorder->keep,
                                &recorder->control, sink, &recorder->err);
    /* As the engine does, before it starts them. */
    ck_assert_msg(resolve_spec(&recorder->spec, NULL, &recorder->err) &&
                      spec_hosts(&recorder->spec, &hosts, &recorder->err),
                  "%s", recorder->err.text);
    return train_on_all(recorder, &hosts, sink);
}
