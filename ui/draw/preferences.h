/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ui/draw/columns.h"

/*
 * How the user wants the screen: the group `screen` of the configuration. The workbench holds one
 * in struct ui; whatever changes it there shows at once.
 */

enum charset { CHARSET_AUTO, CHARSET_UTF8, CHARSET_ASCII }; /* AUTO: by the locale */
enum palette { PALETTE_DEFAULT, PALETTE_COLOUR_BLIND };
/* AUTO: what the terminal says of itself, else colours that can be read on both. */
enum background { BACKGROUND_AUTO, BACKGROUND_DARK, BACKGROUND_LIGHT };
/* What curves are drawn with; AUTO: the finest that the character set has. */
enum canvas_kind { CANVAS_AUTO, CANVAS_BRAILLE, CANVAS_QUADRANT, CANVAS_ASCII };
/* How the load of a device is shown. */
enum load_style { LOAD_BAR, LOAD_SPARKLINE, LOAD_NUMBER, LOAD_STYLES };
/* The y axis of the chart, but for accuracies, whose axis is always linear. */
enum y_axis { Y_LINEAR, Y_LOGARITHMIC };
/* What the chart's x axis counts (ui/chart/axis.h). */
enum x_axis { X_EPOCHS, X_STEPS, X_SECONDS, X_AXES };
/* Of the chart's curves (ui/chart/smooth.h). */
enum smoothing { SMOOTHING_OFF, SMOOTHING_LIGHT, SMOOTHING_STRONG, SMOOTHINGS };

struct preferences {
    enum charset charset;
    bool colour; /* false: mono */
    enum palette palette;
    enum background background;
    enum canvas_kind canvas;
    enum load_style load;
    enum x_axis x_axis;
    enum y_axis y_axis;
    enum smoothing smoothing;
    struct run_columns columns; /* of the page of all runs */
    bool mouse;                 /* where the terminal has one; its own selection needs Shift then */
};

/* The built-in ones. */
void preferences_init(struct preferences *preferences);

/*
 * The words that the preference `name` ("charset", "colour", ...) takes, NULL after the last; a
 * switch takes "no" and "yes". NULL: there is no such preference.
 */
const char *const *preferences_words(const char *name);
/* Set one from its word, or "columns" from a list of words (ui/draw/columns.h). ERROR_USAGE names
 * what is accepted. */
bool preferences_set(struct preferences *preferences, const char *name, const char *value,
                     struct error *err);
/* Its word now; NULL: there is no such preference. */
const char *preferences_get(const struct preferences *preferences, const char *name);
