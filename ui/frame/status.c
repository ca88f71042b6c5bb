/* SPDX-License-Identifier: MIT */
#include "ui/frame/status.h"

#include <stdio.h>
#include <string.h>

#include "ui/views/views.h"

/* The line for a question, an answer, or a word about what is in focus; most pressing first. */

static bool types_here(const struct ui *ui)
{
    return ui->prompt && ui->prompt->label;
}

/* Columns of the text being typed and of the gap after it. */
static int prompt_width(const struct ui *ui)
{
    int typed = text_columns(ui->editor.text);
    return typed < 12 ? 13 : typed + 1;
}

/* Does what is wrong with a text have room after it? News would look like a part of it. */
static bool fits_behind(const struct ui *ui, int width)
{
    char label[96];
    if (ui->message.news)
        return false;
    prompt_label(ui, label, sizeof label);
    return text_columns(label) + prompt_width(ui) + 2 + text_columns(ui->message.text) <= width;
}

/* The label, the text being typed and a hint or what is wrong. */
static void draw_prompt(const struct ui *ui, struct surface *surface, struct rect area)
{
    int x = area.x, end = area.x + area.w, y = area.y + area.h - 1;
    int width = prompt_width(ui);
    enum style style = ui->message.bad ? STYLE_BAD : STYLE_LABEL;
    char label[96];
    if (area.h > 1)
        surface_paragraph(surface, (struct rect){area.y, x, area.h - 1, area.w}, style,
                          ui->message.text);
    prompt_label(ui, label, sizeof label);
    x += surface_text(surface, y, x, end - x, STYLE_STRONG, label);
    width = width > end - x ? end - x : width;
    editor_draw(&ui->editor, surface, y, x, width);
    x += width + 2;
    if (ui->message.text[0] != '\0' && area.h == 1)
        surface_text(surface, y, x, end - x, style, ui->message.text);
    else if (ui->prompt->hint)
        surface_text(surface, y, x, end - x, STYLE_LABEL, ui->prompt->hint);
}

/* Is it more pressing that there is no engine than what is in focus? Settings need none. */
static bool misses_engine(const struct ui *ui)
{
    return (ui->link == LINK_LOST || ui->link == LINK_NO_ENGINE) && ui->view != VIEW_SETTINGS;
}

/* What is more pressing than a hint; NULL: nothing. It may be in `buffer`. */
static const char *pressing(const struct ui *ui, enum style *style, char *buffer, size_t size)
{
    *style = STYLE_WARNING;
    if (ui->question)
        return ui->question_text;
    if (ui->message.text[0] != '\0') {
        *style = ui->message.bad ? STYLE_BAD : STYLE_NORMAL;
        return ui->message.text;
    }
    if (misses_engine(ui))
        return ui->link_advice;
    if (!ui->silent)
        return NULL;
    if (ui->host[0] != '\0')
        snprintf(
            buffer, size,
            "%s does not answer: what is shown is old. The line is slow or down, or the engine "
            "(process %ld there) was stopped",
            ui->host, ui->state.pid);
    else
        snprintf(buffer, size,
                 "the engine (process %ld) does not answer: what is shown is old. It was stopped, "
                 "or the machine has too much to do",
                 ui->state.pid);
    return buffer;
}

static int lines_of(const char *text, int width)
{
    int lines = 0;
    do {
        text += text_line_length(text, width);
        text += strspn(text, " ");
        lines++;
    } while (*text != '\0' && lines < STATUS_MOST_ROWS);
    return lines;
}

int status_rows(const struct ui *ui, int width)
{
    char buffer[256];
    enum style style;
    if (width <= 0)
        return 1;
    if (types_here(ui))
        return ui->message.text[0] == '\0' || fits_behind(ui, width)
                   ? 1
                   : 1 + lines_of(ui->message.text, width);
    const char *text = pressing(ui, &style, buffer, sizeof buffer);
    return text ? lines_of(text, width) : 1;
}

bool status_draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    const struct view *view = view_of(ui->view);
    char buffer[640] = "";
    enum style style;
    const char *text = pressing(ui, &style, buffer, sizeof buffer);
    (void)err;
    surface_fill(surface, area, STYLE_NORMAL);
    if (types_here(ui)) {
        draw_prompt(ui, surface, area);
    } else if (text) {
        surface_paragraph(surface, area, style, text);
    } else if (view->hint) {
        view->hint(ui, buffer, sizeof buffer);
        surface_text(surface, area.y, area.x, area.w, STYLE_LABEL, buffer);
    }
    return true;
}
