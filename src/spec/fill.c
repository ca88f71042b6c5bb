/* SPDX-License-Identifier: MIT */
#include "spec/fill.h"

#include <stdlib.h>
#include <string.h>

#include "spec/fields.h"
#include "spec/origin.h"
#include "spec/set.h"
#include "spec/text.h"

enum recipe_part {
    RECIPE_FIELD,
    RECIPE_OPTIMIZER, /* of use with the recipe's own optimizer only */
};

static const struct {
    const char *key;
    enum recipe_part part;
} parts[] = {
    {"batch", RECIPE_FIELD},       {"lr", RECIPE_OPTIMIZER},
    {"lr-schedule", RECIPE_FIELD}, {"warmup", RECIPE_FIELD},
    {"optimizer", RECIPE_FIELD},   {"momentum", RECIPE_OPTIMIZER},
    {"beta1", RECIPE_OPTIMIZER},   {"weight-decay", RECIPE_OPTIMIZER},
    {"beta2", RECIPE_OPTIMIZER},   {"eps", RECIPE_OPTIMIZER},
    {"epochs", RECIPE_FIELD},      {"init", RECIPE_FIELD},
    {"augment", RECIPE_FIELD},     {"label-smoothing", RECIPE_FIELD},
    {"clip-norm", RECIPE_FIELD},   {"no-decay", RECIPE_OPTIMIZER},
    {"ema", RECIPE_FIELD},
};

bool spec_in_recipe(const struct spec_field *field)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (spec_find_field(parts[i].key) == field)
            return true;
    return false;
}

/* Does it go with the recipe's optimizer, and somebody has chosen another? */
static bool of_other_optimizer(const struct spec *spec, const struct spec_field *field,
                               const struct spec *recipe)
{
    if (spec_origin(spec, spec_find_field("optimizer")) != ORIGIN_GIVEN ||
        spec->optimizer == recipe->optimizer)
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].part == RECIPE_OPTIMIZER && spec_find_field(parts[i].key) == field)
            return true;
    return false;
}

static bool copy_field(struct spec *spec, const struct spec_field *field, const struct spec *from,
                       enum spec_origin origin, struct error *err)
{
    char *value = spec_field_text(from, field);
    bool ok = value ? spec_set(spec, field->key, value, err) : error_memory(err, field->key);
    free(value);
    if (ok)
        spec_set_origin(spec, field, origin);
    return ok;
}

bool spec_fill(struct spec *spec, const struct spec *recipe, struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < spec_field_count; i++) {
        const struct spec_field *field = &spec_fields[i];
        if (spec_origin(recipe, field) == ORIGIN_GIVEN &&
            spec_origin(spec, field) != ORIGIN_GIVEN && !of_other_optimizer(spec, field, recipe))
            ok = copy_field(spec, field, recipe, ORIGIN_RECIPE, err);
    }
    return ok;
}

void spec_fit_warmup(struct spec *spec, long epochs)
{
    double *warmup = &spec->schedule.warmup;
    if (spec_origin(spec, spec_find_field("warmup")) == ORIGIN_RECIPE && spec->epochs > 0 &&
        epochs > 0 && *warmup > (double)spec->epochs)
        *warmup *= (double)spec->epochs / (double)epochs;
}

bool spec_take_filled(struct spec *spec, const struct spec *resolved, struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < spec_field_count; i++) {
        const struct spec_field *field = &spec_fields[i];
        if (spec_in_recipe(field) && spec_origin(spec, field) != ORIGIN_GIVEN)
            ok = copy_field(spec, field, resolved, spec_origin(resolved, field), err);
    }
    return ok;
}

bool spec_unset(struct spec *spec, const char *key, struct error *err)
{
    struct spec initial;
    const struct spec_field *field = spec_find_field(key);
    if (!field)
        return error_set(err, ERROR_USAGE, "there is no setting '%s'", key);
    spec_init(&initial);
    return copy_field(spec, field, &initial, ORIGIN_DEFAULT, err);
}
