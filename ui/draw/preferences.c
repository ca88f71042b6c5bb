/* SPDX-License-Identifier: MIT */
#include "ui/draw/preferences.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

enum {
    CHARSET,
    COLOUR,
    PALETTE,
    BACKGROUND,
    CANVAS,
    LOAD,
    X_AXIS,
    Y_AXIS,
    SMOOTHING,
    MOUSE,
    COUNT
};
enum { MOST_WORDS = 5 };

/* In the order of their enums. */
static const struct {
    const char *name;
    const char *words[MOST_WORDS];
} table[COUNT] = {
    [CHARSET] = {"charset", {"auto", "utf8", "ascii"}},
    [COLOUR] = {"colour", {"no", "yes"}},
    [PALETTE] = {"palette", {"default", "colour-blind"}},
    [BACKGROUND] = {"background", {"auto", "dark", "light"}},
    [CANVAS] = {"canvas", {"auto", "braille", "quadrant", "ascii"}},
    [LOAD] = {"load", {"bar", "sparkline", "number"}},
    [X_AXIS] = {"x_axis", {"epochs", "steps", "seconds"}},
    [Y_AXIS] = {"y_axis", {"linear", "log"}},
    [SMOOTHING] = {"smoothing", {"off", "light", "strong"}},
    [MOUSE] = {"mouse", {"no", "yes"}},
};

void preferences_init(struct preferences *preferences)
{
    *preferences = (struct preferences){.colour = true, .mouse = true};
}

/* COUNT: there is none of that name. */
static size_t find(const char *name)
{
    size_t i = 0;
    while (i < COUNT && strcmp(table[i].name, name) != 0)
        i++;
    return i;
}

const char *const *preferences_words(const char *name)
{
    size_t at = find(name);
    return at < COUNT ? table[at].words : NULL;
}

static void put(struct preferences *preferences, size_t at, int word)
{
    switch (at) {
    case CHARSET:
        preferences->charset = (enum charset)word;
        break;
    case COLOUR:
        preferences->colour = word != 0;
        break;
    case PALETTE:
        preferences->palette = (enum palette)word;
        break;
    case BACKGROUND:
        preferences->background = (enum background)word;
        break;
    case CANVAS:
        preferences->canvas = (enum canvas_kind)word;
        break;
    case LOAD:
        preferences->load = (enum load_style)word;
        break;
    case X_AXIS:
        preferences->x_axis = (enum x_axis)word;
        break;
    case Y_AXIS:
        preferences->y_axis = (enum y_axis)word;
        break;
    case SMOOTHING:
        preferences->smoothing = (enum smoothing)word;
        break;
    default:
        preferences->mouse = word != 0;
        break;
    }
}

static int word_of(const struct preferences *preferences, size_t at)
{
    const int words[COUNT] = {
        [CHARSET] = (int)preferences->charset,     [COLOUR] = preferences->colour,
        [PALETTE] = (int)preferences->palette,     [BACKGROUND] = (int)preferences->background,
        [CANVAS] = (int)preferences->canvas,       [LOAD] = (int)preferences->load,
        [X_AXIS] = (int)preferences->x_axis,       [Y_AXIS] = (int)preferences->y_axis,
        [SMOOTHING] = (int)preferences->smoothing, [MOUSE] = preferences->mouse,
    };
    return words[at];
}

bool preferences_set(struct preferences *preferences, const char *name, const char *value,
                     struct error *err)
{
    size_t at = find(name);
    struct text accepted = TEXT_INIT;
    if (strcmp(name, "columns") == 0)
        return run_columns_set(&preferences->columns, value, err);
    if (at == COUNT)
        return error_set(err, ERROR_USAGE, "there is no preference '%.60s'", name);
    for (int i = 0; table[at].words[i]; i++) {
        if (strcmp(table[at].words[i], value) == 0) {
            put(preferences, at, i);
            text_free(&accepted);
            return true;
        }
        text_printf(&accepted, "%s%s", i > 0 ? ", " : "", table[at].words[i]);
    }
    error_set(err, ERROR_USAGE, "%s '%.60s' is none of %s", name, value,
              text_cstr(&accepted) ? accepted.data : "its words");
    text_free(&accepted);
    return false;
}

const char *preferences_get(const struct preferences *preferences, const char *name)
{
    size_t at = find(name);
    if (strcmp(name, "columns") == 0)
        return run_columns_text(&preferences->columns);
    return at < COUNT ? table[at].words[word_of(preferences, at)] : NULL;
}
