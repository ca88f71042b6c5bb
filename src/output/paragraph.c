/* SPDX-License-Identifier: MIT */
#include "output/paragraph.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/print.h"

/* The last `blanks` that a line of `room` columns may end before; NULL: none. */
static char *last_within(char *text, const char *blanks, size_t room)
{
    char *end = NULL;
    bool fits = true;
    for (char *at = strstr(text, blanks); at && fits; at = strstr(at + strspn(at, " "), blanks)) {
        *at = '\0';
        fits = print_width(text) <= room;
        *at = ' ';
        end = fits ? at : end;
    }
    return end;
}

/* Two blanks stand between parts that are rather kept together. A word that is too long stays
 * whole. NULL: the rest is one word. */
static char *find_end(char *text, size_t room)
{
    char *end = last_within(text, "  ", room);
    end = end ? end : last_within(text, " ", room);
    return end ? end : strchr(text, ' ');
}

void paragraph_print(char *text, int columns)
{
    const char *indent = "";
    for (size_t room = columns > 0 ? (size_t)columns : 0; room && print_width(text) > room;) {
        char *end = find_end(text, room);
        if (!end)
            break;
        *end = '\0';
        print("%s%s\n", indent, text);
        text = end + 1 + strspn(end + 1, " ");
        indent = "  ";
        room = columns > 2 ? (size_t)columns - 2 : 1;
    }
    print("%s%s\n", indent, text);
}
