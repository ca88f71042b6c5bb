/* SPDX-License-Identifier: MIT */
#include "engine/server/record/event_mark.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

struct event_mark event_mark_of(const json_t *event)
{
    static const char *const names[] = {"run",     "epoch",    "retune",  "shares",
                                        "profile", "timeline", "warning", "end"};
    struct event_mark mark = {.name = "other", .score = NAN};
    const char *name = json_string_value(json_object_get(event, "event"));
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            mark.name = names[i];
    if (strcmp(mark.name, "epoch") == 0) {
        mark.epoch = (long)json_integer_value(json_object_get(event, "epoch"));
        mark.score = member_score(event);
    }
    return mark;
}
