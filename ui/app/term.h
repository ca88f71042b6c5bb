/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ui/draw/preferences.h"
#include "ui/draw/surface.h"
#include "ui/frame/mouse.h"

/*
 * The terminal: the only place that knows curses. It shows surfaces, with the looks of
 * ui/draw/theme.h, and reads keys.
 */
struct terminal;

/*
 * ERROR_USAGE with the command to use instead when standard input and output are no terminal, or
 * one that cannot place its cursor.
 */
bool term_usable(struct error *err);
/*
 * Take them over, if they are usable. Sets the process's LC_CTYPE. Signals are the
 * caller's business: block them first (src/system/signals.h).
 */
bool term_open(struct terminal **out, const struct preferences *preferences, struct error *err);
/* Take over what has changed in the preferences; the next term_show draws everything then. */
void term_prefer(struct terminal *term, const struct preferences *preferences);
/* Give the terminal back as it was. False when the terminal takes no output: then nothing is
 * written and nothing should be. */
bool term_close(struct terminal *term);

bool term_utf8(const struct terminal *term);
/* For poll(): where keys come from. */
int term_fd(const struct terminal *term);
/* The size now, at least 1 x 1, after a change has been taken over. */
void term_size(struct terminal *term, int *rows, int *columns);
/* Whether the terminal takes a frame now: a stopped one (a stalled line) does not, nor one that has
 * not taken all of the last. */
bool term_writable(const struct terminal *term);
/* The terminal is closed: reading it would return at once for ever. To be asked when poll() reports
 * input, before that is read. */
bool term_gone(const struct terminal *term);

/* Show a frame of the terminal's size: sends what changed since the last one, as far as the
 * terminal takes it; term_flush() sends the rest. Only when term_writable(). */
bool term_show(struct terminal *term, const struct surface *surface, struct error *err);
/* The next frame is sent whole: what the terminal shows is anybody's guess. */
void term_redraw(struct terminal *term);
/* Ring the bell, which many terminals show instead. */
void term_ring(struct terminal *term);
/* How many bytes the last frame took. */
size_t term_frame_bytes(const struct terminal *term);
/* Send what is left of the last frame; false when the terminal has not taken all of it. */
bool term_flush(struct terminal *term);
/*
 * What the user did. Pasted text comes whole, so that it can never be taken for keys, where the
 * terminal marks it; it is valid until the next call.
 */
struct term_event {
    enum { TERM_KEY, TERM_MOUSE, TERM_PASTE } kind;
    int key;                /* of ui/draw/key.h */
    enum mouse_event mouse; /* at this cell */
    int y, x;
    const char *text; /* pasted; UTF-8 */
};
/* Take the next one; false when there is none. */
bool term_next(struct terminal *term, struct term_event *event);

/* Give the terminal back while the process is stopped, and take it over again; the next
 * term_show draws everything. */
void term_suspend(struct terminal *term);
void term_resume(struct terminal *term);
