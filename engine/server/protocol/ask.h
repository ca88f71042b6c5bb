/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/protocol/answer.h"

/* Methods that ask about the engine and its runs, or for what is to come; and its end. */
method_function method_hello, method_status, method_runs, method_show, method_log, method_follow,
    method_watch, method_shutdown;
