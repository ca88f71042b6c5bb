/* SPDX-License-Identifier: MIT */
#include "events/changes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static const struct {
    const char *what, *words;
} changes[] = {
    {"pause", "paused"},
    {"resume", "unpaused"},
    {"stop_after_epoch", "stop at epoch end requested"},
    {"go_on", "stop cancelled"},
};

const char *retune_words(const char *what)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(what, changes[i].what) == 0)
            return changes[i].words;
    return what;
}

const char *retune_text(char *buffer, size_t size, const char *what,
                        const struct retune_figures *figures)
{
    const char *words = retune_words(what);
    char scaled[48] = "";
    if (isfinite(figures->scale))
        snprintf(scaled, sizeof scaled, " (schedule x %.4g)", figures->scale);
    if (isfinite(figures->from) && isfinite(figures->to))
        snprintf(buffer, size, "%s %.6g -> %.6g after step %.0f%s", words, figures->from,
                 figures->to, figures->step, scaled);
    else
        snprintf(buffer, size, "%s after step %.0f", words, figures->step);
    return buffer;
}

const char *event_retune_text(char *buffer, size_t size, const json_t *event)
{
    const char *what = json_string_value(json_object_get(event, "what"));
    const struct retune_figures figures = {member_number(event, "from"), member_number(event, "to"),
                                           member_number(event, "scale"),
                                           (double)member_integer(event, "step")};
    return retune_text(buffer, size, what ? what : "?", &figures);
}

const char *event_shares_text(char *buffer, size_t size, const json_t *event)
{
    const json_t *shares = json_object_get(event, "shares");
    const char *reason = json_string_value(json_object_get(event, "reason"));
    struct text text = TEXT_INIT;
    text_puts(&text, "shares ");
    for (size_t i = 0; i < json_array_size(shares); i++)
        text_printf(&text, "%s%lld", i > 0 ? "," : "",
                    (long long)json_integer_value(json_array_get(shares, i)));
    text_printf(&text, " after step %lld: %s", (long long)member_integer(event, "step"),
                reason ? reason : "?");
    const char *all = text_cstr(&text);
    snprintf(buffer, size, "%s", all ? all : "shares");
    text_free(&text);
    return buffer;
}
