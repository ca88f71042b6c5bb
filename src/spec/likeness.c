/* SPDX-License-Identifier: MIT */
#include "spec/likeness.h"

#include <stdlib.h>
#include <string.h>

#include "spec/fields.h"
#include "spec/text.h"

/*
 * Settings that are left out. The seed is among them: another one gives results that are as good.
 * Threads that differ from device to device are not: nothing else has a place for them.
 * Micro-batches and stages of a pipeline are by the number of devices.
 */
static const char *const apart[] = {
    "model", "data",      "data-dir", "split",         "sync",     "devices", "batch",
    "lr",    "epochs",    "seed",     "micro-batches", "replicas", "stages",  "strategy",
    "save",  "save-best", "log",      "tensorboard",   "recipe",   "notify",
};

/* What a step's time depends on, of the settings that a run may be resumed with. */
static const char *const timing[] = {
    "devices",  "hosts",   "cpu-threads", "strategy", "micro-batches", "replicas",
    "stages",   "split",   "sync",        "sync-bn",  "dtype",         "optimizer",
    "momentum", "augment", "clip-norm",   "ema",      "deterministic", "profile",
};

static bool is_apart(const struct spec *spec, const char *key)
{
    if (strcmp(key, "cpu-threads") == 0)
        return spec->thread_count == 0;
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
        if (strcmp(apart[i], key) == 0)
            return true;
    return false;
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv; with the NUL, which sets texts apart. */
static unsigned long add_text(unsigned long hash, const char *text)
{
    do
        hash = ((hash ^ (unsigned char)*text) * 16777619u) & 0xffffffffu;
    while (*text++ != '\0');
    return hash;
}

unsigned long spec_likeness(const struct spec *spec)
{
    unsigned long hash = 2166136261u;
    for (size_t i = 0; i < spec_field_count; i++) {
        const struct spec_field *field = &spec_fields[i];
        if (is_apart(spec, field->key))
            continue;
        char *value = spec_field_text(spec, field);
        if (!value)
            return 0;
        hash = add_text(add_text(hash, field->key), value);
        free(value);
    }
    return hash != 0 ? hash : 1;
}

bool spec_is_as_fast(const struct spec *spec, const struct spec *other)
{
    bool same = true;
    for (size_t i = 0; same && i < sizeof timing / sizeof timing[0]; i++) {
        const struct spec_field *field = spec_find_field(timing[i]);
        char *a = spec_field_text(spec, field), *b = spec_field_text(other, field);
        same = a && b && strcmp(a, b) == 0;
        free(a);
        free(b);
    }
    return same;
}
