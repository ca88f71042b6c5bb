/* SPDX-License-Identifier: MIT */
#include "ui/session/overlay.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ui/session/ui.h"

void ui_prompt(struct ui *ui, const struct prompt *prompt, long run, const char *text)
{
    ui->question = NULL;
    ui->prompt = prompt;
    ui->asked_run = run;
    editor_begin(&ui->editor, text);
    ui->editor.fresh = !prompt->extends;
}

void ui_ask(struct ui *ui, const struct question *question, long run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ui->question_text, sizeof ui->question_text, format, arguments);
    va_end(arguments);
    ui->prompt = NULL;
    ui->question = question;
    ui->asked_run = run;
}

void overlay_close(struct ui *ui)
{
    ui->prompt = NULL;
    ui->question = NULL;
}

bool prompt_new_file(struct ui *ui, const char *path, size_t size)
{
    if (path[0] == '\0' || strlen(path) >= size)
        return ui_say(ui, true, "wants the name of a file");
    /* For commands it is the standard output, which is the screen here. */
    if (strcmp(path, "-") == 0)
        return ui_say(ui, true, "wants the name of a file; ./- is one");
    return access(path, F_OK) != 0 || ui_say(ui, true, "is there already");
}

bool prompt_in_view(const struct ui *ui)
{
    return ui->prompt && !ui->prompt->label;
}

void prompt_label(const struct ui *ui, char *buffer, size_t size)
{
    const char *number = strstr(ui->prompt->label, "%ld");
    if (!number)
        snprintf(buffer, size, "%s", ui->prompt->label);
    else
        snprintf(buffer, size, "%.*s%ld%s", (int)(number - ui->prompt->label), ui->prompt->label,
                 ui->asked_run, number + 3);
}
