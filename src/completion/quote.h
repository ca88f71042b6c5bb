/* SPDX-License-Identifier: MIT */
#pragma once

/* Print a word of shell between single quotes. `escaped`: characters that get a backslash. */
void quote(const char *text, const char *escaped);

/* The same without the quotes around it, to put together a longer one. */
void quote_part(const char *text, const char *escaped);
