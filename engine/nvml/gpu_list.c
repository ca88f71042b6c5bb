/* SPDX-License-Identifier: MIT */
#include "engine/nvml/gpu_list.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct gpu_figures *gpu_list_find(const struct gpu_list *list, const char *uuid)
{
    for (int i = 0; i < list->count; i++)
        if (*uuid && strcmp(list->gpu[i].uuid, uuid) == 0)
            return &list->gpu[i];
    return NULL;
}

static void say(struct sensor_reason *reason, const char *text)
{
    snprintf(reason->text, sizeof reason->text, "%s", text);
}

void gpu_figures_drop(struct gpu_figures *gpu, const char *reason)
{
    gpu->load = gpu->tensor_load = gpu->memory_load = NAN;
    gpu->memory_used = 0;
    say(&gpu->no_load, reason);
    gpu->no_tensor_load = gpu->no_memory_load = gpu->no_memory = gpu->no_processes = gpu->no_load;
    gpu->processes = 0;
    device_sensors_init(&gpu->sensors, reason);
}

void gpu_list_copy(struct gpu_list *to, const struct gpu_list *from)
{
    to->version = from->version;
    to->count = from->count;
    to->none = from->none;
    memcpy(to->gpu, from->gpu, (size_t)from->count * sizeof *to->gpu);
}

/* The first device of the GPU with this index; -1: none. */
static int find_index(long index, const struct gpu_name *names, int count)
{
    for (int i = 0; i < count; i++)
        if (names[i].gpu == index)
            return i;
    return -1;
}

/* The first device of the one GPU, or the one MIG instance, whose UUID begins so; -1: none. */
static int find_uuid(const char *word, size_t length, const struct gpu_name *names, int count)
{
    bool mig = strncasecmp(word, "MIG-", 4) == 0;
    int found = -1;
    for (int i = 0; i < count; i++) {
        const char *uuid = mig ? names[i].mig_uuid : names[i].gpu_uuid;
        if (strncasecmp(uuid, word, length) != 0)
            continue;
        if (found < 0)
            found = i;
        else if (mig || names[i].gpu != names[found].gpu)
            return -1;
    }
    return found;
}

static int find_named(const char *word, size_t length, const struct gpu_name *names, int count)
{
    if (length > 4 && (strncasecmp(word, "GPU-", 4) == 0 || strncasecmp(word, "MIG-", 4) == 0))
        return find_uuid(word, length, names, count);
    if (!length || !isdigit((unsigned char)word[0]))
        return -1;
    char *end;
    long index = strtol(word, &end, 10);
    return end == word + length ? find_index(index, names, count) : -1;
}

int gpus_visible(const char *visible, const struct gpu_name *names, int count, int *order)
{
    int taken = 0;
    for (int i = 0; !visible && i < count; i++)
        order[taken++] = i;
    while (visible) {
        const char *comma = strchr(visible, ',');
        const char *end = comma ? comma : visible + strlen(visible);
        while (visible < end && isspace((unsigned char)*visible))
            visible++;
        while (end > visible && isspace((unsigned char)end[-1]))
            end--;
        int found = find_named(visible, (size_t)(end - visible), names, count);
        if (found < 0)
            break;
        for (int i = 0; i < taken; i++)
            if (order[i] == found)
                return 0;
        order[taken++] = found;
        visible = comma ? comma + 1 : NULL;
    }
    return taken;
}
