/* SPDX-License-Identifier: MIT */
#include "engine/train/checkpoint/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A failure that has not been fetched yet. */
struct failure {
    bool is_new;
    struct error err;
};

struct checkpoint_writer {
    const struct net *net;
    struct checkpoint_writer_options options; /* its folder is the writer's own: */
    char *folder;
    struct checkpoint buffer; /* the writer's while `writing`, the run's otherwise */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    struct checkpoint_kept kept;
    bool writing, leaving;
    struct failure writes, syncs;
};

static bool sync_history(const struct checkpoint_writer *writer, struct error *err)
{
    return !writer->options.sync || writer->options.sync(writer->options.sync_context, err);
}

static void *writer_main(void *context)
{
    struct checkpoint_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    while (writer->writing || !writer->leaving) {
        if (!writer->writing) {
            pthread_cond_wait(&writer->changed, &writer->lock);
            continue;
        }
        const struct checkpoint_kept kept = writer->kept;
        struct error err = ERROR_INIT, sync_err = ERROR_INIT;
        pthread_mutex_unlock(&writer->lock);
        /* Where that fails the checkpoint is written all the same: losing the training because
         * the run store's disk is full would be worse than a gap in the run's history. */
        bool synced = sync_history(writer, &sync_err);
        bool ok =
            checkpoint_write(writer->net, writer->options.folder, &writer->buffer, &kept, &err);
        pthread_mutex_lock(&writer->lock);
        writer->writes = (struct failure){!ok, err};
        writer->syncs = (struct failure){!synced, sync_err};
        if (ok)
            writer->kept.previous = writer->buffer.place.steps;
        writer->writing = false;
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static void release(struct checkpoint_writer *writer)
{
    checkpoint_free(&writer->buffer);
    free(writer->folder);
    free(writer);
}

static bool start_thread(struct checkpoint_writer *writer, struct error *err)
{
    errno = pthread_mutex_init(&writer->lock, NULL);
    if (errno != 0)
        return error_errno(err, "cannot prepare to write checkpoints");
    errno = pthread_cond_init(&writer->changed, NULL);
    if (errno == 0) {
        errno = pthread_create(&writer->thread, NULL, writer_main, writer);
        if (errno == 0)
            return true;
        pthread_cond_destroy(&writer->changed);
    }
    pthread_mutex_destroy(&writer->lock);
    return error_errno(err, "cannot start the thread that writes checkpoints");
}

bool checkpoint_writer_start(const struct net *net, const struct checkpoint_writer_options *options,
                             struct checkpoint_writer **out, struct error *err)
{
    struct checkpoint_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_memory(err, "checkpoints");
    writer->net = net;
    writer->options = *options;
    writer->options.folder = writer->folder = strdup(options->folder);
    writer->kept = (struct checkpoint_kept){options->previous, -1};
    bool ok = writer->folder ? checkpoint_create(net, &options->arrays, &writer->buffer, err)
                             : error_memory(err, "checkpoints");
    if (!ok || !start_thread(writer, err)) {
        release(writer);
        return false;
    }
    *out = writer;
    return true;
}

struct checkpoint *checkpoint_writer_take(struct checkpoint_writer *writer, bool wait)
{
    pthread_mutex_lock(&writer->lock);
    while (wait && writer->writing)
        pthread_cond_wait(&writer->changed, &writer->lock);
    bool free_now = !writer->writing;
    pthread_mutex_unlock(&writer->lock);
    return free_now ? &writer->buffer : NULL;
}

void checkpoint_writer_give(struct checkpoint_writer *writer, long best_steps)
{
    pthread_mutex_lock(&writer->lock);
    writer->kept.best = best_steps;
    writer->writing = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

static bool take(struct checkpoint_writer *writer, struct failure *failure, struct error *err)
{
    pthread_mutex_lock(&writer->lock);
    bool is_new = failure->is_new;
    if (is_new)
        *err = failure->err;
    failure->is_new = false;
    pthread_mutex_unlock(&writer->lock);
    return is_new;
}

bool checkpoint_writer_failed(struct checkpoint_writer *writer, struct error *err)
{
    return take(writer, &writer->writes, err);
}

bool checkpoint_writer_unsynced(struct checkpoint_writer *writer, struct error *err)
{
    return take(writer, &writer->syncs, err);
}

void checkpoint_writer_stop(struct checkpoint_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->leaving = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
}

void checkpoint_writer_free(struct checkpoint_writer *writer)
{
    if (!writer)
        return;
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    release(writer);
}
