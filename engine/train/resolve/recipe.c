/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/recipe.h"

#include <string.h>

#include "engine/model/file.h"
#include "engine/train/resolve/optimizer.h"
#include "spec/fill.h"

bool resolve_recipe(struct spec *spec, const char *path, struct error *err)
{
    struct spec recipe;
    if (spec->resolved)
        return true;
    bool ok = net_load_recipe(path, &recipe, err) &&
              (spec->recipe == RECIPE_NONE || spec_fill(spec, &recipe, err)) &&
              resolve_optimizer(spec, err);
    spec_fit_warmup(spec, recipe.epochs);
    spec_free(&recipe);
    if (!ok)
        return false;
    spec->resolved = true;
    if (spec_validate(spec, err))
        return true;
    return memchr(spec->origin, ORIGIN_RECIPE, sizeof spec->origin)
               ? error_prefix(err, "with the recipe of %s", path)
               : false;
}
