/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/choices.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/choices.h"
#include "base/escape.h"
#include "base/text.h"

static const char first_line[] = "# ways in which cuDNN was found to be fastest; dpartui finds "
                                 "them again when this is deleted\n";

/* In place of an engine's number. */
static const char none[] = "none";

char *conv_choices_path(struct error *err)
{
    return choices_path("cudnn-choices", err);
}

char *conv_choices_key(size_t version, const char *device, const char *request)
{
    struct text key = TEXT_INIT;
    text_printf(&key, "%zu\t", version);
    escape_append(&key, device);
    text_printf(&key, "\t%s", request);
    if (text_cstr(&key))
        return key.data;
    text_free(&key);
    return NULL;
}

/* The next field of a line: ended, *at after it; NULL when there is none. */
static char *next_field(char **at)
{
    return *at ? strsep(at, "\t") : NULL;
}

static bool parse_knobs(char *text, struct dnn_choice *way)
{
    way->knob_count = 0;
    if (strcmp(text, "-") == 0)
        return true;
    for (char *knob; (knob = strsep(&text, ","));) {
        char *value = strchr(knob, '=');
        long type, number;
        if (!value || way->knob_count == DNN_KNOBS)
            return false;
        *value++ = '\0';
        if (!parse_long(knob, 0, INT32_MAX, &type) ||
            !parse_long(value, INT32_MIN, INT32_MAX, &number))
            return false;
        way->knobs[way->knob_count++] = (struct dnn_knob){type, number};
    }
    return true;
}

/* `values` are the fields after the key and are taken apart. */
static bool parse_values(char *values, struct conv_choice *choice)
{
    long engine = CONV_CHOICE_NONE, workspace;
    char *at = values;
    char *engine_text = next_field(&at), *knobs = next_field(&at);
    char *workspace_text = next_field(&at), *seconds = next_field(&at);
    memset(choice, 0, sizeof *choice);
    if (!seconds || at ||
        (strcmp(engine_text, none) != 0 && !parse_long(engine_text, 0, INT32_MAX, &engine)) ||
        !parse_long(workspace_text, 0, LONG_MAX, &workspace) ||
        !parse_double(seconds, 0, 1e6, &choice->seconds) || !parse_knobs(knobs, &choice->way))
        return false;
    choice->way.engine = engine;
    choice->workspace = (size_t)workspace;
    return true;
}

static bool understood(const char *text)
{
    struct conv_choice choice;
    char *values = strdup(text);
    bool ok = values && parse_values(values, &choice);
    free(values);
    return ok;
}

static struct choices file_at(const char *path)
{
    return (struct choices){.path = path, .heading = first_line, .understood = understood};
}

bool conv_choices_find(const char *path, const char *key, struct conv_choice *choice)
{
    const struct choices file = file_at(path);
    char *values = choices_find(&file, key);
    bool found = values && parse_values(values, choice);
    free(values);
    return found;
}

static void print_choice(struct text *text, const struct conv_choice *choice)
{
    if (choice->way.engine == CONV_CHOICE_NONE)
        text_printf(text, "%s\t", none);
    else
        text_printf(text, "%" PRId64 "\t", choice->way.engine);
    for (int i = 0; i < choice->way.knob_count; i++)
        text_printf(text, "%s%" PRId64 "=%" PRId64, i ? "," : "", choice->way.knobs[i].type,
                    choice->way.knobs[i].value);
    text_printf(text, "%s\t%zu\t%.9f", choice->way.knob_count ? "" : "-", choice->workspace,
                isfinite(choice->seconds) ? choice->seconds : 0.0);
}

bool conv_choices_put(const char *path, const char *key, const struct conv_choice *choice,
                      struct error *err)
{
    const struct choices file = file_at(path);
    struct text text = TEXT_INIT;
    if (choice)
        print_choice(&text, choice);
    bool ok = text.failed ? error_memory(err, path)
                          : choices_put(&file, key, choice ? text.data : NULL, err);
    text_free(&text);
    return ok;
}
