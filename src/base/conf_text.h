/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * What libconfig lets pass or does silently, refused before it sees the text of a file: bytes that
 * are no text, @include, strings and comments without an end (libconfig 1.5 leaks them), whole
 * numbers too large for their type (it wraps them round), brackets nested too deep (its destructor
 * recurses), more lines than it can count. `text` has a NUL after its `length` bytes. ERROR_USAGE
 * begins with "FILE:LINE: ".
 */
bool conf_text_check(const char *file, const char *text, size_t length, struct error *err);
