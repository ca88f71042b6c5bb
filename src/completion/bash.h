/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_COMPLETION_BASH_H
#define DPARTUI_COMPLETION_BASH_H

/* The completion script for bash on standard output, made from `commands`. Words that only the
 * machine knows are asked for by `dpartui completion words SOURCE` (cli/words.h) while one types.
 */
void complete_bash(void);

#endif
