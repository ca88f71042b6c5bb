/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_TERM_INPUT_H
#define DPARTUI_UI_TERM_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/term.h"

/* What comes from the terminal through curses (part of ui/term.h). */

struct term_input {
    bool mouse;        /* clicks and the wheel are reported */
    bool pasting;      /* between the terminal's marks around pasted text */
    double heard;      /* when the last of that came */
    size_t length;     /* of `pasted` */
    char pasted[1024]; /* what comes behind that is dropped */
    double clicked;    /* when the last click came, and where */
    int click_y, click_x;
};

/* Teach curses what its terminal sends, also when the terminal's description does not know. */
void term_input_open(struct term_input *input);
/* Switch the terminal's marks around pasted text on or off. */
void term_input_marks(bool on);
/* Switch the mouse on or off. */
void term_input_mouse(struct term_input *input, bool on);
/* What term_next does. */
bool term_input_next(struct term_input *input, struct term_event *event);

#endif
