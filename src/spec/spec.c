/* SPDX-License-Identifier: MIT */
#include "spec/spec.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "spec/fields.h"

static const char *const split_names[] = {"chunk", "even", "balanced", "weighted", "auto", NULL};
static const char *const sync_names[] = {"allreduce", "reduce-broadcast", "central", NULL};
static const char *const type_names[] = {"default", "f32", "tf32", "bf16", NULL};
/* By the flags. */
static const char *const augment_names[] = {"none", "flip", "crop", "flip-crop", NULL};
static const char *const order_names[] = {"shuffle", "sequential", NULL};

const struct data_name data_names[] = {
    {"fashion-mnist", true}, {"mnist", true}, {"cifar10", true}, {"glyphs", false}, {NULL, false},
};

#define AT(member) offsetof(struct spec, member)
#define MANY       1e15

const struct field spec_fields[] = {
    {"model", FIELD_STRING, AT(model), 0, 0, NULL},
    {"data", FIELD_STRING, AT(data), 0, 0, NULL},
    {"data-dir", FIELD_STRING, AT(data_dir), 0, 0, NULL},
    {"devices", FIELD_DEVICES, AT(devices), 0, 0, NULL},
    {"cpu-threads", FIELD_THREADS, AT(cpu_threads), 0, 1024, NULL},
    {"batch", FIELD_LONG, AT(batch), 1, 16777216, NULL},
    {"lr", FIELD_DOUBLE, AT(lr), 0, 1e6, NULL},
    {"momentum", FIELD_DOUBLE, AT(momentum), 0, 1, NULL},
    {"weight-decay", FIELD_DOUBLE, AT(weight_decay), 0, 1e3, NULL},
    {"epochs", FIELD_LONG, AT(epochs), 0, SPEC_MAX_EPOCHS, NULL},
    {"seed", FIELD_SEED, AT(seed), 0, 0, NULL},
    {"split", FIELD_SPLIT, AT(split), 0, 0, split_names},
    {"sync", FIELD_CHOICE, AT(sync), 0, 0, sync_names},
    {"sync-bn", FIELD_BOOL, AT(sync_bn), 0, 0, NULL},
    {"dtype", FIELD_CHOICE, AT(dtype), 0, 0, type_names},
    {"init", FIELD_INIT, AT(init), 0, 0, NULL},
    {"order", FIELD_CHOICE, AT(order), 0, 0, order_names},
    {"augment", FIELD_CHOICE, AT(augment), 0, 0, augment_names},
    {"deterministic", FIELD_BOOL, AT(deterministic), 0, 0, NULL},
    {"train-rows", FIELD_LONG, AT(train_rows), 0, MANY, NULL},
    {"test-rows", FIELD_LONG, AT(test_rows), 0, MANY, NULL},
    {"max-steps", FIELD_LONG, AT(max_steps), 0, MANY, NULL},
    {"checkpoint-every", FIELD_CHECKPOINTS, AT(checkpoint_epochs), 0, SPEC_MAX_EPOCHS, NULL},
    {"save", FIELD_PATH, AT(save), 0, 0, NULL},
    {"log", FIELD_PATH, AT(log), 0, 0, NULL},
    {"tensorboard", FIELD_PATH, AT(tensorboard), 0, 0, NULL},
    {"profile", FIELD_BOOL, AT(profile), 0, 0, NULL},
};

const size_t spec_field_count = sizeof spec_fields / sizeof spec_fields[0];

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

const char *augment_name(enum augment_flags augment)
{
    return augment_names[augment];
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
        .checkpoint_epochs = 1,
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
    free(spec->tensorboard);
    spec_init(spec);
}

bool spec_copy(struct spec *to, const struct spec *from, struct error *err)
{
    *to = *from;
    char *const *const source[] = {&from->model, &from->data, &from->data_dir,   &from->init_file,
                                   &from->save,  &from->log,  &from->tensorboard};
    char **const target[] = {&to->model, &to->data, &to->data_dir,   &to->init_file,
                             &to->save,  &to->log,  &to->tensorboard};
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

const struct field *spec_find_field(const char *key)
{
    for (size_t i = 0; i < spec_field_count; i++)
        if (same_key(spec_fields[i].key, key))
            return &spec_fields[i];
    return NULL;
}

static bool validate_path(const struct field *field, const struct spec *spec, struct error *err)
{
    const char *path = *(char *const *)spec_field(spec, field);
    if (path && path[0] != '/')
        return error_set(err, ERROR_USAGE, "%s '%s' must be an absolute path", field->key, path);
    return true;
}

bool spec_validate_threads(const struct spec *spec, struct error *err)
{
    int cpus = 0;
    for (int i = 0; i < spec->devices.count; i++)
        cpus += spec->devices.id[i].kind == DEVICE_CPU;
    return spec->thread_count == 0 || spec->thread_count == cpus ||
           error_set(err, ERROR_USAGE,
                     "cpu-threads has %d numbers for %d CPU devices: give one for all of them, or "
                     "one for each",
                     spec->thread_count, cpus);
}

bool spec_validate(const struct spec *spec, struct error *err)
{
    for (size_t i = 0; i < spec_field_count; i++)
        if (spec_fields[i].kind == FIELD_PATH && !validate_path(&spec_fields[i], spec, err))
            return false;
    if (spec->init == INIT_FILE && (!spec->init_file || spec->init_file[0] != '/'))
        return error_set(err, ERROR_USAGE, "init '%s' must be an absolute path",
                         spec->init_file ? spec->init_file : "");
    if (spec->split == SPLIT_WEIGHTED && spec->devices.choice == DEVICES_LISTED &&
        spec->weight_count != spec->devices.count)
        return error_set(err, ERROR_USAGE,
                         "split has %d weights for %d devices: give one weight for each device",
                         spec->weight_count, spec->devices.count);
    return spec->devices.choice != DEVICES_LISTED || spec_validate_threads(spec, err);
}
