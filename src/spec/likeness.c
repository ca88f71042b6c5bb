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

/* Settings that do not change how long a step takes. All others do, new ones too. */
static const char *const timeless[] = {
    "data-dir",   "launcher",
    "host-limit", "restarts",
    "lr",         "lr-schedule",
    "warmup",     "weight-decay",
    "beta1",      "beta2",
    "eps",        "no-decay",
    "epochs",     "label-smoothing",
    "recipe",     "test-rows",
    "patience",   "stop-at-acc",
    "init",       "max-steps",
    "save",       "checkpoint-every",
    "save-best",  "log",
    "notify",     "tensorboard",
};

static bool is_among(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static bool is_apart(const struct spec *spec, const char *key)
{
    if (strcmp(key, "cpu-threads") == 0)
        return spec->thread_count == 0;
    return is_among(key, apart, sizeof apart / sizeof apart[0]);
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

/* Up to the GPUs that are free now: "free:2=cuda:1,cuda:3". */
static bool is_same(const char *a, const char *b, bool devices)
{
    const size_t length = devices ? strcspn(a, "=") : strlen(a);
    return strncmp(a, b, length) == 0 && (b[length] == '\0' || (devices && b[length] == '='));
}

bool spec_is_as_fast(const struct spec *spec, const struct spec *other)
{
    bool same = true;
    for (size_t i = 0; same && i < spec_field_count; i++) {
        const struct spec_field *field = &spec_fields[i];
        if (is_among(field->key, timeless, sizeof timeless / sizeof timeless[0]))
            continue;
        char *a = spec_field_text(spec, field), *b = spec_field_text(other, field);
        same = a && b && is_same(a, b, field->kind == FIELD_DEVICES);
        free(a);
        free(b);
    }
    return same;
}
