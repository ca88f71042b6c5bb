/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"

/*
 * What the workbench's settings page works on: where each value comes from, what has to be saved,
 * and settings.conf, which nobody else writes. dpartui.conf with its comments is never touched.
 */
struct saved_settings {
    struct settings_source source; /* for the workbench; its context is the saved_settings, which
                             stays where it is */
    struct {
        char *below; /* without settings.conf */
        char *saved; /* in settings.conf; NULL: not there */
        char *own;   /* what should be there; NULL: nothing */
        char *above; /* of the environment or the command line; NULL: neither says anything */
        enum setting_origin below_source, above_source;
        bool touched; /* changed on the page: `own` is what counts now, whatever is above */
    } entry[SETTINGS_KEYS];
    /* Values are tried on these. */
    struct spec spec;
    struct preferences preferences;
    char *path; /* of settings.conf; NULL: this user has no home */
};

/* From settings that were loaded, and that the command line had its say in. */
bool saved_settings_open(struct saved_settings *saved, const struct settings *settings,
                         struct error *err);
/* After any outcome of saved_settings_open. */
void saved_settings_close(struct saved_settings *saved);
