/* SPDX-License-Identifier: MIT */
#include "engine/spec.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

/*
 * One table describes every field: its option name, how its text form is read and written, where it
 * lies and its bounds. The command line, configuration, form and JSON all go through it.
 */
enum field_kind {
    FIELD_LONG,
    FIELD_INT,
    FIELD_SEED,
    FIELD_DOUBLE,
    FIELD_BOOL,
    FIELD_STRING, /* optional: "" is NULL */
    FIELD_PATH,   /* as STRING; must be absolute when the run is validated */
    FIELD_CHOICE,
    FIELD_DEVICES,
    FIELD_SPLIT,
    FIELD_INIT,
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    double low, high;
    const char *const *names; /* FIELD_CHOICE: NULL-terminated, by enum value */
};

static const char *const split_names[] = {"chunk", "even", "balanced", "weighted", "auto", NULL};
static const char *const sync_names[] = {"allreduce", "reduce-broadcast", "central", NULL};
static const char *const type_names[] = {"default", "f32", "tf32", "bf16", NULL};
static const char *const order_names[] = {"shuffle", "sequential", NULL};

#define AT(member) offsetof(struct spec, member)
#define MANY       1e15

static const struct field fields[] = {
    {"model", FIELD_STRING, AT(model), 0, 0, NULL},
    {"data", FIELD_STRING, AT(data), 0, 0, NULL},
    {"data-dir", FIELD_STRING, AT(data_dir), 0, 0, NULL},
    {"devices", FIELD_DEVICES, AT(devices), 0, 0, NULL},
    {"cpu-threads", FIELD_INT, AT(cpu_threads), 0, 1024, NULL},
    {"batch", FIELD_LONG, AT(batch), 1, 16777216, NULL},
    {"lr", FIELD_DOUBLE, AT(lr), 0, 1e6, NULL},
    {"momentum", FIELD_DOUBLE, AT(momentum), 0, 1, NULL},
    {"weight-decay", FIELD_DOUBLE, AT(weight_decay), 0, 1e3, NULL},
    {"epochs", FIELD_LONG, AT(epochs), 0, 1000000, NULL},
    {"seed", FIELD_SEED, AT(seed), 0, 0, NULL},
    {"split", FIELD_SPLIT, AT(split), 0, 0, split_names},
    {"sync", FIELD_CHOICE, AT(sync), 0, 0, sync_names},
    {"sync-bn", FIELD_BOOL, AT(sync_bn), 0, 0, NULL},
    {"dtype", FIELD_CHOICE, AT(dtype), 0, 0, type_names},
    {"init", FIELD_INIT, AT(init), 0, 0, NULL},
    {"order", FIELD_CHOICE, AT(order), 0, 0, order_names},
    {"train-rows", FIELD_LONG, AT(train_rows), 0, MANY, NULL},
    {"test-rows", FIELD_LONG, AT(test_rows), 0, MANY, NULL},
    {"max-steps", FIELD_LONG, AT(max_steps), 0, MANY, NULL},
    {"save", FIELD_PATH, AT(save), 0, 0, NULL},
    {"log", FIELD_PATH, AT(log), 0, 0, NULL},
};

#define FIELD_COUNT (sizeof fields / sizeof fields[0])

const char *split_rule_name(enum split_rule rule)
{
    return split_names[rule];
}

const char *sync_method_name(enum sync_method method)
{
    return sync_names[method];
}

const char *number_type_name(enum number_type type)
{
    return type_names[type];
}

void spec_init(struct spec *spec)
{
    *spec = (struct spec){
        .batch = 256,
        .lr = 0.1,
        .epochs = 10,
        .seed = 1,
        .init = INIT_NORMAL,
        .init_std = 0.01,
    };
}

void spec_free(struct spec *spec)
{
    free(spec->model);
    free(spec->data);
    free(spec->data_dir);
    free(spec->init_file);
    free(spec->save);
    free(spec->log);
    spec_init(spec);
}

bool spec_copy(struct spec *to, const struct spec *from, struct error *err)
{
    *to = *from;
    char *const *const source[] = {&from->model,     &from->data, &from->data_dir,
                                   &from->init_file, &from->save, &from->log};
    char **const target[] = {&to->model,     &to->data, &to->data_dir,
                             &to->init_file, &to->save, &to->log};
    bool ok = true;
    for (size_t i = 0; i < sizeof source / sizeof source[0]; i++) {
        *target[i] = *source[i] ? strdup(*source[i]) : NULL;
        ok = ok && (*target[i] || !*source[i]);
    }
    if (!ok) {
        spec_free(to);
        return error_memory(err, "run specification");
    }
    return true;
}

/* Keys may be written with '-' (options) or '_' (JSON, configuration). */
static bool same_key(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return false;
    return *a == *b;
}

static const struct field *find_field(const char *key)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (same_key(fields[i].key, key))
            return &fields[i];
    return NULL;
}

static bool set_string(char **where, const char *value, struct error *err)
{
    char *copy = NULL;
    if (value[0] && !(copy = strdup(value)))
        return error_memory(err, "run specification");
    free(*where);
    *where = copy;
    return true;
}

static bool set_choice(const struct field *field, int *where, const char *value, struct error *err)
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
static bool set_split(const struct field *field, struct spec *spec, const char *value,
                      struct error *err)
{
    const char *prefix = "weighted:";
    if (strncmp(value, prefix, strlen(prefix)) != 0) {
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
    for (const char *at = value + strlen(prefix);; at++) {
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

/* "normal:STD", "normal", "default", or a .safetensors file. */
static bool set_init(struct spec *spec, const char *value, struct error *err)
{
    size_t length = strlen(value);
    const char *extension = ".safetensors";
    size_t tail = strlen(extension);
    if (strcmp(value, "default") == 0) {
        spec->init = INIT_PYTORCH;
    } else if (strcmp(value, "normal") == 0) {
        spec->init = INIT_NORMAL;
        spec->init_std = 0.01;
    } else if (strncmp(value, "normal:", 7) == 0) {
        double std;
        if (!parse_double(value + 7, 0, 1e3, &std))
            return error_set(err, ERROR_USAGE,
                             "init '%s': the standard deviation must be a number from 0 to 1000",
                             value);
        spec->init = INIT_NORMAL;
        spec->init_std = std;
    } else if (length > tail && strcmp(value + length - tail, extension) == 0) {
        if (!set_string(&spec->init_file, value, err))
            return false;
        spec->init = INIT_FILE;
        return true;
    } else {
        return error_set(err, ERROR_USAGE,
                         "init '%s' is neither normal:STD, default nor a .safetensors file", value);
    }
    free(spec->init_file);
    spec->init_file = NULL;
    return true;
}

static bool set_bool(const struct field *field, bool *where, const char *value, struct error *err)
{
    static const char *const words[2][4] = {{"no", "false", "off", "0"},
                                            {"yes", "true", "on", "1"}};
    for (int truth = 0; truth < 2; truth++)
        for (int i = 0; i < 4; i++)
            if (strcmp(words[truth][i], value) == 0) {
                *where = truth;
                return true;
            }
    return error_set(err, ERROR_USAGE, "%s '%s' is neither yes nor no", field->key, value);
}

static bool set_number(const struct field *field, void *where, const char *value, struct error *err)
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
    else if (field->kind == FIELD_INT)
        *(int *)where = (int)number;
    else
        *(uint64_t *)where = (uint64_t)number;
    return true;
}

bool spec_set(struct spec *spec, const char *key, const char *value, struct error *err)
{
    const struct field *field = find_field(key);
    if (!field)
        return error_set(err, ERROR_USAGE, "there is no setting '%s'", key);
    void *where = (char *)spec + field->offset;
    switch (field->kind) {
    case FIELD_LONG:
    case FIELD_INT:
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
    case FIELD_INIT:
        return set_init(spec, value, err);
    }
    return error_set(err, ERROR_USAGE, "there is no setting '%s'", key);
}

/* The shortest decimal form that reads back as the same double. */
static char *double_text(double value)
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
    text_puts(&text, split_names[spec->split]);
    for (int i = 0; spec->split == SPLIT_WEIGHTED && i < spec->weight_count; i++) {
        char *number = double_text(spec->weights[i]);
        text_printf(&text, "%c%s", i ? ',' : ':', number ? number : "?");
        text.failed = text.failed || !number;
        free(number);
    }
    if (!text_cstr(&text)) {
        text_free(&text);
        return NULL;
    }
    return text.data;
}

static char *init_text(const struct spec *spec)
{
    if (spec->init == INIT_FILE)
        return strdup(spec->init_file ? spec->init_file : "");
    if (spec->init == INIT_PYTORCH)
        return strdup("default");
    char *number = double_text(spec->init_std);
    char *string = number ? text_format("normal:%s", number) : NULL;
    free(number);
    return string;
}

static char *field_text(const struct spec *spec, const struct field *field)
{
    const void *where = (const char *)spec + field->offset;
    switch (field->kind) {
    case FIELD_LONG:
        return text_format("%ld", *(const long *)where);
    case FIELD_INT:
        return text_format("%d", *(const int *)where);
    case FIELD_SEED:
        return text_format("%lld", (long long)*(const uint64_t *)where);
    case FIELD_DOUBLE:
        return double_text(*(const double *)where);
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
    case FIELD_INIT:
        return init_text(spec);
    }
    return NULL;
}

char *spec_get(const struct spec *spec, const char *key, struct error *err)
{
    const struct field *field = find_field(key);
    if (!field) {
        error_set(err, ERROR_USAGE, "there is no setting '%s'", key);
        return NULL;
    }
    char *text = field_text(spec, field);
    if (!text)
        error_memory(err, key);
    return text;
}

static bool validate_path(const struct field *field, const struct spec *spec, struct error *err)
{
    const char *path = *(char *const *)((const char *)spec + field->offset);
    if (path && path[0] != '/')
        return error_set(err, ERROR_USAGE, "%s '%s' must be an absolute path", field->key, path);
    return true;
}

bool spec_validate(const struct spec *spec, struct error *err)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (fields[i].kind == FIELD_PATH && !validate_path(&fields[i], spec, err))
            return false;
    if (spec->init == INIT_FILE && (!spec->init_file || spec->init_file[0] != '/'))
        return error_set(err, ERROR_USAGE, "init '%s' must be an absolute path",
                         spec->init_file ? spec->init_file : "");
    if (spec->split == SPLIT_WEIGHTED && spec->devices.choice == DEVICES_LISTED &&
        spec->weight_count != spec->devices.count)
        return error_set(err, ERROR_USAGE,
                         "split has %d weights for %d devices: give one weight for each device",
                         spec->weight_count, spec->devices.count);
    return true;
}

/* The option name with '_' for '-', as JSON members are written. */
static void member_name(const struct field *field, char *name, size_t size)
{
    size_t i = 0;
    for (; field->key[i] && i + 1 < size; i++)
        name[i] = field->key[i] == '-' ? '_' : field->key[i];
    name[i] = '\0';
}

static json_t *field_json(const struct spec *spec, const struct field *field)
{
    const void *where = (const char *)spec + field->offset;
    switch (field->kind) {
    case FIELD_LONG:
        return json_integer(*(const long *)where);
    case FIELD_INT:
        return json_integer(*(const int *)where);
    case FIELD_SEED:
        return json_integer((json_int_t) * (const uint64_t *)where);
    case FIELD_DOUBLE:
        return json_finite(*(const double *)where);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)where);
    case FIELD_STRING:
    case FIELD_PATH:
        if (!*(char *const *)where)
            return json_null();
        break;
    default:
        break;
    }
    char *text = field_text(spec, field);
    json_t *value = text ? json_string(text) : NULL;
    free(text);
    return value;
}

json_t *spec_to_json(const struct spec *spec)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < FIELD_COUNT; i++) {
        char name[32];
        member_name(&fields[i], name, sizeof name);
        if (json_object_set_new(object, name, field_json(spec, &fields[i])) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

/* A JSON value as the text form that spec_set reads; NULL with *err filled for other types. */
static char *json_text(const char *key, const json_t *value, struct error *err)
{
    char *text = NULL;
    if (json_is_string(value))
        text = strdup(json_string_value(value));
    else if (json_is_integer(value))
        text = text_format("%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        text = double_text(json_real_value(value));
    else if (json_is_boolean(value))
        text = strdup(json_is_true(value) ? "yes" : "no");
    else {
        error_set(err, ERROR_USAGE, "'%s' has a value of the wrong type", key);
        return NULL;
    }
    if (!text)
        error_memory(err, key);
    return text;
}

bool spec_from_json(struct spec *spec, const json_t *object, struct error *err)
{
    spec_init(spec);
    if (!json_is_object(object))
        return error_set(err, ERROR_USAGE, "a run specification must be a JSON object");
    const char *key;
    json_t *value;
    bool ok = true;
    json_object_foreach((json_t *)object, key, value)
    {
        if (json_is_null(value))
            continue;
        char *text = json_text(key, value, err);
        ok = text && spec_set(spec, key, text, err);
        free(text);
        if (!ok)
            break;
    }
    if (!ok)
        spec_free(spec);
    return ok;
}
