/* SPDX-License-Identifier: MIT */
#include "spec/set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/fields.h"
#include "spec/names.h"
#include "spec/origin.h"

/* Values that continue after a word. */
static const char weighted_prefix[] = "weighted:";
static const char image_size_own[] = "own";

enum { BOOL_WORDS = 4 };
static const char *const bool_words[2][BOOL_WORDS] = {{"no", "false", "off", "0"},
                                                      {"yes", "true", "on", "1"}};

static bool set_string(char **where, const char *value, struct error *err)
{
    char *copy = NULL;
    if (value[0] && !(copy = strdup(value)))
        return error_memory(err, "run specification");
    free(*where);
    *where = copy;
    return true;
}

static bool set_choice(const struct spec_field *field, int *where, const char *value,
                       struct error *err)
{
    struct text list = TEXT_INIT;
    for (int i = 0; field->names[i]; i++) {
        if (strcmp(field->names[i], value) == 0) {
            *where = i;
            text_free(&list);
            return true;
        }
        text_printf(&list, "%s%s", i ? ", " : "", field->names[i]);
    }
    const char *accepted = text_cstr(&list);
    error_set(err, ERROR_USAGE, "%s '%s' is none of %s", field->key, value,
              accepted ? accepted : "the accepted words");
    text_free(&list);
    return false;
}

/* "weighted:W0,W1,..." or a rule's name. */
static bool set_split(const struct spec_field *field, struct spec *spec, const char *value,
                      struct error *err)
{
    if (strncmp(value, weighted_prefix, strlen(weighted_prefix)) != 0) {
        if (strcmp(value, "weighted") == 0)
            return error_set(err, ERROR_USAGE,
                             "split 'weighted' needs a weight for each device: weighted:W0,W1,...");
        int rule;
        if (!set_choice(field, &rule, value, err))
            return false;
        spec->split = (enum split_rule)rule;
        spec->weight_count = 0;
        return true;
    }
    double weights[SPEC_MAX_DEVICES];
    int count = 0;
    double sum = 0;
    for (const char *at = value + strlen(weighted_prefix);; at++) {
        char number[32];
        size_t length = strcspn(at, ",");
        if (count == SPEC_MAX_DEVICES)
            return error_set(err, ERROR_USAGE, "split has more than %d weights", SPEC_MAX_DEVICES);
        if (length >= sizeof number)
            return error_set(err, ERROR_USAGE, "split '%s': weights must be numbers from 0 to 1e9",
                             value);
        memcpy(number, at, length);
        number[length] = '\0';
        if (!parse_double(number, 0, 1e9, &weights[count]))
            return error_set(err, ERROR_USAGE, "split '%s': weights must be numbers from 0 to 1e9",
                             value);
        sum += weights[count++];
        at += length;
        if (*at == '\0')
            break;
    }
    if (sum <= 0)
        return error_set(err, ERROR_USAGE, "split '%s': the weights are all zero", value);
    spec->split = SPLIT_WEIGHTED;
    spec->weight_count = count;
    memcpy(spec->weights, weights, (size_t)count * sizeof weights[0]);
    return true;
}

/* INIT_FILE: no rule has this name. */
static enum init_rule init_find(const char *value)
{
    int rule = 0;
    for (; init_names[rule]; rule++) {
        const size_t length = strlen(init_names[rule]);
        if (strncmp(value, init_names[rule], length) == 0 &&
            (init_has_scale((enum init_rule)rule) || value[length] == '\0'))
            break;
    }
    return (enum init_rule)rule;
}

static bool set_init_file(struct spec *spec, const char *value, struct error *err)
{
    if (!text_ends_in(value, ".safetensors") && !strchr(value, '/'))
        return error_set(err, ERROR_USAGE,
                         "init '%s' is none of normal:STD, uniform:BOUND, xavier-uniform, "
                         "xavier-normal, kaiming-uniform, kaiming-normal, default, and no file: "
                         "name one that ends in .safetensors, or another with its folder, as "
                         "./NAME",
                         value);
    if (!set_string(&spec->init_file, value, err))
        return false;
    spec->init = INIT_FILE;
    return true;
}

/* A rule's name, with its scale where it has one, "normal", or a file: none of those has a '/'. */
static bool set_init(struct spec *spec, const char *value, struct error *err)
{
    const char *text = strcmp(value, "normal") == 0 ? "normal:0.01" : value;
    const enum init_rule rule = init_find(text);
    if (rule == INIT_FILE)
        return set_init_file(spec, value, err);
    if (init_has_scale(rule) &&
        !parse_double(text + strlen(init_names[rule]), 0, 1e3, &spec->init_scale))
        return error_set(err, ERROR_USAGE,
                         "init '%s': a number from 0 to 1000 must follow the colon", value);
    spec->init = rule;
    free(spec->init_file);
    spec->init_file = NULL;
    return true;
}

static bool set_bool(const struct spec_field *field, bool *where, const char *value,
                     struct error *err)
{
    for (int truth = 0; truth < 2; truth++)
        for (int i = 0; i < BOOL_WORDS; i++)
            if (strcmp(bool_words[truth][i], value) == 0) {
                *where = truth;
                return true;
            }
    return error_set(err, ERROR_USAGE, "%s '%s' is neither yes nor no", field->key, value);
}

static bool set_number(const struct spec_field *field, void *where, const char *value,
                       struct error *err)
{
    if (field->kind == FIELD_DOUBLE) {
        if (!parse_double(value, field->low, field->high, where))
            return error_set(err, ERROR_USAGE, "%s '%s' must be a number from %g to %g", field->key,
                             value, field->low, field->high);
        return true;
    }
    long low = (long)field->low, number;
    long high = field->kind == FIELD_SEED ? INT64_MAX : (long)field->high;
    if (!parse_long(value, low, high, &number))
        return error_set(err, ERROR_USAGE, "%s '%s' must be a whole number from %ld to %ld",
                         field->key, value, low, high);
    if (field->kind == FIELD_LONG)
        *(long *)where = number;
    else if (field->kind == FIELD_THREADS)
        *(int *)where = (int)number;
    else
        *(uint64_t *)where = (uint64_t)number;
    return true;
}

/* A number for all CPU devices, or "N0,N1,...", one for each of them. */
static bool set_threads(const struct spec_field *field, struct spec *spec, const char *value,
                        struct error *err)
{
    long number;
    int threads[SPEC_MAX_DEVICES], count = 0;
    if (!strchr(value, ',')) {
        if (!set_number(field, &spec->cpu_threads, value, err))
            return false;
        spec->thread_count = 0;
        return true;
    }
    for (const char *at = value;; at++) {
        char part[8];
        size_t length = strcspn(at, ",");
        if (count == SPEC_MAX_DEVICES)
            return error_set(err, ERROR_USAGE, "%s has more than %d numbers", field->key,
                             SPEC_MAX_DEVICES);
        snprintf(part, sizeof part, "%.*s", (int)length, at);
        if (length >= sizeof part || !parse_long(part, 1, (long)field->high, &number))
            return error_set(err, ERROR_USAGE, "%s '%s': a list holds whole numbers from 1 to %ld",
                             field->key, value, (long)field->high);
        threads[count++] = (int)number;
        at += length;
        if (*at == '\0')
            break;
    }
    spec->cpu_threads = 0;
    spec->thread_count = count;
    memcpy(spec->threads, threads, (size_t)count * sizeof threads[0]);
    return true;
}

/* "N" epochs, "Xm" minutes, or "off". */
static bool set_checkpoints(const struct spec_field *field, struct spec *spec, const char *value,
                            struct error *err)
{
    char part[24];
    size_t length = strlen(value);
    long epochs = 0;
    double minutes = 0;
    bool timed = length > 1 && length < sizeof part && value[length - 1] == 'm';
    snprintf(part, sizeof part, "%.*s", (int)(length - timed), value);
    if (strcmp(value, "off") != 0 && !(timed ? parse_double(part, 0.01, 1e6, &minutes)
                                             : parse_long(value, 0, (long)field->high, &epochs)))
        return error_set(err, ERROR_USAGE,
                         "%s '%.60s': a number of epochs, of minutes as in 10m, or off", field->key,
                         value);
    spec->checkpoint_epochs = epochs;
    spec->checkpoint_minutes = minutes;
    return true;
}

/* "own", "32", or "64x48", width first. */
static bool set_image_size(const struct spec_field *field, struct picture_settings *where,
                           const char *value, struct error *err)
{
    const char *cross = strchr(value, 'x'), *height = cross ? cross + 1 : value;
    char width[8];
    long sides[2] = {0, 0}, low = (long)field->low, high = (long)field->high;
    snprintf(width, sizeof width, "%.*s", (int)(cross ? cross - value : (long)strlen(value)),
             value);
    if (strcmp(value, image_size_own) != 0 &&
        !(parse_long(width, low, high, &sides[0]) && parse_long(height, low, high, &sides[1])))
        return error_set(err, ERROR_USAGE,
                         "%s '%.60s': own, or 32 or 64x48 (width x height), from %ld to %ld",
                         field->key, value, low, high);
    where->width = (int)sides[0];
    where->height = (int)sides[1];
    return true;
}

static const char byte_units[] = "KMGT"; /* times 1024 each */

/* "200M", "1.5G", "101MiB", "0", or bytes. */
static bool set_bytes(const struct spec_field *field, long *where, const char *value,
                      struct error *err)
{
    char number[40];
    size_t length = strlen(value);
    if (length > 2 && strcmp(value + length - 2, "iB") == 0 &&
        strchr(byte_units, value[length - 3]))
        length -= 2;
    const char *unit = length > 0 ? strchr(byte_units, value[length - 1]) : NULL;
    double bytes;
    if (unit)
        while (--length > 0 && value[length - 1] == ' ')
            ;
    snprintf(number, sizeof number, "%.*s", (int)length, value);
    bool ok = length < sizeof number && strspn(value, "0123456789.") >= strlen(number) &&
              parse_double(number, 0, field->high, &bytes);
    for (const char *u = byte_units; ok && unit && u <= unit; u++)
        bytes *= 1024;
    if (!ok || bytes > field->high || (!unit && bytes != (double)(long)bytes) ||
        (bytes > 0 && bytes < 1))
        return error_set(err, ERROR_USAGE,
                         "%s '%.40s': a number of bytes, such as 200M or 1.5G, or 0 for none",
                         field->key, value);
    *where = (long)bytes;
    return true;
}

static bool set_field(struct spec *spec, const struct spec_field *field, const char *value,
                      struct error *err)
{
    void *where = (char *)spec + field->offset;
    switch (field->kind) {
    case FIELD_LONG:
    case FIELD_SEED:
    case FIELD_DOUBLE:
        return set_number(field, where, value, err);
    case FIELD_BOOL:
        return set_bool(field, where, value, err);
    case FIELD_STRING:
    case FIELD_PATH:
        return set_string(where, value, err);
    case FIELD_CHOICE: {
        int choice;
        if (!set_choice(field, &choice, value, err))
            return false;
        /* Every enumeration of struct spec is an unsigned int to GCC and Clang. */
        *(unsigned *)where = (unsigned)choice;
        return true;
    }
    case FIELD_DEVICES:
        return device_list_parse(value, where, err) || error_prefix(err, "devices");
    case FIELD_SPLIT:
        return set_split(field, spec, value, err);
    case FIELD_THREADS:
        return set_threads(field, spec, value, err);
    case FIELD_INIT:
        return set_init(spec, value, err);
    case FIELD_CHECKPOINTS:
        return set_checkpoints(field, spec, value, err);
    case FIELD_SCHEDULE:
        return lr_schedule_parse(where, value, err);
    case FIELD_IMAGE_SIZE:
        return set_image_size(field, where, value, err);
    case FIELD_BYTES:
        return set_bytes(field, where, value, err);
    }
    return error_set(err, ERROR_USAGE, "there is no setting '%s'", field->key);
}

bool spec_set(struct spec *spec, const char *key, const char *value, struct error *err)
{
    const struct spec_field *field = spec_find_field(key);
    if (!field)
        return error_set(err, ERROR_USAGE, "there is no setting '%s'", key);
    if (!set_field(spec, field, value, err))
        return false;
    bool named = field->kind == FIELD_STRING || field->kind == FIELD_PATH;
    spec_set_origin(spec, field, named && !value[0] ? ORIGIN_DEFAULT : ORIGIN_GIVEN);
    return true;
}

/* NULL after the last of `words`, which a NULL ends. */
static const char *word_at(const char *const *words, size_t index)
{
    for (size_t i = 0; words[i]; i++)
        if (i == index)
            return words[i];
    return NULL;
}

const char *spec_word(const char *key, size_t index)
{
    static const char *const sizes[] = {image_size_own, NULL};
    static const char *const truths[] = {"yes", "no", NULL}; /* of bool_words, what spec_get says */
    const struct spec_field *field = spec_find_field(key);
    if (!field)
        return NULL;
    switch (field->kind) {
    case FIELD_CHOICE:
        return word_at(field->names, index);
    case FIELD_SPLIT:
        return index == SPLIT_WEIGHTED ? weighted_prefix : word_at(field->names, index);
    case FIELD_INIT:
        return word_at(init_names, index);
    case FIELD_IMAGE_SIZE:
        return word_at(sizes, index);
    case FIELD_BOOL:
        return word_at(truths, index);
    case FIELD_SCHEDULE:
        return lr_schedule_word(index);
    default:
        return NULL;
    }
}

bool spec_leave_training_out(struct spec *spec, struct error *err)
{
    static const char *const values[][2] = {
        {"epochs", "0"},       {"checkpoint-every", "off"},
        {"save", ""},          {"log", ""},
        {"tensorboard", ""},   {"profile", "no"},
        {"strategy", "data"},  {"micro-batches", "0"},
        {"stages", ""},        {"replicas", "1"},
        {"train-rows", "0"},   {"max-steps", "0"},
        {"split", "chunk"},    {"sync", "allreduce"},
        {"augment", "none"},   {"label-smoothing", "0"},
        {"sync-bn", "no"},     {"lr-schedule", "constant"},
        {"warmup", "0"},       {"clip-norm", "0"},
        {"no-decay", "none"},  {"ema", "0"},
        {"validation", "0"},   {"patience", "0"},
        {"stop-at-acc", "0"},  {"save-best", ""},
        {"memory-limit", "0"}, {"noise-every", "0"},
        {"notify", ""},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!spec_set(spec, values[i][0], values[i][1], err))
            return false;
    return true;
}
