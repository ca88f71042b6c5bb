/* SPDX-License-Identifier: MIT */
/*
 * Read before every file by `make lint-analyzer`, which looks at one file at a time: what it cannot
 * see is that these return false.
 */
#include "base/error.h"
#include "engine/net/error.h"

#define error_set(...) (error_set(__VA_ARGS__), false)
#define error_errno(...) (error_errno(__VA_ARGS__), false)
#define error_memory(...) (error_memory(__VA_ARGS__), false)
#define error_prefix(...) (error_prefix(__VA_ARGS__), false)
#define model_error(...) (model_error(__VA_ARGS__), false)
