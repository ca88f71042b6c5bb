/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/order.h"

#include <string.h>

/* Candidates of one engine in the first and the second round. */
static const int rounds[] = {2, 5, CONV_OFFERED};

static bool is_compiled(const struct dnn_candidate *candidate)
{
    return (candidate->notes & DNN_NOTE_COMPILED) != 0;
}

/* Of a compiled engine without knobs: its first kernel, which heuristics list with its knobs, too.
 */
static bool is_default(const struct dnn_candidate *candidate)
{
    return is_compiled(candidate) && candidate->choice.knob_count == 0;
}

int conv_order_extend(enum conv_pattern pattern, struct dnn_candidate *candidates, int count,
                      int capacity)
{
    static const int64_t engine = 2, kernels[] = {10, 8, 43, 44};
    const struct dnn_candidate *like = NULL;
    for (int i = 0; i < count && !like; i++)
        if (candidates[i].choice.engine == engine && is_compiled(&candidates[i]))
            like = &candidates[i];
    if (pattern != CONV_FORWARD_STATS || !like)
        return count;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        struct dnn_candidate more = {.notes = like->notes};
        bool known = false;
        more.choice = (struct dnn_choice){.engine = engine, .knob_count = 1};
        more.choice.knobs[0] = (struct dnn_knob){CUDNN_KNOB_TYPE_KERNEL_CFG, kernels[k]};
        for (int i = 0; i < count; i++)
            known = known || dnn_same_choice(&candidates[i].choice, &more.choice);
        if (!known && count < capacity)
            candidates[count++] = more;
    }
    return count;
}

/* Those with the same engine among the first `count`. */
static int of_engine(const struct dnn_candidate *candidates, int count, int64_t engine)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += candidates[i].choice.engine == engine;
    return found;
}

/* Leave out compiled candidates after enough ready ones, and defaults that are there twice. */
static int drop_needless(struct dnn_candidate *candidates, int count)
{
    int kept = 0, ready = 0;
    for (int i = 0; i < count; i++) {
        const struct dnn_candidate one = candidates[i];
        ready += !is_compiled(&one);
        if ((is_compiled(&one) && ready >= CONV_READY_BEFORE) ||
            (is_default(&one) && of_engine(candidates, kept, one.choice.engine) > 0))
            continue;
        candidates[kept++] = one;
    }
    return kept;
}

int conv_order(struct dnn_candidate *candidates, int count)
{
    struct dnn_candidate from[CONV_OFFERED];
    bool taken[CONV_OFFERED] = {false};
    int ordered = 0;
    count = drop_needless(candidates, count);
    memcpy(from, candidates, (size_t)count * sizeof *from);
    for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++)
        for (int i = 0; i < count && ordered < CONV_TIMED; i++) {
            const int before = of_engine(candidates, ordered, from[i].choice.engine);
            const int limit = is_compiled(&from[i]) && rounds[r] > CONV_COMPILED_PER_ENGINE
                                  ? CONV_COMPILED_PER_ENGINE
                                  : rounds[r];
            if (taken[i] || before >= limit)
                continue;
            taken[i] = true;
            candidates[ordered++] = from[i];
        }
    return ordered;
}
