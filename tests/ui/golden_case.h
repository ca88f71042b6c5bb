/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Compare a dump with the file tests/ui/golden/NAME; a difference is printed and fails the running
 * check. With UPDATE_GOLDEN in the environment the file is rewritten instead.
 */
void compare_golden(const char *name, const char *actual);
