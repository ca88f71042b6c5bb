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
    {"screen.mouse", VALUE_BOOL, "DPARTUI_MOUSE"},
    {"train.model", VALUE_FILE, "DPARTUI_MODEL"},
    {"train.data", VALUE_FILE, "DPARTUI_DATA"},
    {"train.data_dir", VALUE_FILE, "DPARTUI_DATA_DIR"},
    {"train.devices", VALUE_TEXT, "DPARTUI_DEVICES"},
    {"train.cpu_threads", VALUE_COUNTS, "DPARTUI_CPU_THREADS"},
    {"train.batch", VALUE_WHOLE, "DPARTUI_BATCH"},
    {"train.lr", VALUE_NUMBER, "DPARTUI_LR"},
    {"train.momentum", VALUE_NUMBER, "DPARTUI_MOMENTUM"},
    {"train.weight_decay", VALUE_NUMBER, "DPARTUI_WEIGHT_DECAY"},
    {"train.epochs", VALUE_WHOLE, "DPARTUI_EPOCHS"},
    {"train.seed", VALUE_WHOLE, "DPARTUI_SEED"},
    {"train.split", VALUE_TEXT, "DPARTUI_SPLIT"},
    {"train.sync", VALUE_TEXT, "DPARTUI_SYNC"},
    {"train.sync_bn", VALUE_BOOL, "DPARTUI_SYNC_BN"},
    {"train.dtype", VALUE_TEXT, "DPARTUI_DTYPE"},
    {"train.init", VALUE_FILE, "DPARTUI_INIT"},
    {"train.order", VALUE_TEXT, "DPARTUI_ORDER"},
    {"train.augment", VALUE_TEXT, "DPARTUI_AUGMENT"},
    {"train.checkpoint_every", VALUE_TEXT, "DPARTUI_CHECKPOINT_EVERY"},
    {"train.deterministic", VALUE_BOOL, "DPARTUI_DETERMINISTIC"},
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
    char *text = strdup(preferences_get(preferences, member));
    if (!text)
        error_memory(err, "configuration");
    return text;
}
