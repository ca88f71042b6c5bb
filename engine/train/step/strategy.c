/* SPDX-License-Identifier: MIT */
#include "engine/train/step/strategy.h"

#include "engine/train/step/evaluation.h"
#include "engine/train/step/rank.h"
#include "engine/train/step/training.h"

static double step_bytes(const struct ranks *ranks)
{
    return sync_step_bytes(&ranks->group);
}

static const char *how(const struct ranks *ranks)
{
    return ranks->group.description;
}

const struct strategy_tasks strategy_data = {.prepare = rank_prepare,
                                             .change_shares = rank_change_shares,
                                             .step = rank_step,
                                             .evaluate = rank_evaluate,
                                             .step_bytes = step_bytes,
                                             .how = how};
