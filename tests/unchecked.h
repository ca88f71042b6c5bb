/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * For loops of a test over its own values, of which sanitizers would make most of the test's time.
 * They are for the program's code.
 */
#define UNCHECKED __attribute__((no_sanitize("address"), no_sanitize("undefined")))
