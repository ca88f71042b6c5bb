/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/telemetry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"

/* /proc/stat holds one long line of interrupt counts; the lines of the CPUs come before it. */
#define PROC_LIMIT ((size_t)256 << 10)
/* Seconds after which a sample says nothing about the present. */
#define STALE_AFTER 5
/* Seconds that the end of the engine waits for a system that does not answer. */
#define STOP_PATIENCE 1
/* What a viewer can see: a hundredth of load, a MiB of memory. */
#define LOAD_STEP   0.01
#define MEMORY_STEP ((uint64_t)1 << 20)

struct telemetry {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool leaving, ended;
    bool abandoned; /* nobody waits for the thread: it releases all this */
    struct telemetry_sample sample;
    double sampled_at; /* when the system last answered */
    bool stale;        /* the sample was too old and has been dropped */
    /* of the sampling thread alone: */
    int root;
    char *buffer;
    struct cpu_sensors *sensors;
    struct cpu_figures figures;
    struct cpu_ticks before[TELEMETRY_MAX_CPUS];
};

/* The beginning of a file below the root as a string; "" when it cannot be read. */
static const char *read_proc(struct telemetry *telemetry, const char *path)
{
    char *buffer = telemetry->buffer;
    size_t length = 0;
    int fd = openat(telemetry->root, path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && length < PROC_LIMIT - 1) {
        ssize_t got = read(fd, buffer + length, PROC_LIMIT - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    buffer[length] = '\0';
    return buffer;
}

void telemetry_parse_stat(const char *text, struct cpu_ticks *ticks, int capacity)
{
    memset(ticks, 0, (size_t)capacity * sizeof *ticks);
    for (const char *line = text; line && *line;) {
        int cpu;
        uint64_t t[8] = {0};
        /* user nice system idle iowait irq softirq steal; guest time is part of user already. */
        int fields = sscanf(line,
                            "cpu%d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                            " %" SCNu64 " %" SCNu64 " %" SCNu64,
                            &cpu, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
        if (line[0] == 'c' && line[3] != ' ' && fields >= 5 && cpu >= 0 && cpu < capacity) {
            for (int i = 0; i < 8; i++)
                ticks[cpu].total += t[i];
            ticks[cpu].busy = ticks[cpu].total - t[3] - t[4];
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
}

uint64_t telemetry_parse_memory(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line && *line;) {
        uint64_t kib;
        if (strncmp(line, name, length) == 0 && line[length] == ':' &&
            sscanf(line + length + 1, "%" SCNu64, &kib) == 1)
            return kib << 10;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return 0;
}

static void sample_load(struct telemetry *telemetry, struct telemetry_sample *sample)
{
    struct cpu_ticks now[TELEMETRY_MAX_CPUS];
    telemetry_parse_stat(read_proc(telemetry, "proc/stat"), now, TELEMETRY_MAX_CPUS);
    for (int i = 0; i < TELEMETRY_MAX_CPUS; i++) {
        struct cpu_ticks *before = &telemetry->before[i];
        sample->load[i] = NAN;
        if (before->total && now[i].total > before->total && now[i].busy >= before->busy)
            sample->load[i] =
                (double)(now[i].busy - before->busy) / (double)(now[i].total - before->total);
        *before = now[i];
    }
}

static void sample_memory(struct telemetry *telemetry, struct telemetry_sample *sample)
{
    const char *text = read_proc(telemetry, "proc/meminfo");
    sample->memory_total = telemetry_parse_memory(text, "MemTotal");
    uint64_t available = telemetry_parse_memory(text, "MemAvailable");
    if (available && available <= sample->memory_total)
        sample->memory_used = sample->memory_total - available;
    text = read_proc(telemetry, "proc/self/statm");
    uint64_t pages;
    if (sscanf(text, "%*u %" SCNu64, &pages) == 1)
        sample->memory_engine = pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool memory_differs(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) >= MEMORY_STEP;
}

static bool visibly_differs(const struct telemetry_sample *a, const struct telemetry_sample *b)
{
    if (memory_differs(a->memory_used, b->memory_used) ||
        memory_differs(a->memory_engine, b->memory_engine) || a->memory_total != b->memory_total)
        return true;
    for (int i = 0; i < TELEMETRY_MAX_CPUS; i++)
        if (isnan(a->load[i]) != isnan(b->load[i]) || fabs(a->load[i] - b->load[i]) >= LOAD_STEP)
            return true;
    return false;
}

/* All but the version. */
static void forget(struct telemetry_sample *sample, const char *reason)
{
    *sample = (struct telemetry_sample){.version = sample->version};
    for (int i = 0; i < TELEMETRY_MAX_CPUS; i++)
        sample->load[i] = NAN;
    cpu_figures_init(&sample->sensors, reason);
}

/* With the lock held: what is shown shall not be taken for the present while the thread hangs. */
static void expire(struct telemetry *telemetry)
{
    if (telemetry->stale || clock_seconds() - telemetry->sampled_at < STALE_AFTER)
        return;
    forget(&telemetry->sample, "the sensors of the system do not answer");
    telemetry->sample.version++;
    telemetry->stale = true;
}

static void release(struct telemetry *telemetry)
{
    cpu_sensors_close(telemetry->sensors);
    if (telemetry->root >= 0)
        close(telemetry->root);
    free(telemetry->buffer);
    pthread_cond_destroy(&telemetry->wake);
    pthread_mutex_destroy(&telemetry->lock);
    free(telemetry);
}

static void *sample_forever(void *context)
{
    struct telemetry *telemetry = context;
    pthread_mutex_lock(&telemetry->lock);
    while (!telemetry->leaving) {
        pthread_mutex_unlock(&telemetry->lock);
        struct telemetry_sample next = {.version = 0};
        sample_load(telemetry, &next);
        sample_memory(telemetry, &next);
        bool sensed = cpu_sensors_update(telemetry->sensors, clock_seconds(), &telemetry->figures);
        next.sensors = telemetry->figures;
        struct timespec until = deadline_after(1);
        pthread_mutex_lock(&telemetry->lock);
        telemetry->sampled_at = clock_seconds();
        if (sensed || telemetry->stale || visibly_differs(&telemetry->sample, &next)) {
            next.version = telemetry->sample.version + 1;
            telemetry->sample = next;
            telemetry->stale = false;
        }
        while (!telemetry->leaving &&
               pthread_cond_timedwait(&telemetry->wake, &telemetry->lock, &until) == 0)
            ;
    }
    telemetry->ended = true;
    bool abandoned = telemetry->abandoned;
    pthread_cond_signal(&telemetry->wake);
    pthread_mutex_unlock(&telemetry->lock);
    if (abandoned)
        release(telemetry);
    return NULL;
}

static bool open_system(struct telemetry *telemetry, const char *root, const int *cpus, int count,
                        struct error *err)
{
    telemetry->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (telemetry->root < 0)
        return error_errno(err, "cannot open %s", root);
    telemetry->buffer = malloc(PROC_LIMIT);
    telemetry->sensors = cpu_sensors_open(telemetry->root, cpus, count);
    return (telemetry->buffer && telemetry->sensors) || error_memory(err, "telemetry");
}

bool telemetry_start(struct telemetry **out, const char *root, const int *cpus, int count,
                     struct error *err)
{
    struct telemetry *telemetry = calloc(1, sizeof *telemetry);
    if (!telemetry)
        return error_memory(err, "telemetry");
    cpu_figures_init(&telemetry->figures, "not read yet");
    forget(&telemetry->sample, "not read yet");
    telemetry->sampled_at = clock_seconds();
    deadline_cond_init(&telemetry->wake);
    pthread_mutex_init(&telemetry->lock, NULL);
    bool ok = open_system(telemetry, root, cpus, count, err);
    if (ok) {
        errno = pthread_create(&telemetry->thread, NULL, sample_forever, telemetry);
        ok = errno == 0 || error_errno(err, "cannot start the telemetry thread");
    }
    if (!ok) {
        release(telemetry);
        return false;
    }
    *out = telemetry;
    return true;
}

void telemetry_stop(struct telemetry *telemetry)
{
    if (!telemetry)
        return;
    pthread_t thread = telemetry->thread;
    struct timespec until = deadline_after(STOP_PATIENCE);
    pthread_mutex_lock(&telemetry->lock);
    telemetry->leaving = true;
    pthread_cond_signal(&telemetry->wake);
    while (!telemetry->ended &&
           pthread_cond_timedwait(&telemetry->wake, &telemetry->lock, &until) == 0)
        ;
    bool ended = telemetry->ended;
    telemetry->abandoned = !ended;
    pthread_mutex_unlock(&telemetry->lock);
    if (ended) {
        pthread_join(thread, NULL);
        release(telemetry);
    } else {
        pthread_detach(thread);
    }
}

void telemetry_read(struct telemetry *telemetry, struct telemetry_sample *sample)
{
    pthread_mutex_lock(&telemetry->lock);
    expire(telemetry);
    *sample = telemetry->sample;
    pthread_mutex_unlock(&telemetry->lock);
}

uint64_t telemetry_version(struct telemetry *telemetry)
{
    pthread_mutex_lock(&telemetry->lock);
    expire(telemetry);
    uint64_t version = telemetry->sample.version;
    pthread_mutex_unlock(&telemetry->lock);
    return version;
}

double telemetry_load(const struct telemetry_sample *sample, const int *cpus, int count)
{
    double sum = 0;
    int known = 0;
    for (int i = 0; i < count; i++) {
        if (cpus[i] < 0 || cpus[i] >= TELEMETRY_MAX_CPUS || isnan(sample->load[cpus[i]]))
            continue;
        sum += sample->load[cpus[i]];
        known++;
    }
    return known ? sum / known : NAN;
}
