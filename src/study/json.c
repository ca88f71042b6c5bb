/* SPDX-License-Identifier: MIT */
#include "study/json.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "spec/fields.h"
#include "spec/names.h"

/* Raised when older programs could not read the file. */
enum { STUDY_FORMAT = 1 };

static const char devices_kind[] = "devices", strategies_kind[] = "strategies";
static const char *const scalings[] = {"strong", "weak", NULL};
static const char *const states[] = {"waiting", "running", "done", "failed",
                                     "stopped", "deleted", NULL};

const char *study_state_name(enum study_state state)
{
    return states[state];
}

static json_t *variant_json(const struct study_variant *variant)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:I, s:f, s:O}", "label", variant->label, "devices",
                     variant->devices, "cpus", variant->cpus, "threads", variant->threads, "batch",
                     (json_int_t)variant->batch, "lr", variant->lr, "spec", variant->spec);
}

static json_t *entry_json(const struct study_entry *entry)
{
    return json_pack("{s:i, s:i, s:I, s:o, s:s, s:o}", "variant", entry->variant, "repeat",
                     entry->repeat, "seed", (json_int_t)entry->seed, "run",
                     entry->run > 0 ? json_integer(entry->run) : json_null(), "state",
                     states[entry->state], "reason",
                     entry->reason[0] ? json_any_text(entry->reason) : json_null());
}

void study_kind_text(const struct study *study, char *buffer, size_t size)
{
    if (study->kind == STUDY_DEVICES)
        snprintf(buffer, size, "%s", study->strategies ? strategies_kind : devices_kind);
    else
        snprintf(buffer, size, "%s%s%s", study->varied[0], study->varied_count > 1 ? "," : "",
                 study->varied[1]);
}

json_t *study_to_json(const struct study *study)
{
    char kind[sizeof study->varied + 1];
    json_t *variants = json_array(), *entries = json_array();
    bool ok = variants && entries;
    for (int i = 0; ok && i < study->variant_count; i++)
        ok = json_array_append_new(variants, variant_json(&study->variants[i])) == 0;
    for (int i = 0; ok && i < study->entry_count; i++)
        ok = json_array_append_new(entries, entry_json(&study->entries[i])) == 0;
    if (!ok) {
        json_decref(variants);
        json_decref(entries);
        return NULL;
    }
    study_kind_text(study, kind, sizeof kind);
    return json_pack("{s:i, s:s, s:s, s:s, s:b, s:i, s:i, s:I, s:o, s:f, s:o, s:o}", "format",
                     STUDY_FORMAT, "id", study->id, "kind", kind, "scaling",
                     scalings[study->scaling], "lists", study->lists, "repeats", study->repeats,
                     "cores", study->cores, "train_rows", (json_int_t)study->train_rows,
                     "target_acc", json_finite(study->target_acc), "created", study->created,
                     "variants", variants, "runs", entries);
}

/* A member that has to be there. */
static bool need(const json_t *object, const char *key, struct error *err)
{
    const json_t *value = json_object_get(object, key);
    return (value && !json_is_null(value)) || error_set(err, ERROR_USAGE, "\"%s\" is missing", key);
}

static bool get_int(const json_t *object, const char *key, long low, long high, int *out,
                    struct error *err)
{
    long value = 0;
    if (!need(object, key, err) || !json_get_long(object, key, low, high, &value, err))
        return false;
    *out = (int)value;
    return true;
}

static bool get_word(const json_t *object, const char *key, const char *const *words, int *out,
                     struct error *err)
{
    const char *value = NULL;
    if (!need(object, key, err) || !json_get_string(object, key, &value, err))
        return false;
    for (*out = 0; words[*out]; ++*out)
        if (strcmp(words[*out], value) == 0)
            return true;
    return error_set(err, ERROR_USAGE, "%s '%.40s' is not known", key, value);
}

static bool get_text(const json_t *object, const char *key, char *buffer, size_t size,
                     struct error *err)
{
    const char *value = "";
    if (!json_get_string(object, key, &value, err))
        return false;
    snprintf(buffer, size, "%s", value);
    return true;
}

static bool read_variant(struct study_variant *variant, const json_t *object, struct error *err)
{
    json_t *spec = json_object_get(object, "spec");
    *variant = (struct study_variant){.lr = NAN};
    if (!json_is_object(spec))
        return error_set(err, ERROR_USAGE, "a variant has no spec");
    if (!get_text(object, "label", variant->label, sizeof variant->label, err) ||
        !get_int(object, "devices", 0, SPEC_MAX_DEVICES, &variant->devices, err) ||
        !get_int(object, "cpus", 0, SPEC_MAX_DEVICES, &variant->cpus, err) ||
        !get_int(object, "threads", 0, INT_MAX, &variant->threads, err) ||
        !json_get_long(object, "batch", 1, LONG_MAX, &variant->batch, err) ||
        !json_get_double(object, "lr", 0, INFINITY, &variant->lr, err))
        return false;
    if (!strategy_find(member_text(spec, "strategy"), &variant->strategy))
        variant->strategy = STRATEGY_DATA;
    variant->spec = json_incref(spec);
    return true;
}

static bool read_entry(const struct study *study, struct study_entry *entry, const json_t *object,
                       struct error *err)
{
    int state = 0;
    long seed = 0;
    *entry = (struct study_entry){.run = 0};
    if (!get_int(object, "variant", 0, study->variant_count - 1, &entry->variant, err) ||
        !get_int(object, "repeat", 0, STUDY_REPEATS - 1, &entry->repeat, err) ||
        !json_get_long(object, "seed", 0, LONG_MAX, &seed, err) ||
        !json_get_long(object, "run", 1, LONG_MAX, &entry->run, err) ||
        !get_word(object, "state", states, &state, err) ||
        !get_text(object, "reason", entry->reason, sizeof entry->reason, err))
        return false;
    entry->seed = (uint64_t)seed;
    entry->state = (enum study_state)state;
    return true;
}

static bool read_kind(struct study *study, const json_t *object, struct error *err)
{
    const char *kind = NULL;
    if (!need(object, "kind", err) || !json_get_string(object, "kind", &kind, err))
        return false;
    study->strategies = strcmp(kind, strategies_kind) == 0;
    if (study->strategies || strcmp(kind, devices_kind) == 0)
        return true;
    study->kind = STUDY_SETTINGS;
    for (const char *at = kind; study->varied_count < STUDY_VARIED;) {
        char *key = study->varied[study->varied_count++];
        int length = (int)strcspn(at, ",");
        snprintf(key, sizeof study->varied[0], "%.*s", length, at);
        if (!spec_find_field(key))
            break;
        if (!at[length])
            return true;
        at += length + 1;
    }
    return error_set(err, ERROR_USAGE, "kind '%.40s' is not known", kind);
}

static bool read_head(struct study *study, const json_t *object, struct error *err)
{
    int format = 0, scaling = 0;
    if (!get_int(object, "format", 1, INT_MAX, &format, err))
        return false;
    if (format > STUDY_FORMAT)
        return error_set(err, ERROR_FAILED, "a newer dpartui wrote it");
    if (!get_text(object, "id", study->id, sizeof study->id, err) ||
        !read_kind(study, object, err) || !get_word(object, "scaling", scalings, &scaling, err) ||
        !json_get_bool(object, "lists", &study->lists, err) ||
        !get_int(object, "repeats", 1, STUDY_REPEATS, &study->repeats, err) ||
        !get_int(object, "cores", 1, INT_MAX, &study->cores, err) ||
        !json_get_long(object, "train_rows", 0, LONG_MAX, &study->train_rows, err) ||
        !json_get_double(object, "target_acc", 0, 1, &study->target_acc, err) ||
        !json_get_double(object, "created", 0, INFINITY, &study->created, err))
        return false;
    study->scaling = (enum scaling)scaling;
    return true;
}

bool study_from_json(struct study *study, const json_t *object, struct error *err)
{
    const json_t *variants = json_object_get(object, "variants");
    const json_t *entries = json_object_get(object, "runs");
    size_t variant_count = json_array_size(variants), entry_count = json_array_size(entries);
    *study = (struct study){.target_acc = NAN};
    if (!read_head(study, object, err))
        return false;
    if (variant_count < 1 || variant_count > STUDY_VARIANTS || entry_count < 1 ||
        entry_count > (size_t)STUDY_VARIANTS * STUDY_REPEATS)
        return error_set(err, ERROR_USAGE, "it has no variants or no runs, or too many");
    study->entries = calloc(entry_count, sizeof *study->entries);
    bool ok = study->entries || error_memory(err, "comparison");
    for (size_t i = 0; ok && i < variant_count; i++)
        if ((ok = read_variant(&study->variants[i], json_array_get(variants, i), err)))
            study->variant_count++;
    for (size_t i = 0; ok && i < entry_count; i++)
        if ((ok = read_entry(study, &study->entries[i], json_array_get(entries, i), err)))
            study->entry_count++;
    if (!ok)
        study_free(study);
    return ok;
}
