/* SPDX-License-Identifier: MIT */
#include "engine/nvml/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 256, PASSWORD_BYTES = 4096 };

struct found {
    unsigned count;
    struct nvml_process process[MOST];
};

/* A process that computes and draws is in both lists. */
static void add(struct found *found, const struct nvml_process *process)
{
    for (unsigned i = 0; i < found->count; i++)
        if (found->process[i].pid == process->pid)
            return;
    if (found->count < MOST)
        found->process[found->count++] = *process;
}

static int list(const struct nvml_api *api, const struct nvml_gpu *gpu, struct found *found)
{
    struct nvml_handle *handle = gpu->mig ? gpu->mig : gpu->handle;
    struct nvml_process drawing[MOST];
    unsigned drawers = MOST;
    found->count = MOST;
    int code = NVML_CALL(api, compute_processes, handle, &found->count, found->process);
    if (code != NVML_SUCCESS) {
        found->count = 0;
        return code;
    }
    if (NVML_CALL(api, graphics_processes, handle, &drawers, drawing) == NVML_SUCCESS)
        for (unsigned i = 0; i < drawers; i++)
            add(found, &drawing[i]);
    return NVML_SUCCESS;
}

static int by_memory(const void *left, const void *right)
{
    const struct nvml_process *a = left, *b = right;
    if (a->memory != b->memory) /* what is not known, the largest number, is 0 by one more */
        return a->memory + 1 < b->memory + 1 ? 1 : -1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* The share of the GPU's time since the reading before, by its newest sample; NAN: not known. */
static double load_of(const struct nvml_process_use *use, unsigned count, long pid)
{
    const struct nvml_process_use *newest = NULL;
    for (unsigned i = 0; i < count; i++)
        if (use[i].pid == pid && (!newest || use[i].timestamp > newest->timestamp))
            newest = &use[i];
    return newest ? fmin(newest->gpu, 100) / 100 : 0;
}

/* False: the driver does not tell it of this GPU. A GPU that nothing has used lately has none. */
static bool read_use(const struct nvml_api *api, struct nvml_gpu *gpu, struct nvml_process_use *use,
                     unsigned *count)
{
    *count = MOST;
    int code = gpu->mig ? NVML_NOT_SUPPORTED
                        : NVML_CALL(api, process_use, gpu->handle, use, count, gpu->used_until);
    if (code != NVML_SUCCESS)
        *count = 0;
    for (unsigned i = 0; i < *count; i++)
        if (use[i].timestamp > gpu->used_until)
            gpu->used_until = use[i].timestamp;
    return code == NVML_SUCCESS || code == NVML_NOT_FOUND;
}

static void name_user(struct gpu_process *process, uid_t uid)
{
    char space[PASSWORD_BYTES];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(uid, &entry, space, sizeof space, &found) == 0 && found)
        snprintf(process->user, sizeof process->user, "%s", found->pw_name);
    else
        snprintf(process->user, sizeof process->user, "%lu", (unsigned long)uid);
}

/* The words of a command line, with blanks between them; a thread of the kernel has none. */
static bool read_command(struct gpu_process *process)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%ld/cmdline", process->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, process->command, sizeof process->command - 1);
    close(fd);
    for (ssize_t i = 0; i + 1 < length; i++)
        if (process->command[i] == '\0')
            process->command[i] = ' ';
    return length > 0;
}

static void describe(struct gpu_process *process)
{
    char path[40];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%ld", process->pid);
    if (stat(path, &status) != 0) {
        snprintf(process->why, sizeof process->why,
                 errno == ENOENT ? "hidden here: another user's or container's"
                                 : "/proc does not tell: %s",
                 strerror(errno));
        return;
    }
    name_user(process, status.st_uid);
    if (!read_command(process))
        snprintf(process->why, sizeof process->why, "its command cannot be read");
}

/* The fields of proc(5)'s stat that are asked for. */
enum { STAT_NAME = 2, STAT_PARENT = 4, STAT_START = 22 };

/* A number, of those after the name; 0: not known. */
static unsigned long long stat_number(long pid, int wanted)
{
    char path[40], line[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    line[length > 0 ? length : 0] = '\0';
    /* The name may hold blanks and brackets. */
    const char *at = strrchr(line, ')');
    for (int field = STAT_NAME; at && field < wanted; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* When it started, in the kernel's ticks: a number of a process may be given again. 0: not known.
 */
static unsigned long long start_of(long pid)
{
    return stat_number(pid, STAT_START);
}

/* This process, or one that it has started, as a launcher has this host's part of a run. */
static bool is_own(long pid)
{
    while (pid > 1 && pid != getpid())
        pid = (long)stat_number(pid, STAT_PARENT);
    return pid == getpid();
}

/* What was read before of a process that is still there: who knows the users may be far away. */
static bool recall(const struct nvml_gpu *before, struct gpu_process *process,
                   unsigned long long started)
{
    for (int i = 0; started > 0 && i < GPU_PROCESSES; i++) {
        const struct gpu_process *known = &before->figures.process[i];
        if (known->pid != process->pid || before->started[i] != started || *known->why)
            continue;
        memcpy(process->user, known->user, sizeof process->user);
        memcpy(process->command, known->command, sizeof process->command);
        return true;
    }
    return false;
}

int nvml_processes_read(const struct nvml_api *api, struct nvml_gpu *gpu)
{
    const struct nvml_gpu before = *gpu;
    struct found found;
    struct nvml_process_use use[MOST];
    unsigned uses;
    int code = list(api, gpu, &found);
    bool loads = code == NVML_SUCCESS && read_use(api, gpu, use, &uses);
    qsort(found.process, found.count, sizeof found.process[0], by_memory);
    memset(gpu->figures.process, 0, sizeof gpu->figures.process);
    gpu->figures.processes = (int)found.count;
    for (int i = 0; i < gpu_processes_listed(&gpu->figures); i++) {
        struct gpu_process *process = &gpu->figures.process[i];
        process->pid = found.process[i].pid;
        process->own = is_own(process->pid);
        if (found.process[i].memory != NVML_NO_VALUE)
            process->memory = found.process[i].memory;
        process->load = loads ? load_of(use, uses, process->pid) : NAN;
        gpu->started[i] = start_of(process->pid);
        if (!recall(&before, process, gpu->started[i]))
            describe(process);
    }
    return code;
}
