/* SPDX-License-Identifier: MIT */
#include "spec/likeness.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "spec/json.h"

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv; never 0. */
static unsigned long digest_of(const char *text)
{
    unsigned long hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = ((hash ^ (unsigned char)*text) * 16777619u) & 0xffffffffu;
    return hash != 0 ? hash : 1;
}

/*
 * Members that are left out. The seed is among them: another one gives results that are as good.
 * Threads that differ from device to device are not: nothing else has a place for them.
 * Micro-batches and stages of a pipeline are by the number of devices.
 */
static const char *const apart[] = {
    "model",    "data",   "data_dir",  "split",       "sync",          "devices",  "batch",
    "lr",       "epochs", "seed",      "cpu_threads", "micro_batches", "replicas", "stages",
    "strategy", "save",   "save_best", "log",         "tensorboard",   "origins",  "recipe",
};

unsigned long spec_likeness(const struct spec *spec)
{
    json_t *rest = spec_to_json(spec);
    for (size_t i = 0; rest && i < sizeof apart / sizeof apart[0]; i++)
        if (spec->thread_count == 0 || strcmp(apart[i], "cpu_threads") != 0)
            json_object_del(rest, apart[i]);
    /* Compact and sorted, so that the same settings are the same text. */
    char *text = rest ? json_to_text(rest, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    unsigned long digest = text ? digest_of(text) : 0;
    free(text);
    json_decref(rest);
    return digest;
}
