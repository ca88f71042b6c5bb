/* SPDX-License-Identifier: MIT */
#include "spec/difference.h"

#include <stdlib.h>
#include <string.h>

#include "spec/fields.h"
#include "spec/json.h"
#include "spec/text.h"

static bool compare(struct spec_differences *differences, const struct spec *specs,
                    struct error *err)
{
    for (size_t i = 0; i < spec_field_count; i++) {
        struct spec_difference *next = &differences->list[differences->count];
        for (int k = 0; k < 2; k++)
            next->value[k] = spec_field_text(&specs[k], &spec_fields[i]);
        next->key = spec_fields[i].key;
        differences->count++;
        if (!next->value[0] || !next->value[1])
            return error_memory(err, "settings");
        if (strcmp(next->value[0], next->value[1]) != 0)
            continue;
        differences->count--;
        free(next->value[0]);
        free(next->value[1]);
    }
    return true;
}

bool spec_differences_find(struct spec_differences *differences, const json_t *first,
                           const json_t *second, struct error *err)
{
    struct spec specs[2];
    *differences = (struct spec_differences){.count = 0};
    spec_init(&specs[0]);
    spec_init(&specs[1]);
    differences->list = calloc(spec_field_count, sizeof *differences->list);
    bool ok = differences->list || error_memory(err, "settings");
    ok = ok && spec_from_json(&specs[0], first, err) && spec_from_json(&specs[1], second, err) &&
         compare(differences, specs, err);
    spec_free(&specs[0]);
    spec_free(&specs[1]);
    return ok;
}

void spec_differences_free(struct spec_differences *differences)
{
    while (differences->count > 0) {
        struct spec_difference *last = &differences->list[--differences->count];
        free(last->value[0]);
        free(last->value[1]);
    }
    free(differences->list);
    *differences = (struct spec_differences){.count = 0};
}
