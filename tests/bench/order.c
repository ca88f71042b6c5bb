/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/text.h"
#include "engine/train/split/order.h"

/*
 * In which order a run with --seed SEED takes its training rows in an epoch:
 *   order ROWS SEED EPOCH > FILE
 * writes ROWS numbers of 32 bits, as the machine has them.
 */
int main(int argc, char **argv)
{
    long rows, seed, epoch;
    if (argc != 4 || !parse_long(argv[1], 1, INT32_MAX, &rows) ||
        !parse_long(argv[2], 0, INT64_MAX, &seed) || !parse_long(argv[3], 1, UINT32_MAX, &epoch)) {
        fprintf(stderr, "usage: %s ROWS SEED EPOCH > FILE\n", argv[0]);
        return 2;
    }
    const struct order order =
        order_make(ORDER_SHUFFLE, (uint64_t)seed, (uint32_t)epoch, (uint32_t)rows);
    for (uint32_t i = 0; i < order.rows; i++) {
        const uint32_t row = order_row(&order, i);
        if (fwrite(&row, sizeof row, 1, stdout) != 1)
            break;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("order: cannot write");
        return 1;
    }
    return 0;
}
