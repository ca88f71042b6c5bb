/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ui/session/ui.h"

/* Plays a session to a ui that has no engine. */
struct playback {
    struct ui *ui;
    enum request request_of[256]; /* by id, modulo */
};

/* What the ui asks for meanwhile is accepted and ignored. */
void playback_begin(struct playback *playback, struct ui *ui);
void playback_message(struct playback *playback, const json_t *message);
/*
 * A whole file as far as second `until` (INFINITY: all of it). ERROR_USAGE names the line that is
 * no message of a session.
 */
bool playback_file(struct ui *ui, const char *path, double until, struct error *err);
