/* SPDX-License-Identifier: MIT */
#include "ui/panels/panels.h"

#include <stdio.h>

#include "ui/overlay.h"
#include "ui/views/views.h"

/* The line for a question, an answer, or a word about what is in focus; most pressing first. */

enum { MOST_ROWS = 6 }; /* over which a long answer spreads */

/* The label, the text being typed and a hint or what is wrong. */
static void draw_prompt(const struct ui *ui, struct surface *surface, struct rect area)
{
    int x = area.x, end = area.x + area.w;
    int width = text_columns(ui->editor.text) < 12 ? 13 : text_columns(ui->editor.text) + 1;

    char label[96];

    prompt_label(ui, label, sizeof label);
    x += surface_text(surface, area.y, x, end - x, STYLE_STRONG, label);
    width = width > end - x ? end - x : width;
    draw_editor(&ui->editor, surface, area.y, x, width);
    x += width + 2;
    if (ui->message.text[0] != '\0')
        surface_text(surface, area.y, x, end - x, ui->message.bad ? STYLE_BAD : STYLE_LABEL,
                     ui->message.text);
    else if (ui->prompt->hint != NULL)
        surface_text(surface, area.y, x, end - x, STYLE_LABEL, ui->prompt->hint);
}

/* Is it more pressing that there is no engine than what is in focus? Settings need none. */
static bool misses_engine(const struct ui *ui)
{
    return (ui->link == LINK_LOST || ui->link == LINK_NO_ENGINE) && ui->view != VIEW_SETTINGS;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    const struct view *view = view_of(ui->view);

    buffer[0] = '\0';
    if (view->hint != NULL)
        view->hint(ui, buffer, size);
}

/*
 * A text that does not fit into its row takes those above it until the next key: what went wrong
 * and what to do about it stand at the end of it.
 */
static void draw_words(struct surface *surface, struct rect area, enum style style,
                       const char *text)
{
    int rows = 1, most = area.y < MOST_ROWS ? area.y : MOST_ROWS;
    const char *rest = text + text_line_length(text, area.w);

    while (rows < most && *rest != '\0') {
        rest += *rest == ' ';
        rest += text_line_length(rest, area.w);
        rows++;
    }
    struct rect grown = {area.y + 1 - rows, area.x, rows, area.w};
    surface_fill(surface, grown, STYLE_NORMAL);
    surface_paragraph(surface, grown, style, text);
}

bool panel_status(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    char buffer[640];

    (void)err;
    if (ui->prompt != NULL && ui->prompt->label != NULL) {
        draw_prompt(ui, surface, area);
    } else if (ui->question != NULL) {
        draw_words(surface, area, STYLE_WARNING, ui->question_text);
    } else if (ui->message.text[0] != '\0') {
        draw_words(surface, area, ui->message.bad ? STYLE_BAD : STYLE_NORMAL, ui->message.text);
    } else if (misses_engine(ui)) {
        draw_words(surface, area, STYLE_WARNING, ui->link_advice);
    } else if (ui->silent) {
        snprintf(buffer, sizeof buffer,
                 "the engine (process %ld) does not answer: what is shown is old. It was stopped, "
                 "or the machine has too much to do",
                 ui->state.pid);
        draw_words(surface, area, STYLE_WARNING, buffer);
    } else {
        hint(ui, buffer, sizeof buffer);
        surface_text(surface, area.y, area.x, area.w, STYLE_LABEL, buffer);
    }
    return true;
}
