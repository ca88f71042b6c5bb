/* SPDX-License-Identifier: MIT */
#include "spec/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "spec/fields.h"
#include "spec/json.h"
#include "spec/text.h"

/* Of more changes the ones between the first and the last are only counted. */
enum { CHANGES_TOLD = 3 };

static void put_change(struct text *text, const json_t *event)
{
    const double scale = member_number(event, "scale"), epoch = member_number(event, "epoch");
    /* The rates of a schedule say little: it is scaled. */
    if (isfinite(scale))
        text_printf(text, ", then x %.4g", scale);
    else
        text_printf(text, ", then %.6g", member_number(event, "to"));
    text_printf(text, " from epoch %.0f", epoch);
}

/* Is the value one that the run was given when it was resumed, after its first change? */
static bool is_of_resuming(const char *value, const json_t *change)
{
    const double from = member_number(change, "from");
    return isfinite(from) && !isfinite(member_number(change, "scale")) &&
           fabs(strtod(value, NULL) - from) > 1e-6 * fabs(from);
}

/* The value as it began and what it was changed to, made of the one that the spec has, which is
 * taken over; NULL: memory ran out. */
static char *with_changes(char *value, const char *key, const json_t *retunes)
{
    struct text text = TEXT_INIT;
    const json_t *first = NULL;
    int count = 0, told = 0;
    size_t index;
    json_t *event;
    json_array_foreach(retunes, index, event)
    {
        if (strcmp(member_text(event, "what"), key) == 0 && count++ == 0)
            first = event;
    }
    if (!value || count == 0)
        return value;
    const bool resumed = is_of_resuming(value, first);
    if (resumed)
        text_printf(&text, "%.6g", member_number(first, "from"));
    else
        text_puts(&text, value);
    json_array_foreach(retunes, index, event)
    {
        if (strcmp(member_text(event, "what"), key) != 0)
            continue;
        if (++told == 2 && count > CHANGES_TOLD)
            text_printf(&text, ", %d more", count - 2);
        if (told == 1 || told == count || count <= CHANGES_TOLD)
            put_change(&text, event);
    }
    if (resumed)
        text_printf(&text, ", resumed with %s", value);
    free(value);
    if (text_cstr(&text))
        return text.data;
    text_free(&text);
    return NULL;
}

static bool compare(struct spec_differences *differences, const struct spec *specs,
                    const json_t *const *retunes, struct error *err)
{
    for (size_t i = 0; i < spec_field_count; i++) {
        struct spec_difference *next = &differences->list[differences->count];
        next->key = spec_fields[i].key;
        for (int k = 0; k < 2; k++)
            next->value[k] =
                with_changes(spec_field_text(&specs[k], &spec_fields[i]), next->key, retunes[k]);
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

bool spec_differences_find(struct spec_differences *differences, const json_t *const specs[2],
                           const json_t *const retunes[2], struct error *err)
{
    struct spec read[2];
    *differences = (struct spec_differences){.count = 0};
    spec_init(&read[0]);
    spec_init(&read[1]);
    differences->list = calloc(spec_field_count, sizeof *differences->list);
    bool ok = differences->list || error_memory(err, "settings");
    ok = ok && spec_from_json(&read[0], specs[0], err) && spec_from_json(&read[1], specs[1], err) &&
         compare(differences, read, retunes, err);
    spec_free(&read[0]);
    spec_free(&read[1]);
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
