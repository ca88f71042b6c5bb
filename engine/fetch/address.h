/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_FETCH_ADDRESS_H
#define DPARTUI_ENGINE_FETCH_ADDRESS_H

/*
 * An address for people to read, without the user's name and password in it; a new
 * string that the caller frees, NULL: memory ran out. What stands before the last '@' goes, because
 * a password that should have been escaped may hold any character.
 */
char *address_shown(const char *url);

#endif
