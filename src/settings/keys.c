/* SPDX-License-Identifier: MIT */
#include "settings/keys.h"

#include <stdlib.h>
#include <string.h>

#include "spec/set.h"
#include "spec/text.h"

const struct settings_key settings_keys[SETTINGS_KEYS] = {
    {"screen.charset", VALUE_TEXT, "DPARTUI_CHARSET"},
    {"screen.colour", VALUE_BOOL, "NO_COLOR"}, /* not its value: no-color.org */
    {"screen.palette", VALUE_TEXT, "DPARTUI_PALETTE"},
    {"screen.background", VALUE_TEXT, "DPARTUI_BACKGROUND"},
    {"screen.canvas", VALUE_TEXT, "DPARTUI_CANVAS"},
    {"screen.load", VALUE_TEXT, "DPARTUI_LOAD"},
    {"screen.x_axis", VALUE_TEXT, "DPARTUI_X_AXIS"},
    {"screen.y_axis", VALUE_TEXT, "DPARTUI_Y_AXIS"},
    {"screen.smoothing", VALUE_TEXT, "DPARTUI_SMOOTHING"},
    {"screen.mouse", VALUE_BOOL, "DPARTUI_MOUSE"},
    {"screen.columns", VALUE_WORDS, "DPARTUI_COLUMNS"},
    {"train.model", VALUE_FILE, "DPARTUI_MODEL"},
    {"train.data", VALUE_FILE, "DPARTUI_DATA"},
    {"train.data_dir", VALUE_FILE, "DPARTUI_DATA_DIR"},
    {"train.devices", VALUE_TEXT, "DPARTUI_DEVICES"},
    {"train.hosts", VALUE_TEXT, "DPARTUI_HOSTS"},
    {"train.launcher", VALUE_TEXT, "DPARTUI_LAUNCHER"},
    {"train.host_limit", VALUE_NUMBER, "DPARTUI_HOST_LIMIT"},
    {"train.restarts", VALUE_WHOLE, "DPARTUI_RESTARTS"},
    {"train.cpu_threads", VALUE_COUNTS, "DPARTUI_CPU_THREADS"},
    {"train.batch", VALUE_WHOLE, "DPARTUI_BATCH"},
    {"train.lr", VALUE_NUMBER, "DPARTUI_LR"},
    {"train.lr_schedule", VALUE_TEXT, "DPARTUI_LR_SCHEDULE"},
    {"train.warmup", VALUE_NUMBER, "DPARTUI_WARMUP"},
    {"train.optimizer", VALUE_TEXT, "DPARTUI_OPTIMIZER"},
    {"train.momentum", VALUE_NUMBER, "DPARTUI_MOMENTUM"},
    {"train.weight_decay", VALUE_NUMBER, "DPARTUI_WEIGHT_DECAY"},
    {"train.beta1", VALUE_NUMBER, "DPARTUI_BETA1"},
    {"train.beta2", VALUE_NUMBER, "DPARTUI_BETA2"},
    {"train.eps", VALUE_NUMBER, "DPARTUI_EPS"},
    {"train.no_decay", VALUE_TEXT, "DPARTUI_NO_DECAY"},
    {"train.clip_norm", VALUE_NUMBER, "DPARTUI_CLIP_NORM"},
    {"train.ema", VALUE_NUMBER, "DPARTUI_EMA"},
    {"train.epochs", VALUE_WHOLE, "DPARTUI_EPOCHS"},
    {"train.seed", VALUE_WHOLE, "DPARTUI_SEED"},
    {"train.strategy", VALUE_TEXT, "DPARTUI_STRATEGY"},
    {"train.memory_limit", VALUE_TEXT, "DPARTUI_MEMORY_LIMIT"},
    {"train.micro_batches", VALUE_WHOLE, "DPARTUI_MICRO_BATCHES"},
    {"train.replicas", VALUE_WHOLE, "DPARTUI_REPLICAS"},
    {"train.stages", VALUE_TEXT, "DPARTUI_STAGES"},
    {"train.split", VALUE_TEXT, "DPARTUI_SPLIT"},
    {"train.sync", VALUE_TEXT, "DPARTUI_SYNC"},
    {"train.sync_bn", VALUE_BOOL, "DPARTUI_SYNC_BN"},
    {"train.dtype", VALUE_TEXT, "DPARTUI_DTYPE"},
    {"train.init", VALUE_FILE, "DPARTUI_INIT"},
    {"train.recipe", VALUE_TEXT, "DPARTUI_RECIPE"},
    {"train.order", VALUE_TEXT, "DPARTUI_ORDER"},
    {"train.augment", VALUE_TEXT, "DPARTUI_AUGMENT"},
    {"train.label_smoothing", VALUE_NUMBER, "DPARTUI_LABEL_SMOOTHING"},
    {"train.checkpoint_every", VALUE_TEXT, "DPARTUI_CHECKPOINT_EVERY"},
    {"train.noise_every", VALUE_WHOLE, "DPARTUI_NOISE_EVERY"},
    {"train.deterministic", VALUE_BOOL, "DPARTUI_DETERMINISTIC"},
    {"train.validation", VALUE_NUMBER, "DPARTUI_VALIDATION"},
    {"train.patience", VALUE_WHOLE, "DPARTUI_PATIENCE"},
    {"train.stop_at_acc", VALUE_NUMBER, "DPARTUI_STOP_AT_ACC"},
    {"train.image_size", VALUE_COUNTS, "DPARTUI_IMAGE_SIZE"},
    {"train.image_colour", VALUE_TEXT, "DPARTUI_IMAGE_COLOUR"},
    {"train.test_share", VALUE_NUMBER, "DPARTUI_TEST_SHARE"},
    {"train.skip_broken", VALUE_BOOL, "DPARTUI_SKIP_BROKEN"},
    {"train.notify", VALUE_TEXT, "DPARTUI_NOTIFY"},
};

const char *settings_key(size_t index)
{
    return index < SETTINGS_KEYS ? settings_keys[index].name : NULL;
}

static bool is_preference(const char *name)
{
    return strncmp(name, "screen.", strlen("screen.")) == 0;
}

bool settings_key_set(size_t key, struct spec *spec, struct preferences *preferences,
                      const char *value, struct error *err)
{
    const char *name = settings_keys[key].name, *member = strchr(name, '.') + 1;
    if (is_preference(name))
        return preferences_set(preferences, member, value, err);
    return spec_set(spec, member, value, err);
}

char *settings_key_text(size_t key, const struct spec *spec, const struct preferences *preferences,
                        struct error *err)
{
    const char *name = settings_keys[key].name, *member = strchr(name, '.') + 1;
    if (!is_preference(name))
        return spec_get(spec, member, err);
    return error_if_null(strdup(preferences_get(preferences, member)), err, "configuration");
}
