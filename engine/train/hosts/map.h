/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/hosts.h"

/* Which devices of a run are on which host: those of host h from begin[h] to before begin[h + 1].
 */
struct host_map {
    int begin[SPEC_MAX_HOSTS + 1];
};

struct host_map host_map_make(const struct device_list *devices, const struct host_list *hosts);
/* The host of device `index`. */
int host_map_find(const struct host_map *map, int index);
