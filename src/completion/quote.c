/* SPDX-License-Identifier: MIT */
#include "completion/quote.h"

#include <stdio.h>
#include <string.h>

void quote_part(const char *text, const char *escaped)
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

void quote(const char *text, const char *escaped)
{
    putchar('\'');
    quote_part(text, escaped);
    putchar('\'');
}
