/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ui;

/* A line for the user; it stays until the next key. */
struct message {
    char text[512];
    bool bad;
    bool news; /* of a run, not about what is being typed */
};

/* Say it, and return !bad, so that a caller can write `return ui_say(ui, true, ...)`. */
bool ui_say(struct ui *ui, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same of what a run tells, whatever is being typed meanwhile. */
void ui_news(struct ui *ui, bool bad, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
