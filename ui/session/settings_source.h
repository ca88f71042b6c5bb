/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Where a setting's value comes from; later ones win. */
enum setting_origin {
    SOURCE_BUILT_IN,
    SOURCE_SYSTEM, /* dpartui.conf of the system */
    SOURCE_USER,   /* that of the user */
    SOURCE_SAVED,  /* settings.conf, which the workbench writes */
    SOURCE_ENVIRONMENT,
    SOURCE_COMMAND_LINE,
};

/* One setting; the texts belong to the source and are valid until it is changed. */
struct setting {
    const char *name;   /* "screen.palette", "train.batch" */
    const char *member; /* the name without the group */
    const char *value;
    enum setting_origin source;
    /* What will win over a saved value at the next start: "DPARTUI_BATCH", "the command line";
     * NULL: nothing. */
    const char *overridden;
    bool unsaved; /* settings.conf says something else */
};

/*
 * The settings of the workbench, which itself knows no files. Their order and number never change.
 */
struct settings_source {
    void *context;
    const char *file; /* where `save` writes */
    /* False after the last. */
    bool (*at)(void *context, size_t index, struct setting *setting);
    /* ERROR_USAGE, with the words of the configuration, when the value is none; then nothing has
     * changed. */
    bool (*set)(void *context, size_t index, const char *value, struct error *err);
    /* To the value that it has without settings.conf. */
    bool (*reset)(void *context, size_t index, struct error *err);
    /* Write what was set, whole or not at all. NULL: the settings can only be looked at. */
    bool (*save)(void *context, struct error *err);
};
