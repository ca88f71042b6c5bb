/* SPDX-License-Identifier: MIT */
#include "base/event_text.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
    const char *what, *words;
} changes[] = {
    {"pause", "paused"},
    {"resume", "resumed"},
    {"stop_after_epoch", "to stop after this epoch"},
    {"go_on", "not to stop after this epoch"},
};

const char *event_retune_text(char *buffer, size_t size, const json_t *event)
{
    const char *what = json_string_value(json_object_get(event, "what"));
    const json_t *from = json_object_get(event, "from"), *to = json_object_get(event, "to");
    long step = (long)json_integer_value(json_object_get(event, "step"));
    const char *words = what ? what : "?";
    for (size_t i = 0; what && i < sizeof changes / sizeof *changes; i++)
        if (strcmp(what, changes[i].what) == 0)
            words = changes[i].words;
    if (json_is_number(from) && json_is_number(to))
        snprintf(buffer, size, "%s %.6g -> %.6g after step %ld", words, json_number_value(from),
                 json_number_value(to), step);
    else
        snprintf(buffer, size, "%s after step %ld", words, step);
    text_replace_controls(buffer);
    return buffer;
}
