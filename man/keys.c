/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "ui/keys/actions.h"
#include "ui/keys/keymap.h"

/*
 * The list of keys of dpartui.1 in mdoc, from the table of actions: `make update-keys` puts it into
 * the manual, tests/programs/keys.sh compares.
 */

/* mdoc takes punctuation alone for the end of a sentence unless it is escaped. */
static void print_keys(const char *keys)
{
    while (*keys != '\0') {
        size_t length = strcspn(keys, " ");
        printf(" %s%.*s", length == 1 && strchr("?.,;:!()[]|", *keys) != NULL ? "\\&" : "",
               (int)length, keys);
        keys += length + strspn(keys + length, " ");
    }
}

int main(void)
{
    struct keymap keymap;
    size_t count;
    const struct action_entry *table = actions_table(&count);
    keymap_init(&keymap);
    for (size_t i = 0; i < count; i++) {
        char keys[KEYMAP_TEXT_SIZE];
        printf(".It Ic");
        print_keys(keymap_text(&keymap, i, keys));
        printf("\n.Pq Cm %s\n%s\n", table[i].name, table[i].description);
    }
    return fflush(stdout) != 0 || ferror(stdout);
}
