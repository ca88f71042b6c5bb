/* SPDX-License-Identifier: MIT */
#include "spec/fields.h"

#include "spec/names.h"

#define AT(member) offsetof(struct spec, member)
#define MANY       1e15

const struct spec_field spec_fields[] = {
    {"model", FIELD_STRING, AT(model), 0, 0, NULL},
    {"data", FIELD_STRING, AT(data), 0, 0, NULL},
    {"data-dir", FIELD_STRING, AT(data_dir), 0, 0, NULL},
    {"image-size", FIELD_IMAGE_SIZE, AT(pictures), 1, PICTURES_MOST_SIDE, NULL},
    {"image-colour", FIELD_CHOICE, AT(pictures.colour), 0, 0, colour_names},
    {"test-share", FIELD_DOUBLE, AT(pictures.test_share), 0.001, 0.9, NULL},
    {"skip-broken", FIELD_BOOL, AT(pictures.skip_broken), 0, 0, NULL},
    {"devices", FIELD_DEVICES, AT(devices), 0, 0, NULL},
    {"hosts", FIELD_STRING, AT(hosts), 0, 0, NULL},
    {"launcher", FIELD_STRING, AT(launcher), 0, 0, NULL},
    {"host-limit", FIELD_DOUBLE, AT(host_limit), 1, 3600, NULL},
    {"restarts", FIELD_LONG, AT(restarts), 0, 1000, NULL},
    {"cpu-threads", FIELD_THREADS, AT(cpu_threads), 0, 1024, NULL},
    {"batch", FIELD_LONG, AT(batch), 1, 16777216, NULL},
    {"lr", FIELD_DOUBLE, AT(lr), 0, SPEC_MAX_LR, NULL},
    {"lr-schedule", FIELD_SCHEDULE, AT(schedule), 0, 0, NULL},
    {"warmup", FIELD_DOUBLE, AT(schedule.warmup), 0, SPEC_MAX_EPOCHS, NULL},
    {"optimizer", FIELD_CHOICE, AT(optimizer), 0, 0, optimizer_names},
    {"momentum", FIELD_DOUBLE, AT(momentum), 0, 1, NULL},
    {"weight-decay", FIELD_DOUBLE, AT(weight_decay), 0, 1e3, NULL},
    {"beta1", FIELD_DOUBLE, AT(beta1), 0, 1, NULL},
    {"beta2", FIELD_DOUBLE, AT(beta2), 0, 1, NULL},
    {"eps", FIELD_DOUBLE, AT(eps), 0, 1, NULL},
    {"no-decay", FIELD_CHOICE, AT(no_decay), 0, 0, no_decay_names},
    {"clip-norm", FIELD_DOUBLE, AT(clip_norm), 0, MANY, NULL},
    {"ema", FIELD_DOUBLE, AT(ema), 0, 1, NULL},
    {"epochs", FIELD_LONG, AT(epochs), 0, SPEC_MAX_EPOCHS, NULL},
    {"seed", FIELD_SEED, AT(seed), 0, 0, NULL},
    {"strategy", FIELD_CHOICE, AT(strategy), 0, 0, strategy_names},
    {"micro-batches", FIELD_LONG, AT(micro_batches), 0, 65536, NULL},
    {"replicas", FIELD_LONG, AT(replicas), 1, SPEC_MAX_DEVICES, NULL},
    {"stages", FIELD_STRING, AT(stages), 0, 0, NULL},
    {"memory-limit", FIELD_BYTES, AT(memory_limit), 0, MANY, NULL},
    {"split", FIELD_SPLIT, AT(split), 0, 0, split_names},
    {"sync", FIELD_CHOICE, AT(sync), 0, 0, sync_names},
    {"sync-bn", FIELD_BOOL, AT(sync_bn), 0, 0, NULL},
    {"dtype", FIELD_CHOICE, AT(dtype), 0, 0, type_names},
    {"init", FIELD_INIT, AT(init), 0, 0, NULL},
    {"order", FIELD_CHOICE, AT(order), 0, 0, order_names},
    {"recipe", FIELD_CHOICE, AT(recipe), 0, 0, recipe_names},
    {"augment", FIELD_CHOICE, AT(augment), 0, 0, augment_names},
    {"label-smoothing", FIELD_DOUBLE, AT(label_smoothing), 0, 1, NULL},
    {"noise-every", FIELD_LONG, AT(noise_every), 0, MANY, NULL},
    {"deterministic", FIELD_BOOL, AT(deterministic), 0, 0, NULL},
    {"train-rows", FIELD_LONG, AT(train_rows), 0, MANY, NULL},
    {"test-rows", FIELD_LONG, AT(test_rows), 0, MANY, NULL},
    {"validation", FIELD_DOUBLE, AT(validation), 0, 0.9, NULL},
    {"patience", FIELD_LONG, AT(patience), 0, SPEC_MAX_EPOCHS, NULL},
    {"stop-at-acc", FIELD_DOUBLE, AT(stop_at_acc), 0, 1, NULL},
    {"max-steps", FIELD_LONG, AT(max_steps), 0, MANY, NULL},
    {"checkpoint-every", FIELD_CHECKPOINTS, AT(checkpoint_epochs), 0, SPEC_MAX_EPOCHS, NULL},
    {"save", FIELD_PATH, AT(save), 0, 0, NULL},
    {"save-best", FIELD_PATH, AT(save_best), 0, 0, NULL},
    {"log", FIELD_PATH, AT(log), 0, 0, NULL},
    {"tensorboard", FIELD_PATH, AT(tensorboard), 0, 0, NULL},
    {"notify", FIELD_STRING, AT(notify), 0, 0, NULL},
    {"profile", FIELD_BOOL, AT(profile), 0, 0, NULL},
};

const size_t spec_field_count = sizeof spec_fields / sizeof spec_fields[0];
_Static_assert(sizeof spec_fields / sizeof spec_fields[0] <= SPEC_MAX_FIELDS,
               "struct spec has an origin for each field");

/* Keys may be written with '-' (options) or '_' (JSON, configuration). */
static bool same_key(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return false;
    return *a == *b;
}

const struct spec_field *spec_find_field(const char *key)
{
    for (size_t i = 0; i < spec_field_count; i++)
        if (same_key(spec_fields[i].key, key))
            return &spec_fields[i];
    return NULL;
}
