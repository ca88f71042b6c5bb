/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/optimizer.h"

#include "spec/origin.h"
#include "spec/set.h"

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

bool resolve_optimizer(struct spec *spec, struct error *err)
{
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
