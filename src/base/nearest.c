/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"

#include <string.h>

/* Insertions, deletions and replacements between two short strings (Wagner and Fischer, 1974). */
static size_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    size_t row[LONGEST + 1], length = strlen(b);
    if (length > LONGEST)
        return length;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length];
}

const char *nearest_name(const char *typed, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t limit = strlen(typed) / 3 + 1, least = limit + 1;
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(typed, names[i]);
        /* The beginning of a name is as near as one slip. */
        if (distance > 1 && strlen(typed) > 1 && strncmp(typed, names[i], strlen(typed)) == 0)
            distance = 1;
        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
