/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_COMPLETION_COMPLETE_H
#define DPARTUI_COMPLETION_COMPLETE_H

#include "cli/argument.h"

/*
 * A completion script for each shell, on standard output, made from `commands`. Words that only the
 * machine knows are asked for by `dpartui completion words SOURCE` (words.h) while one types.
 */
void complete_bash(void);
void complete_zsh(void);
void complete_fish(void);

/* Print a word of shell between single quotes. `escaped`: characters that get a backslash. */
void complete_quote(const char *text, const char *escaped);

/* The same without the quotes around it, to put together a longer one. */
void complete_quote_part(const char *text, const char *escaped);

#endif
