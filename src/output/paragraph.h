/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Print a text as a line of standard output, escaped as print() has it. One of more than `columns`
 * columns (0: as many as it likes) continues on further lines, which are indented; it breaks
 * between words, and a word that is too long stays whole. The text is changed meanwhile.
 */
void paragraph_print(char *text, int columns);
