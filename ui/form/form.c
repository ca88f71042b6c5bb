/* SPDX-License-Identifier: MIT */
#include "ui/form/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/fields.h"
#include "spec/fill.h"
#include "spec/origin.h"
#include "spec/set.h"
#include "spec/text.h"
#include "ui/form/devices.h"
#include "ui/form/field.h"

#define FORM_KEYS(name, key, label) [FORM_##name] = {key, label},
static const struct {
    const char *key, *label;
} fields[FORM_FIELDS] = {FORM_SETTINGS(FORM_KEYS)};
#undef FORM_KEYS

bool form_init(struct form *form, const struct spec *spec, struct error *err)
{
    *form = (struct form){.cpu_top = -1};
    return spec_copy(&form->spec, spec, err);
}

void form_free(struct form *form)
{
    spec_free(&form->spec);
}

int form_lines(const struct form *form)
{
    return form->unfolded ? FORM_FIELDS : FORM_COMMON + 1;
}

bool form_on_fold(const struct form *form)
{
    return !form->unfolded && (int)form->field == FORM_COMMON;
}

void form_unfold(struct form *form)
{
    form->unfolded = true;
}

const char *form_label(enum form_field field)
{
    return fields[field].label ? fields[field].label : fields[field].key;
}

bool form_changed(const struct form *form, enum form_field field)
{
    const struct spec_field *of = spec_find_field(fields[field].key);
    struct spec initial;
    spec_init(&initial);
    char *now = spec_field_text(&form->spec, of), *first = spec_field_text(&initial, of);
    bool changed =
        spec_origin(&form->spec, of) == ORIGIN_GIVEN && now && first && strcmp(now, first) != 0;
    free(now);
    free(first);
    return changed;
}

static bool is_label(const char *label, const char *word)
{
    for (; *label && (*label == *word || (*label == ' ' && *word == '-')); label++)
        word++;
    return *label == '\0' && *word == '\0';
}

const char *form_key(const char *word)
{
    const struct spec_field *field = spec_find_field(word);
    for (int i = 0; !field && i < FORM_FIELDS; i++)
        if (is_label(form_label((enum form_field)i), word))
            field = spec_find_field(fields[i].key);
    return field ? field->key : NULL;
}

const char *form_hint(enum form_field field)
{
    return field_find(fields[field].key)->hint;
}

char *form_text(const struct form *form, enum form_field field)
{
    struct error ignored = ERROR_INIT;
    return spec_get(&form->spec, fields[field].key, &ignored);
}

bool form_steps(enum form_field field)
{
    return field_find(fields[field].key)->step != STEP_NOT;
}

bool form_in_use(const struct form *form, enum form_field field)
{
    const bool pipeline =
        field == FORM_MICRO_BATCHES || field == FORM_REPLICAS || field == FORM_STAGES;
    return !pipeline || form->spec.strategy == STRATEGY_PIPELINE;
}

bool form_origin(const struct form *form, enum form_field field, const struct form_check *check,
                 char *buffer, size_t size)
{
    const struct spec_field *of = spec_find_field(fields[field].key);
    enum spec_origin origin = spec_origin(&form->spec, of);
    const char *model = form->spec.model ? form->spec.model : check->model;
    const char *base = strrchr(model, '/');
    if (origin == ORIGIN_RECIPE)
        snprintf(buffer, size, "%s's recipe", base ? base + 1 : model);
    return origin == ORIGIN_RECIPE;
}

bool form_set(struct form *form, enum form_field field, const char *value, struct error *err)
{
    if (!(value[0] ? spec_set(&form->spec, fields[field].key, value, err)
                   : spec_unset(&form->spec, fields[field].key, err)))
        return false;
    /* A batch or rate chosen by hand is meant for the devices there are now; those that were chosen
     * for one network and optimizer say nothing of another. */
    if (field == FORM_BATCH || field == FORM_LR || field == FORM_MODEL || field == FORM_OPTIMIZER ||
        field == FORM_RECIPE)
        form->base_devices = 0;
    return true;
}

bool form_take_filled(struct form *form, const struct spec *resolved, struct error *err)
{
    const long batch = form->spec.batch;
    const double lr = form->spec.lr;
    const bool ok = spec_take_filled(&form->spec, resolved, err);
    if (form->spec.batch != batch || form->spec.lr != lr)
        form->base_devices = 0;
    return ok;
}

bool form_step(struct form *form, enum form_field field, int direction, struct error *err)
{
    char *text = form_text(form, field);
    char next[64];
    if (!text)
        return error_memory(err, "the form");
    bool ok = !field_next(field_find(fields[field].key), text, direction, next, sizeof next) ||
              strcmp(next, text) == 0 || form_set(form, field, next, err);
    free(text);
    return ok;
}

/* A device that was asked for and cannot be had: the engine would say so only at the start. */
static bool gpu_problem(const struct form *form, const struct state *state, char *buffer,
                        size_t size)
{
    const struct device_list *list = &form->spec.devices;
    const char *none = state->no_gpus[0] != '\0' ? state->no_gpus : "not on this machine";
    struct form_device devices[FORM_MAX_DEVICES];
    char name[DEVICE_NAME];
    if (!state->known)
        return false;
    int count = form_devices(form, state, devices), chosen = 0;
    for (int i = 0; i < count; i++) {
        const struct state_device *known = devices[i].known;
        chosen += devices[i].chosen;
        if (!devices[i].chosen || (known && known->available) ||
            (!known && devices[i].id.kind == DEVICE_CPU))
            continue;
        snprintf(buffer, size, "%s: %s", device_id_text(devices[i].id, name),
                 !known ? none : known->reason);
        return true;
    }
    if (chosen > 0 || (list->choice != DEVICES_ALL_GPUS && list->choice != DEVICES_FIRST_GPUS &&
                       list->choice != DEVICES_FREE_GPUS))
        return false;
    snprintf(buffer, size, "no GPU can be used: %s", none);
    return true;
}

bool form_problem(const struct form *form, const struct state *state,
                  const struct form_check *check, char *buffer, size_t size)
{
    const struct spec *spec = &form->spec;
    int devices = form_device_count(form, state);
    bool rows = strategy_divides_rows(spec->strategy);
    struct error err = ERROR_INIT;
    if (!spec_validate(spec, &err)) {
        snprintf(buffer, size, "%s", err.text);
        return true;
    }
    if (gpu_problem(form, state, buffer, size))
        return true;
    if (devices == 0)
        return false;
    if (rows && spec->split == SPLIT_EVEN && spec->batch % devices != 0)
        snprintf(buffer, size, "split even: a batch of %ld row%s does not divide by %d devices",
                 spec->batch, plural(spec->batch), devices);
    else if (spec->split == SPLIT_WEIGHTED && spec->weight_count != devices)
        snprintf(buffer, size, "split weighted: %d weight%s for %d device%s", spec->weight_count,
                 plural(spec->weight_count), devices, plural(devices));
    else if (check && check->problem[0] != '\0')
        snprintf(buffer, size, "%s", check->problem);
    else if (check && check->train_rows > 0 && spec->batch > check->train_rows)
        snprintf(buffer, size, "batch %ld: there %s %ld training row%s, one step an epoch",
                 spec->batch, check->train_rows == 1 ? "is" : "are", check->train_rows,
                 plural(check->train_rows));
    else if (rows && spec->batch < devices)
        snprintf(buffer, size, "a batch of %ld row%s leaves %ld of %d devices without work",
                 spec->batch, plural(spec->batch), devices - spec->batch, devices);
    else
        return false;
    return true;
}

bool form_take(struct form *form, const struct spec *spec, struct error *err)
{
    struct spec copy;
    if (!spec_copy(&copy, spec, err))
        return false;
    spec_free(&form->spec);
    form->spec = copy;
    form->base_devices = 0;
    return true;
}
