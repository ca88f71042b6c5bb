/* SPDX-License-Identifier: MIT */
#include "engine/telemetry.h"

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

/* /proc/stat holds one long line of interrupt counts; the lines of the CPUs come before it. */
#define PROC_LIMIT ((size_t)256 << 10)
/* What a viewer can see: a hundredth of load, a MiB of memory. */
#define LOAD_STEP   0.01
#define MEMORY_STEP ((uint64_t)1 << 20)

struct telemetry {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool leaving;
    struct telemetry_sample sample;
    /* of the sampling thread alone: */
    char *buffer;
    struct cpu_ticks before[TELEMETRY_MAX_CPUS];
};

/* The beginning of a file of /proc as a string in `buffer`; "" when it cannot be read. */
static const char *read_proc(const char *path, char *buffer, size_t size)
{
    size_t length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && length < size - 1) {
        ssize_t got = read(fd, buffer + length, size - 1 - length);
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
    telemetry_parse_stat(read_proc("/proc/stat", telemetry->buffer, PROC_LIMIT), now,
                         TELEMETRY_MAX_CPUS);
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
    const char *text = read_proc("/proc/meminfo", telemetry->buffer, PROC_LIMIT);
    sample->memory_total = telemetry_parse_memory(text, "MemTotal");
    uint64_t available = telemetry_parse_memory(text, "MemAvailable");
    if (available && available <= sample->memory_total)
        sample->memory_used = sample->memory_total - available;
    text = read_proc("/proc/self/statm", telemetry->buffer, PROC_LIMIT);
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

static void *sample_forever(void *context)
{
    struct telemetry *telemetry = context;
    pthread_mutex_lock(&telemetry->lock);
    while (!telemetry->leaving) {
        pthread_mutex_unlock(&telemetry->lock);
        struct telemetry_sample next = {.version = 0};
        sample_load(telemetry, &next);
        sample_memory(telemetry, &next);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1;
        pthread_mutex_lock(&telemetry->lock);
        if (visibly_differs(&telemetry->sample, &next)) {
            next.version = telemetry->sample.version + 1;
            telemetry->sample = next;
        }
        while (!telemetry->leaving &&
               pthread_cond_timedwait(&telemetry->wake, &telemetry->lock, &until) == 0)
            ;
    }
    pthread_mutex_unlock(&telemetry->lock);
    return NULL;
}

bool telemetry_start(struct telemetry **out, struct error *err)
{
    struct telemetry *telemetry = calloc(1, sizeof *telemetry);
    char *buffer = malloc(PROC_LIMIT);
    if (!telemetry || !buffer) {
        free(telemetry);
        free(buffer);
        return error_memory(err, "telemetry");
    }
    telemetry->buffer = buffer;
    for (int i = 0; i < TELEMETRY_MAX_CPUS; i++)
        telemetry->sample.load[i] = NAN;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&telemetry->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&telemetry->lock, NULL);
    errno = pthread_create(&telemetry->thread, NULL, sample_forever, telemetry);
    if (errno) {
        error_errno(err, "cannot start the telemetry thread");
        pthread_cond_destroy(&telemetry->wake);
        pthread_mutex_destroy(&telemetry->lock);
        free(buffer);
        free(telemetry);
        return false;
    }
    *out = telemetry;
    return true;
}

void telemetry_stop(struct telemetry *telemetry)
{
    if (!telemetry)
        return;
    pthread_mutex_lock(&telemetry->lock);
    telemetry->leaving = true;
    pthread_cond_signal(&telemetry->wake);
    pthread_mutex_unlock(&telemetry->lock);
    pthread_join(telemetry->thread, NULL);
    pthread_cond_destroy(&telemetry->wake);
    pthread_mutex_destroy(&telemetry->lock);
    free(telemetry->buffer);
    free(telemetry);
}

void telemetry_read(struct telemetry *telemetry, struct telemetry_sample *sample)
{
    pthread_mutex_lock(&telemetry->lock);
    *sample = telemetry->sample;
    pthread_mutex_unlock(&telemetry->lock);
}

uint64_t telemetry_version(struct telemetry *telemetry)
{
    pthread_mutex_lock(&telemetry->lock);
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
