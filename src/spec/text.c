/* SPDX-License-Identifier: MIT */
#include "spec/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/fields.h"
#include "spec/names.h"

char *spec_double_text(double value)
{
    for (int digits = 6; digits < 17; digits++) {
        char *string = text_format("%.*g", digits, value);
        double again;
        if (!string || (parse_double(string, -HUGE_VAL, HUGE_VAL, &again) && again == value))
            return string;
        free(string);
    }
    return text_format("%.17g", value);
}

static char *split_text(const struct spec *spec)
{
    struct text text = TEXT_INIT;
    text_puts(&text, split_rule_name(spec->split));
    for (int i = 0; spec->split == SPLIT_WEIGHTED && i < spec->weight_count; i++) {
        char *number = spec_double_text(spec->weights[i]);
        text_printf(&text, "%c%s", i ? ',' : ':', number ? number : "?");
        text.failed = text.failed || !number;
        free(number);
    }
    return text_take(&text);
}

static char *threads_text(const struct spec *spec)
{
    struct text text = TEXT_INIT;
    if (spec->thread_count == 0)
        text_printf(&text, "%d", spec->cpu_threads);
    for (int i = 0; i < spec->thread_count; i++)
        text_printf(&text, "%s%d", i ? "," : "", spec->threads[i]);
    return text_take(&text);
}

static char *init_text(const struct spec *spec)
{
    if (spec->init == INIT_FILE)
        return strdup(spec->init_file ? spec->init_file : "");
    if (!init_has_scale(spec->init))
        return strdup(init_names[spec->init]);
    char *number = spec_double_text(spec->init_scale);
    char *string = number ? text_format("%s%s", init_names[spec->init], number) : NULL;
    free(number);
    return string;
}

static char *checkpoints_text(const struct spec *spec)
{
    if (spec->checkpoint_minutes > 0) {
        char *number = spec_double_text(spec->checkpoint_minutes);
        char *text = number ? text_format("%sm", number) : NULL;
        free(number);
        return text;
    }
    return spec->checkpoint_epochs == 0 ? strdup("off")
                                        : text_format("%ld", spec->checkpoint_epochs);
}

static char *image_size_text(const struct picture_settings *pictures)
{
    if (pictures->width == 0)
        return strdup("own");
    return pictures->width == pictures->height
               ? text_format("%d", pictures->width)
               : text_format("%dx%d", pictures->width, pictures->height);
}

/* In the largest unit that leaves a whole number. */
static char *bytes_text(long bytes)
{
    static const char units[] = "KMGT";
    int unit = -1;
    while (bytes > 0 && bytes % 1024 == 0 && unit < 3) {
        bytes /= 1024;
        unit++;
    }
    return unit < 0 ? text_format("%ld", bytes) : text_format("%ld%c", bytes, units[unit]);
}

char *spec_field_text(const struct spec *spec, const struct spec_field *field)
{
    const void *where = spec_field_at(spec, field);
    switch (field->kind) {
    case FIELD_LONG:
        return text_format("%ld", *(const long *)where);
    case FIELD_SEED:
        return text_format("%lld", (long long)*(const uint64_t *)where);
    case FIELD_DOUBLE:
        return spec_double_text(*(const double *)where);
    case FIELD_BOOL:
        return strdup(*(const bool *)where ? "yes" : "no");
    case FIELD_STRING:
    case FIELD_PATH: {
        const char *string = *(char *const *)where;
        return strdup(string ? string : "");
    }
    case FIELD_CHOICE:
        return strdup(field->names[*(const unsigned *)where]);
    case FIELD_DEVICES:
        return device_list_text(where);
    case FIELD_SPLIT:
        return split_text(spec);
    case FIELD_THREADS:
        return threads_text(spec);
    case FIELD_INIT:
        return init_text(spec);
    case FIELD_CHECKPOINTS:
        return checkpoints_text(spec);
    case FIELD_SCHEDULE:
        return lr_schedule_text(where);
    case FIELD_IMAGE_SIZE:
        return image_size_text(where);
    case FIELD_BYTES:
        return bytes_text(*(const long *)where);
    }
    return NULL;
}

char *spec_get(const struct spec *spec, const char *key, struct error *err)
{
    const struct spec_field *field = spec_find_field(key);
    if (!field) {
        error_set(err, ERROR_USAGE, "there is no setting '%s'", key);
        return NULL;
    }
    return error_if_null(spec_field_text(spec, field), err, key);
}
