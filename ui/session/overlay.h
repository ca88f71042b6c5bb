/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ui/keys/actions.h"

/* What lies on top of a view: a value being typed or a question. */

struct ui;

/*
 * A value that the user types, on the status line or where a view draws it. Each kind is a constant
 * beside its functions; what it is about is in ui->asked_run or in the owner's part of the ui.
 */
struct prompt {
    const char *label; /* before the text, with a %ld for the run; NULL: the view draws the text */
    const char *hint;  /* after it; may be NULL */
    /* Use the text. False keeps the prompt open; ui_say says what is wrong. */
    bool (*accept)(struct ui *ui, const char *text);
    void (*changed)(struct ui *ui, const char *text); /* after each key; may be NULL */
    void (*left)(struct ui *ui);                      /* without a value; may be NULL */
    bool extends; /* the first character is added to the text that was there, else it replaces it */
    bool palette; /* the keys of CONTEXT_PALETTE work, too */
};

/* A question with the answers that make sense; ACTION_NO always does and changes nothing. */
struct question {
    enum action answers[4];
    void (*answer)(struct ui *ui, enum action answer); /* never ACTION_NO */
    void (*declined)(struct ui *ui);                   /* may be NULL */
    bool plan; /* it is about the sweep in ui->compare, which the compare view shows */
    bool moot; /* when the run it is about ends or the engine is lost */
};

/* Have a value typed; `text` to begin with. */
void ui_prompt(struct ui *ui, const struct prompt *prompt, long run, const char *text);
/* Ask; the text comes from `format`. */
void ui_ask(struct ui *ui, const struct question *question, long run, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Close both without a message. */
void overlay_close(struct ui *ui);

/* Is the typed text the path of a file that is not there yet, in `size` bytes? Else ui_say says
 * what is wrong. */
bool prompt_new_file(struct ui *ui, const char *path, size_t size);

/* Is a value typed where the view draws it? */
bool prompt_in_view(const struct ui *ui);
/* The open prompt's label with its run. */
void prompt_label(const struct ui *ui, char *buffer, size_t size);
