/* SPDX-License-Identifier: MIT */
#include "engine/train/checkpoint/saver.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A failure that was not asked for yet. */
struct failure {
    bool is_new;
    struct error err;
};

struct saver {
    const struct net *net;
    struct saver_options options; /* its folder is the saver's own: */
    char *folder;
    struct checkpoint buffer; /* the writer's while `writing`, the run's otherwise */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    struct checkpoint_kept kept;
    bool writing, leaving;
    struct failure writes, syncs;
};

static bool sync_history(const struct saver *saver, struct error *err)
{
    return !saver->options.sync || saver->options.sync(saver->options.sync_context, err);
}

static void *write_for_ever(void *context)
{
    struct saver *saver = context;
    pthread_mutex_lock(&saver->lock);
    while (saver->writing || !saver->leaving) {
        if (!saver->writing) {
            pthread_cond_wait(&saver->changed, &saver->lock);
            continue;
        }
        const struct checkpoint_kept kept = saver->kept;
        struct error err = ERROR_INIT, sync_err = ERROR_INIT;
        pthread_mutex_unlock(&saver->lock);
        /* Where that fails the checkpoint is written all the same: losing the training because
         * the run store's disk is full would be worse than a gap in the run's history. */
        bool synced = sync_history(saver, &sync_err);
        bool ok = checkpoint_write(saver->net, saver->options.folder, &saver->buffer, &kept, &err);
        pthread_mutex_lock(&saver->lock);
        saver->writes = (struct failure){!ok, err};
        saver->syncs = (struct failure){!synced, sync_err};
        if (ok)
            saver->kept.previous = saver->buffer.place.steps;
        saver->writing = false;
        pthread_cond_broadcast(&saver->changed);
    }
    pthread_mutex_unlock(&saver->lock);
    return NULL;
}

static void release(struct saver *saver)
{
    checkpoint_free(&saver->buffer);
    free(saver->folder);
    free(saver);
}

static bool start_thread(struct saver *saver, struct error *err)
{
    errno = pthread_mutex_init(&saver->lock, NULL);
    if (errno != 0)
        return error_errno(err, "cannot prepare to write checkpoints");
    errno = pthread_cond_init(&saver->changed, NULL);
    if (errno == 0) {
        errno = pthread_create(&saver->thread, NULL, write_for_ever, saver);
        if (errno == 0)
            return true;
        pthread_cond_destroy(&saver->changed);
    }
    pthread_mutex_destroy(&saver->lock);
    return error_errno(err, "cannot start the thread that writes checkpoints");
}

bool saver_start(const struct net *net, const struct saver_options *options, struct saver **out,
                 struct error *err)
{
    struct saver *saver = calloc(1, sizeof *saver);
    if (!saver)
        return error_memory(err, "checkpoints");
    saver->net = net;
    saver->options = *options;
    saver->options.folder = saver->folder = strdup(options->folder);
    saver->kept = (struct checkpoint_kept){options->previous, -1};
    bool ok = saver->folder ? checkpoint_create(net, options->momentum, &saver->buffer, err)
                            : error_memory(err, "checkpoints");
    if (!ok || !start_thread(saver, err)) {
        release(saver);
        return false;
    }
    *out = saver;
    return true;
}

struct checkpoint *saver_take(struct saver *saver, bool wait)
{
    pthread_mutex_lock(&saver->lock);
    while (wait && saver->writing)
        pthread_cond_wait(&saver->changed, &saver->lock);
    bool free_now = !saver->writing;
    pthread_mutex_unlock(&saver->lock);
    return free_now ? &saver->buffer : NULL;
}

void saver_give(struct saver *saver, long best_steps)
{
    pthread_mutex_lock(&saver->lock);
    saver->kept.best = best_steps;
    saver->writing = true;
    pthread_cond_broadcast(&saver->changed);
    pthread_mutex_unlock(&saver->lock);
}

static bool take(struct saver *saver, struct failure *failure, struct error *err)
{
    pthread_mutex_lock(&saver->lock);
    bool is_new = failure->is_new;
    if (is_new)
        *err = failure->err;
    failure->is_new = false;
    pthread_mutex_unlock(&saver->lock);
    return is_new;
}

bool saver_failed(struct saver *saver, struct error *err)
{
    return take(saver, &saver->writes, err);
}

bool saver_unsynced(struct saver *saver, struct error *err)
{
    return take(saver, &saver->syncs, err);
}

void saver_stop(struct saver *saver)
{
    if (!saver)
        return;
    pthread_mutex_lock(&saver->lock);
    saver->leaving = true;
    pthread_cond_broadcast(&saver->changed);
    pthread_mutex_unlock(&saver->lock);
    pthread_join(saver->thread, NULL);
}

void saver_free(struct saver *saver)
{
    if (!saver)
        return;
    pthread_cond_destroy(&saver->changed);
    pthread_mutex_destroy(&saver->lock);
    release(saver);
}
