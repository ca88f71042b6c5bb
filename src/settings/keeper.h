/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_SETTINGS_KEEPER_H
#define DPARTUI_SETTINGS_KEEPER_H

#include "settings/settings.h"

/*
 * What the workbench's settings page works on: where each value comes from, what is to be saved,
 * and settings.conf, which nobody else writes. dpartui.conf with its comments is never touched.
 */
struct settings_keeper {
    struct keeper keeper; /* for the workbench; its context is the settings_keeper, which stays
                             where it is */
    struct {
        char *below; /* without settings.conf */
        char *saved; /* in settings.conf; NULL: not there */
        char *own;   /* what is to be there; NULL: nothing */
        char *above; /* of the environment or the command line; NULL: neither says anything */
        enum setting_source below_source, above_source;
        bool touched; /* changed on the page: `own` is what counts now, whatever is above */
    } entry[SETTINGS_KEYS];
    /* Values are tried on these. */
    struct spec spec;
    struct preferences preferences;
    char *path; /* of settings.conf; NULL: this user has no home */
};

/* From settings that were loaded, and that the command line had its say in. */
bool settings_keeper_open(struct settings_keeper *keeper, const struct settings *settings,
                          struct error *err);
/* After any outcome of settings_keeper_open. */
void settings_keeper_close(struct settings_keeper *keeper);

#endif
