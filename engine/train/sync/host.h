/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/sync/group.h"

/* A method as the host does it. */
const struct sync_algorithm *sync_on_host(enum sync_method method);
