/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/clock.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/telemetry/device_sensors.h"
#include "engine/telemetry/sensor_file.h"

#define CPU_FOLDER "/sys/devices/system/cpu"

/* kHz no CPU can have. */
#define FASTEST 100000000
#define STEP    10 /* MHz */

/* /proc/cpuinfo is long on large machines, and where it is all there is the clock hardly moves. */
#define CPUINFO_EVERY 5

static int read_khz(int root, int cpu, const char *name, char *path, size_t size, int64_t *khz)
{
    snprintf(path, size, CPU_FOLDER "/cpu%d/cpufreq/%s", cpu, name);
    return sensor_read_number(root, path, 1, FASTEST, khz);
}

void clocks_find(struct clocks *clocks, int root, const int *cpus, int count)
{
    char path[SENSOR_PATH_SIZE];
    int64_t khz;
    *clocks = (struct clocks){.cpufreq = false};
    for (int i = 0; i < count && i < SENSOR_CPUS_PER_UPDATE && !clocks->cpufreq; i++)
        clocks->cpufreq = read_khz(root, cpus[i], "scaling_cur_freq", path, sizeof path, &khz) == 0;
}

static bool show_clock(float *shown, double mhz)
{
    double clock = *shown;
    bool changed = sensor_show(&clock, mhz, STEP);
    *shown = (float)clock;
    return changed;
}

static bool read_cpu(int root, int cpu, struct cpu_figures *figures)
{
    char path[SENSOR_PATH_SIZE];
    int64_t khz;
    int error = read_khz(root, cpu, "scaling_cur_freq", path, sizeof path, &khz);
    if (error)
        sensor_say_error(&figures->missing[SENSOR_CLOCK], path, error);
    bool changed = show_clock(&figures->clock_mhz[cpu], error ? NAN : (double)khz / 1000);
    error = read_khz(root, cpu, "cpuinfo_max_freq", path, sizeof path, &khz);
    if (error)
        sensor_say_error(&figures->missing[SENSOR_CLOCK_MAX], path, error);
    return show_clock(&figures->clock_max_mhz[cpu], error ? NAN : (double)khz / 1000) || changed;
}

/* Lines "processor : N" and, some lines further, "cpu MHz : M"; `mhz` of all CPUs. */
static void read_cpuinfo(int root, float *mhz)
{
    char *line = NULL;
    size_t size = 0;
    int fd = openat(root, "proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file && fd >= 0)
        close(fd);
    for (int cpu = -1, number; file && getline(&line, &size, file) > 0;) {
        float clock;
        if (sscanf(line, "processor : %d", &number) == 1)
            cpu = number;
        else if (sscanf(line, "cpu MHz : %f", &clock) == 1 && cpu >= 0 &&
                 cpu < TELEMETRY_MAX_CPUS && clock > 0 && clock <= FASTEST / 1000.0f)
            mhz[cpu] = clock;
    }
    free(line);
    if (file)
        fclose(file);
}

static bool show_cpuinfo(int root, const int *cpus, int count, struct cpu_figures *figures)
{
    float mhz[TELEMETRY_MAX_CPUS];
    bool changed = false;
    for (int i = 0; i < TELEMETRY_MAX_CPUS; i++)
        mhz[i] = NAN;
    read_cpuinfo(root, mhz);
    for (int i = 0; i < count; i++) {
        changed |= show_clock(&figures->clock_mhz[cpus[i]], mhz[cpus[i]]);
        changed |= show_clock(&figures->clock_max_mhz[cpus[i]], NAN);
    }
    sensor_say(&figures->missing[SENSOR_CLOCK],
               "neither " CPU_FOLDER "/cpu*/cpufreq nor /proc/cpuinfo has it");
    sensor_say(&figures->missing[SENSOR_CLOCK_MAX], "no " CPU_FOLDER "/cpu*/cpufreq");
    return changed;
}

bool clocks_read(struct clocks *clocks, int root, const int *cpus, int count,
                 struct cpu_figures *figures)
{
    bool changed = false;
    if (!clocks->cpufreq) {
        if (clocks->wait-- > 0)
            return false;
        clocks->wait = CPUINFO_EVERY - 1;
        return show_cpuinfo(root, cpus, count, figures);
    }
    for (int i = 0; i < count && i < SENSOR_CPUS_PER_UPDATE; i++) {
        changed |= read_cpu(root, cpus[clocks->next], figures);
        clocks->next = (clocks->next + 1) % count;
    }
    return changed;
}
