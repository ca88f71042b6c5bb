/* SPDX-License-Identifier: MIT */
#include "ui/state/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "spec/json.h"
#include "ui/state/read.h"

/* What only `show` has of a run: whether it may be compared with others. */

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv; never 0, which means "not known". */
static unsigned long digest_of(const char *text)
{
    unsigned long hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = ((hash ^ (unsigned char)*text) * 16777619u) & 0xffffffffu;
    return hash != 0 ? hash : 1;
}

/*
 * Members that a comparison handles separately, or that do not change what a step does.
 * The seed is among them: another one gives results that are as good. Threads that differ from
 * device to device are not: nothing else has a place for them. Micro-batches and stages of a
 * pipeline are by the number of devices.
 */
static const char *const apart[] = {
    "model",    "data",   "data_dir",  "split",       "sync",          "devices",  "batch",
    "lr",       "epochs", "seed",      "cpu_threads", "micro_batches", "replicas", "stages",
    "strategy", "save",   "save_best", "log",         "tensorboard",   "origins",  "recipe",
};

/* A run of an older version lacks settings that are as by default; NULL: memory ran out, or there
 * are none. The caller's own. */
static json_t *with_defaults(const json_t *spec)
{
    struct error ignored = ERROR_INIT;
    struct spec read;
    spec_init(&read);
    json_t *all = spec_from_json(&read, spec, &ignored) ? spec_to_json(&read) : NULL;
    spec_free(&read);
    return all ? all : json_is_object(spec) ? json_copy((json_t *)(uintptr_t)spec) : NULL;
}

void read_setting(const json_t *show, struct run_setting *setting)
{
    const json_t *spec = json_object_get(show, "spec");
    json_t *rest = with_defaults(spec);
    double threads = read_number(spec, "cpu_threads");
    bool uneven = json_is_string(json_object_get(spec, "cpu_threads"));
    setting->threads = threads >= 1 && threads <= 1e6 ? (int)threads : 0;
    const char *strategy = json_string_value(json_object_get(rest, "strategy"));
    snprintf(setting->strategy, sizeof setting->strategy, "%s", strategy ? strategy : "");
    for (size_t i = 0; rest && i < sizeof apart / sizeof apart[0]; i++)
        if (!uneven || strcmp(apart[i], "cpu_threads") != 0)
            json_object_del(rest, apart[i]);
    /* Compact and sorted, so that the same settings are the same text. */
    char *text =
        json_object_size(spec) > 0 ? json_to_text(rest, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    setting->digest = text ? digest_of(text) : 0;
    free(text);
    json_decref(rest);
}
