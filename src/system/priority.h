/* SPDX-License-Identifier: MIT */
#pragma once

/* The calling thread, and those that it starts, get the processor when others leave it: about a
 * tenth of what theirs would be. For good. */
void priority_lower(void);
