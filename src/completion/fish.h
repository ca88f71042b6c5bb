/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_COMPLETION_FISH_H
#define DPARTUI_COMPLETION_FISH_H

/* The completion script for fish on standard output, made from `commands`. Words that only the
 * machine knows are asked for by `dpartui completion words SOURCE` (cli/words.h) while one types.
 */
void complete_fish(void);

#endif
