/* SPDX-License-Identifier: MIT */
#include "completion/quote.h"

#include <stdio.h>
#include <string.h>

void complete_quote_part(const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (strchr(escaped, *text))
            putchar('\\');
        if (*text == '\'' && !strchr(escaped, '\''))
            fputs("'\\''", stdout);
        else
            putchar(*text);
    }
}

void complete_quote(const char *text, const char *escaped)
{
    putchar('\'');
    complete_quote_part(text, escaped);
    putchar('\'');
}
