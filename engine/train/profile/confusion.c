/* SPDX-License-Identifier: MIT */
#include "engine/train/profile/confusion.h"

#include <stdlib.h>
#include <string.h>

static size_t cells(const struct confusion *confusion)
{
    return (size_t)confusion->classes * (size_t)confusion->classes;
}

bool confusion_create(struct confusion *confusion, int classes, struct error *err)
{
    confusion->classes = classes;
    confusion->counts = calloc(cells(confusion), sizeof *confusion->counts);
    return confusion->counts || error_memory(err, "confusion matrix");
}

void confusion_free(struct confusion *confusion)
{
    free(confusion->counts);
    *confusion = (struct confusion){0};
}

void confusion_clear(struct confusion *confusion)
{
    memset(confusion->counts, 0, cells(confusion) * sizeof *confusion->counts);
}

void confusion_count(struct confusion *confusion, const uint8_t *labels, const uint32_t *index,
                     const uint8_t *predicted, long rows)
{
    for (long n = 0; n < rows; n++)
        confusion->counts[labels[index[n]] * confusion->classes + predicted[n]]++;
}

void confusion_add(struct confusion *confusion, const struct confusion *part)
{
    for (size_t i = 0; i < cells(confusion); i++)
        confusion->counts[i] += part->counts[i];
}
