/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_SYNC_HOST_H
#define DPARTUI_ENGINE_TRAIN_SYNC_HOST_H

#include "engine/train/sync/group.h"

/* A method as the host does it. */
const struct sync_algorithm *sync_on_host(enum sync_method method);

#endif
