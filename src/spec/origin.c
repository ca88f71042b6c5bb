/* SPDX-License-Identifier: MIT */
#include "spec/origin.h"

#include <stdlib.h>
#include <string.h>

#include "spec/text.h"

static const char *const names[] = {
    [ORIGIN_OPTIMIZER] = "optimizer", [ORIGIN_RECIPE] = "recipe", [ORIGIN_GIVEN] = "given"};

enum spec_origin spec_origin(const struct spec *spec, const struct spec_field *field)
{
    return (enum spec_origin)spec->origin[field - spec_fields];
}

void spec_set_origin(struct spec *spec, const struct spec_field *field, enum spec_origin origin)
{
    spec->origin[field - spec_fields] = (unsigned char)origin;
}

void spec_give(struct spec *spec, const char *key)
{
    const struct spec_field *field = spec_find_field(key);
    if (field)
        spec_set_origin(spec, field, ORIGIN_GIVEN);
}

const char *spec_origin_name(enum spec_origin origin)
{
    return names[origin];
}

bool spec_origin_find(const char *name, enum spec_origin *origin)
{
    for (size_t i = ORIGIN_OPTIMIZER; i <= ORIGIN_GIVEN; i++)
        if (strcmp(names[i], name) == 0) {
            *origin = (enum spec_origin)i;
            return true;
        }
    return false;
}

bool spec_reopen(struct spec *spec, struct error *err)
{
    struct spec initial;
    bool ok = true;
    spec_init(&initial);
    spec->resolved = false;
    for (const struct spec_field *field = spec_fields; field < spec_fields + spec_field_count;
         field++) {
        if (spec_origin(spec, field) != ORIGIN_DEFAULT)
            continue;
        char *now = spec_field_text(spec, field), *first = spec_field_text(&initial, field);
        ok = ok && now && first;
        if (now && first && strcmp(now, first) != 0)
            spec_set_origin(spec, field, ORIGIN_GIVEN);
        free(now);
        free(first);
    }
    return ok || error_memory(err, "run specification");
}
