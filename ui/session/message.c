/* SPDX-License-Identifier: MIT */
#include "ui/session/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "ui/session/ui.h"

__attribute__((format(printf, 4, 0))) static void set(struct message *message, bool bad, bool news,
                                                      const char *format, va_list arguments)
{
    vsnprintf(message->text, sizeof message->text, format, arguments);
    message->bad = bad;
    message->news = news;
}

bool ui_say(struct ui *ui, bool bad, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(&ui->message, bad, false, format, arguments);
    va_end(arguments);
    return !bad;
}

void ui_news(struct ui *ui, bool bad, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(&ui->message, bad, true, format, arguments);
    va_end(arguments);
}
