/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/*
 * A script for completion in fish, on standard output, made from a table that ends with NULL. Words
 * that only the machine knows are asked for by `dpartui completion words SOURCE` while one types.
 */
void complete_fish(const struct command *const *commands);
