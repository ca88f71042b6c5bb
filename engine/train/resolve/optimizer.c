/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/optimizer.h"

#include <stdio.h>
#include <stdlib.h>

#include "spec/fields.h"
#include "spec/names.h"
#include "spec/origin.h"
#include "spec/set.h"
#include "spec/text.h"

/* PyTorch's. */
static const struct {
    enum optimizer_kind optimizer;
    const char *key, *value;
} defaults[] = {
    {OPTIMIZER_ADAM, "lr", "0.001"},      {OPTIMIZER_ADAMW, "lr", "0.001"},
    {OPTIMIZER_RMSPROP, "lr", "0.01"},    {OPTIMIZER_ADAMW, "weight-decay", "0.01"},
    {OPTIMIZER_RMSPROP, "beta2", "0.99"},
};

static bool fill_in(struct spec *spec, const char *key, const char *value, struct error *err)
{
    const struct spec_field *field = spec_find_field(key);
    if (spec_origin(spec, field) != ORIGIN_DEFAULT)
        return true;
    bool ok = spec_set(spec, key, value, err);
    spec_set_origin(spec, field, ORIGIN_OPTIMIZER);
    return ok;
}

/* What another optimizer has filled in, of a run that is resumed. */
static bool take_out(struct spec *spec, const char *key, struct error *err)
{
    const struct spec_field *field = spec_find_field(key);
    struct spec initial;
    if (spec_origin(spec, field) != ORIGIN_OPTIMIZER)
        return true;
    spec_init(&initial);
    char *value = spec_get(&initial, key, err);
    const bool ok = value && spec_set(spec, key, value, err);
    free(value);
    spec_set_origin(spec, field, ORIGIN_DEFAULT);
    return ok;
}

bool resolve_optimizer(struct spec *spec, struct error *err)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!take_out(spec, defaults[i].key, err))
            return false;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (defaults[i].optimizer == spec->optimizer &&
            !fill_in(spec, defaults[i].key, defaults[i].value, err))
            return false;
    return spec->optimizer != OPTIMIZER_NESTEROV || spec->momentum > 0 ||
           error_set(
               err, ERROR_USAGE,
               "optimizer nesterov looks ahead by the momentum, which is 0: give one, such as "
               "momentum 0.9, or take sgd");
}

/* The constants that only some optimizers have. */
static const struct {
    const char *key;
    unsigned of; /* a bit for each optimizer_kind */
    const char *names;
} constants[] = {
    {"momentum", 1 << OPTIMIZER_SGD | 1 << OPTIMIZER_NESTEROV | 1 << OPTIMIZER_RMSPROP,
     "sgd, nesterov or rmsprop"},
    {"beta1", 1 << OPTIMIZER_ADAM | 1 << OPTIMIZER_ADAMW, "adam or adamw"},
    {"beta2", 1 << OPTIMIZER_ADAM | 1 << OPTIMIZER_ADAMW | 1 << OPTIMIZER_RMSPROP,
     "adam, adamw or rmsprop"},
    {"eps", 1 << OPTIMIZER_ADAM | 1 << OPTIMIZER_ADAMW | 1 << OPTIMIZER_RMSPROP,
     "adam, adamw or rmsprop"},
};

bool inspect_optimizer(const struct spec *spec, const struct preflight_sink *sink,
                       struct error *err)
{
    struct spec initial;
    char text[200];
    bool ok = true;
    spec_init(&initial);
    for (size_t i = 0; ok && i < sizeof constants / sizeof *constants; i++) {
        const struct spec_field *field = spec_find_field(constants[i].key);
        const double value = *(const double *)spec_field_at(spec, field);
        if (spec->epochs == 0 || constants[i].of >> spec->optimizer & 1 ||
            spec_origin(spec, field) != ORIGIN_GIVEN ||
            value == *(const double *)spec_field_at(&initial, field))
            continue;
        snprintf(text, sizeof text,
                 "%s %g is not used: %s does not have it; leave it out, or take optimizer %s",
                 field->key, value, optimizer_names[spec->optimizer], constants[i].names);
        ok = sink->warn(sink->context, text, err);
    }
    return ok;
}
