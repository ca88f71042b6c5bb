/* SPDX-License-Identifier: MIT */
#include "engine/train/split/micro.h"

#include "base/text.h"

static bool split_even(long rows, int parts, struct micro_split *out, struct error *err)
{
    if (rows % parts != 0)
        return error_set(err, ERROR_USAGE,
                         "split even: %ld row%s cannot be divided equally into %d micro-batches: "
                         "use a multiple of %d rows, or another split (chunk, balanced)",
                         rows, plural(rows), parts, parts);
    *out =
        rows > 0 ? (struct micro_split){parts, parts, {rows / parts, 0}} : (struct micro_split){0};
    return true;
}

static void split_chunk(long rows, int parts, struct micro_split *out)
{
    const long chunk = (rows + parts - 1) / parts;
    const int whole = (int)(rows / chunk);
    const long rest = rows % chunk;
    *out = (struct micro_split){whole + (rest > 0), whole, {chunk, rest}};
}

static void split_balanced(long rows, int parts, struct micro_split *out)
{
    const int count = rows < parts ? (int)rows : parts, larger = (int)(rows % count);
    const long least = rows / count;
    *out = larger > 0 ? (struct micro_split){count, larger, {least + 1, least}}
                      : (struct micro_split){count, count, {least, 0}};
}

bool micro_split(enum split_rule rule, long rows, int parts, struct micro_split *out,
                 struct error *err)
{
    if (rule == SPLIT_EVEN)
        return split_even(rows, parts, out, err);
    if (rows == 0)
        *out = (struct micro_split){0};
    else if (rule == SPLIT_CHUNK)
        split_chunk(rows, parts, out);
    else
        split_balanced(rows, parts, out);
    return true;
}
