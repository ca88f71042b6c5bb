/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/throttle.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/telemetry/sensor_file.h"

#define CPU_FOLDER "/sys/devices/system/cpu"
#define CGROUP     "/sys/fs/cgroup"

/* How often the CPU was slowed down by its own temperature or its package's; -1: not known. */
static int64_t count_heat(int root, int cpu)
{
    static const char *const names[] = {"core", "package"};
    int64_t sum = -1;
    for (int i = 0; i < 2; i++) {
        char path[SENSOR_PATH_SIZE];
        int64_t count;
        snprintf(path, sizeof path, CPU_FOLDER "/cpu%d/thermal_throttle/%s_throttle_count", cpu,
                 names[i]);
        if (sensor_read_number(root, path, 0, INT64_MAX / 2, &count) == 0)
            sum = (sum < 0 ? 0 : sum) + count;
    }
    return sum;
}

/* The value of "nr_throttled N", a line of cpu.stat; -1: not known. */
static int64_t count_over_quota(int fd)
{
    static const char name[] = "nr_throttled ";
    char text[1024];
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    const char *line = strstr(text, name);
    int64_t count;
    if (!line)
        return -1;
    text[(line - text) + (ssize_t)strcspn(line, "\n")] = '\0';
    return sensor_parse_number(line + sizeof name - 1, 0, INT64_MAX, &count) == 0 ? count : -1;
}

static void add_quota(struct throttles *throttles, int root, const char *group)
{
    char path[PATH_MAX + 64], text[32];
    snprintf(path, sizeof path, CGROUP "%s/cpu.max", group);
    /* "MICROSECONDS PERIOD", or "max PERIOD" without a limit. */
    if (throttles->quotas == MAX_QUOTAS || sensor_read_text(root, path, text, sizeof text) != 0 ||
        text[0] < '0' || text[0] > '9')
        return;
    snprintf(path, sizeof path, CGROUP "%s/cpu.stat", group);
    int fd = openat(root, path + 1, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    throttles->quota_fd[throttles->quotas] = fd;
    throttles->quota_before[throttles->quotas++] = count_over_quota(fd);
}

static void close_quotas(struct throttles *throttles)
{
    while (throttles->quotas > 0)
        close(throttles->quota_fd[--throttles->quotas]);
}

/* Any of the groups around this process may hold it back, not only its own. */
static void add_quotas(struct throttles *throttles, int root)
{
    char text[PATH_MAX];
    sensor_read_text(root, "/proc/self/cgroup", text, sizeof text);
    char *group = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
    if (!group)
        return;
    group = strchr(group, '/');
    group[strcspn(group, "\n")] = '\0';
    if (!group[1])
        *group = '\0';
    add_quota(throttles, root, group);
    for (char *slash; (slash = strrchr(group, '/'));) {
        *slash = '\0';
        add_quota(throttles, root, group);
    }
}

void throttles_find_quotas(struct throttles *throttles, int root)
{
    int64_t before[MAX_QUOTAS];
    int quotas = throttles->quotas;
    memcpy(before, throttles->quota_before, sizeof before);
    close_quotas(throttles);
    add_quotas(throttles, root);
    /* Most likely the same groups as ever: what happened since the last reading still counts. */
    if (throttles->quotas == quotas)
        memcpy(throttles->quota_before, before, sizeof before);
}

void throttles_close(struct throttles *throttles)
{
    close_quotas(throttles);
    free(throttles->heat_before);
    throttles->heat_before = NULL;
}

static bool grown(int64_t *before, int64_t now)
{
    bool more = *before >= 0 && now > *before;
    *before = now;
    return more;
}

bool throttles_read(struct throttles *throttles, int root, const int *cpus, int count,
                    struct cpu_figures *figures)
{
    bool changed = false, heat_known = false, over_quota = false;
    for (int i = 0; i < count && i < SENSOR_CPUS_PER_UPDATE; i++) {
        int place = throttles->next, cpu = cpus[place];
        throttles->next = (place + 1) % count;
        bool hot = grown(&throttles->heat_before[place], count_heat(root, cpu));
        heat_known |= throttles->heat_before[place] >= 0;
        changed |= hot != figures->hot[cpu];
        figures->hot[cpu] = hot;
    }
    for (int i = 0; i < throttles->quotas; i++)
        over_quota |= grown(&throttles->quota_before[i], count_over_quota(throttles->quota_fd[i]));
    if (!heat_known)
        sensor_say(&figures->missing[SENSOR_THROTTLE],
                   "no " CPU_FOLDER
                   "/cpu*/thermal_throttle (only on Intel, not in virtual machines)");
    changed |= heat_known != figures->heat_known || over_quota != figures->over_quota;
    figures->heat_known = heat_known;
    figures->over_quota = over_quota;
    return changed;
}
