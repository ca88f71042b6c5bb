/* SPDX-License-Identifier: MIT */
#include "ui/control/overlay_keys.h"

#include <stdio.h>

#include "ui/control/palette.h"

bool overlay_can(const struct ui *ui, enum action action)
{
    if (!ui->question || action == ACTION_NO)
        return true;
    for (size_t i = 0; i < sizeof ui->question->answers / sizeof ui->question->answers[0]; i++)
        if (ui->question->answers[i] == action)
            return true;
    return false;
}

static void leave(struct ui *ui)
{
    const struct question *question = ui->question;
    const struct prompt *prompt = ui->prompt;
    overlay_close(ui);
    if (question && question->declined)
        question->declined(ui);
    if (prompt && prompt->left)
        prompt->left(ui);
}

bool overlay_act(struct ui *ui, enum action action)
{
    const struct question *question = ui->question;
    const struct prompt *prompt = ui->prompt;
    if (!question && !prompt)
        return false;
    if (action == ACTION_NO) {
        leave(ui);
    } else if (question) {
        overlay_close(ui);
        question->answer(ui, action);
    } else if (action == ACTION_ACCEPT) {
        /* A refused value stays in the line to be mended; what accepts it may open another. */
        if (prompt->accept(ui, ui->editor.text) && ui->prompt == prompt)
            ui->prompt = NULL;
    } else if (prompt->palette) {
        palette_act(ui, action);
    } else {
        return false;
    }
    return true;
}

void overlay_key(struct ui *ui, int key)
{
    if (!ui->prompt || !editor_key(&ui->editor, key))
        return;
    if (ui->prompt->changed)
        ui->prompt->changed(ui, ui->editor.text);
}

void overlay_paste(struct ui *ui, const char *text)
{
    int blanks = 0;
    bool any = false;
    while (*text != '\0') {
        char32_t character = text_next(&text);
        if (character == ' ' || character == '\n' || character == '\r' || character == '\t') {
            blanks++;
            continue;
        }
        /* Those around the text, as after a copied line, do not belong to it. */
        for (; any && blanks > 0; blanks--)
            editor_key(&ui->editor, ' ');
        blanks = 0;
        /* What edits when it is typed is nothing in a text. */
        if (character > ' ' && character != 0x7f)
            any = editor_key(&ui->editor, (int)character) || any;
    }
    if (any && ui->prompt->changed)
        ui->prompt->changed(ui, ui->editor.text);
}
