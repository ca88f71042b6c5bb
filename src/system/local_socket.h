/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/un.h>

#include "base/error.h"

/* What both ends of the engine's Unix socket must agree on. */

/* A line of the protocol, without its newline, is at most this long (docs/protocol.md). */
#define PROTOCOL_LINE_LIMIT (1 << 20)
#define PROTOCOL_VERSION    1

/* The address of this user's background engine, `engine.sock` in paths_runtime_dir(). */
bool local_socket_address(struct sockaddr_un *address, struct error *err);

/* ERROR_FAILED when the process at the other end belongs to another user. */
bool local_socket_check_peer(int fd, struct error *err);
