/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/autotune/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/choices.h"
#include "base/escape.h"
#include "base/text.h"
#include "engine/device/cpu/core/machine.h"

/*
 * The autotune cache: what earlier processes measured, so that all processes of a user agree and
 * only the first one measures (see base/choices.h):
 *
 *     versions and instruction set, processor, shape    the key
 *     algorithm, seconds
 */

/* Increase when kernels are added or get faster: older measurements are then ignored. */
#define KERNELS_VERSION 14

static bool split(char *text, char **algorithm, double *seconds)
{
    char *at = text;
    *algorithm = strsep(&at, "\t");
    return at && **algorithm && parse_double(at, 0, 1e6, seconds);
}

static bool understood(const char *text)
{
    char *copy = strdup(text), *algorithm;
    double seconds;
    bool ok = copy && split(copy, &algorithm, &seconds);
    free(copy);
    return ok;
}

static struct choices file_at(const char *path)
{
    return (struct choices){.path = path,
                            .heading = "# the fastest algorithms of convolutions, measured on this "
                                       "CPU; measured again when this file is deleted\n",
                            .understood = understood};
}

/* A new string; NULL: no memory. */
static char *key_of(const struct conv_shape *s, enum conv_direction direction, int threads)
{
    static const char *const names[] = {[CONV_FORWARD] = "forward",
                                        [CONV_BACKWARD_DATA] = "data",
                                        [CONV_BACKWARD_WEIGHTS] = "weights"};
    const dnnl_version_t *v = dnnl_version();
    char name[128], processor[256];
    cpu_processor_name(name, sizeof name);
    escape_copy(processor, sizeof processor, name);
    return text_format(
        "%d, oneDNN %d.%d.%d, set %x\t%s\t%s %d threads %d rows %dx%dx%d/%d to %dx%dx%d/%d kernel "
        "%dx%d stride %dx%d pad %dx%d%s%s%s%s",
        KERNELS_VERSION, v->major, v->minor, v->patch, (unsigned)dnnl_get_effective_cpu_isa(),
        processor, names[direction], threads, s->rows, s->in, s->in_h, s->in_w, s->in_block, s->out,
        s->out_h, s->out_w, s->out_block, s->kernel_h, s->kernel_w, s->stride_h, s->stride_w,
        s->pad_h, s->pad_w, s->bias ? " bias" : "", s->add ? " add" : "", s->relu ? " relu" : "",
        s->bf16 ? " bf16" : "");
}

int conv_cache_find(const struct conv_shape *shape, enum conv_direction direction, int threads,
                    const struct conv_algorithm *list, int count)
{
    struct error none = ERROR_INIT;
    char *path = choices_path("cpu-choices", &none), *key = key_of(shape, direction, threads);
    const struct choices file = file_at(path);
    char *choice = path && key ? choices_find(&file, key) : NULL, *algorithm;
    double seconds;
    int found = -1;
    if (choice && split(choice, &algorithm, &seconds))
        for (int i = 0; i < count; i++)
            if (strcmp(conv_algorithm_name(list[i]), algorithm) == 0)
                found = i;
    free(choice);
    free(key);
    free(path);
    return found;
}

void conv_cache_put(const struct conv_shape *shape, enum conv_direction direction, int threads,
                    struct conv_algorithm algorithm, double seconds)
{
    struct error ignored = ERROR_INIT; /* the next process measures again */
    char *path = choices_path("cpu-choices", &ignored), *key = key_of(shape, direction, threads);
    char *choice = text_format("%s\t%.9f", conv_algorithm_name(algorithm), seconds);
    const struct choices file = file_at(path);
    if (path && key && choice)
        choices_put(&file, key, choice, &ignored);
    free(choice);
    free(key);
    free(path);
}
