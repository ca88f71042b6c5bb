/* SPDX-License-Identifier: MIT */
#include "engine/train/saver.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct saver {
    const struct net *net;
    char *folder;
    struct checkpoint buffer; /* the writer's while `writing`, the run's otherwise */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    long best_steps;
    bool writing, leaving, failed;
    struct error err;
};

static void *write_for_ever(void *context)
{
    struct saver *saver = context;
    pthread_mutex_lock(&saver->lock);
    while (saver->writing || !saver->leaving) {
        if (!saver->writing) {
            pthread_cond_wait(&saver->changed, &saver->lock);
            continue;
        }
        long best_steps = saver->best_steps;
        struct error err = ERROR_INIT;
        pthread_mutex_unlock(&saver->lock);
        bool ok = checkpoint_write(saver->net, saver->folder, &saver->buffer, best_steps, &err);
        pthread_mutex_lock(&saver->lock);
        saver->failed = !ok;
        saver->err = err;
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

bool saver_start(const struct net *net, const char *folder, bool momentum, struct saver **out,
                 struct error *err)
{
    struct saver *saver = calloc(1, sizeof *saver);
    if (!saver)
        return error_memory(err, "checkpoints");
    saver->net = net;
    saver->folder = strdup(folder);
    bool ok = saver->folder ? checkpoint_create(net, momentum, &saver->buffer, err)
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
    saver->best_steps = best_steps;
    saver->writing = true;
    pthread_cond_broadcast(&saver->changed);
    pthread_mutex_unlock(&saver->lock);
}

bool saver_failed(struct saver *saver, struct error *err)
{
    pthread_mutex_lock(&saver->lock);
    bool failed = saver->failed;
    if (failed)
        *err = saver->err;
    saver->failed = false;
    pthread_mutex_unlock(&saver->lock);
    return failed;
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
