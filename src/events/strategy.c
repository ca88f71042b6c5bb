/* SPDX-License-Identifier: MIT */
#include "events/strategy.h"

#include <string.h>

const char *strategy_worth_telling(const char *name)
{
    return strcmp(name, "data") == 0 ? "" : name;
}
