/* SPDX-License-Identifier: MIT */
#pragma once

/* A run's strategy where it is worth a word: "" where the rows are divided, and where `name` is "",
 * not known. Returns `name` or a constant. */
const char *strategy_worth_telling(const char *name);
