/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ui/app/term.h"

/* What comes from the terminal through curses. */

/* How far a control sequence has come: none, "\033[", "\033O", the three bytes of an old mouse. */
enum term_sequence { SEQUENCE_NONE, SEQUENCE_CSI, SEQUENCE_SS3, SEQUENCE_X10 };

struct term_input {
    struct _win_st *keys; /* the window of curses that keys are read through, never shown */
    bool mouse;           /* clicks and the wheel are reported */
    bool pasting;         /* between the terminal's marks around pasted text */
    enum term_sequence sequence;
    double heard;    /* when the last part of those came */
    size_t length;   /* of `text` */
    char text[1024]; /* pasted, or of the sequence; the rest is dropped */
    double clicked;  /* when the last click came, and where */
    int click_y, click_x;
};

/* Teach curses what its terminal sends, also when the terminal's description does not know. */
void term_input_open(struct term_input *input, struct _win_st *keys, bool mouse);
/* Have the terminal mark pasted text and, if it is wanted, report the mouse; or neither. */
void term_input_report(const struct term_input *input, bool on);
/* Whether the mouse is wanted. */
void term_input_mouse(struct term_input *input, bool on);
/* What term_next does. */
bool term_input_next(struct term_input *input, struct term_event *event);
