/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * An address for people to read, without the user's name and password in it; a new
 * string that the caller frees, NULL: memory ran out. What stands before the last '@' goes, because
 * a password that should have been escaped may hold any character.
 */
char *address_shown(const char *url);
