/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/state/state.h"

/* Which messages the log shows, and what the workbench itself puts there. */

struct ui;

struct log_choice {
    char filter[64];
    int back; /* lines scrolled up from the newest */
};

const char *log_level_name(enum log_level level);

/* Whether a line has every one of `words`, in any order and case; its level and run count, too. */
bool log_matches(const struct log_line *line, const char *words);

/* The places in state->log of what the filter lets through, oldest first; returns how many. */
int log_shown(const struct ui *ui, int lines[STATE_MAX_LOG]);

/* A line has been appended: a view of older lines stays where it is. */
void log_arrived(struct ui *ui);

/* Put an event of the workbench itself among the engine's messages. */
void ui_log_local(struct ui *ui, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Report devices that failed or went away since the last state, once each. */
void log_lost_devices(struct ui *ui);
