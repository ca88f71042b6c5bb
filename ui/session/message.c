/* SPDX-License-Identifier: MIT */
#include "ui/session/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "ui/session/ui.h"

bool ui_say(struct ui *ui, bool bad, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ui->message.text, sizeof ui->message.text, format, arguments);
    va_end(arguments);
    ui->message.bad = bad;
    return !bad;
}
