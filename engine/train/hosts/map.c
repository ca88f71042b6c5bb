/* SPDX-License-Identifier: MIT */
#include "engine/train/hosts/map.h"

#include <string.h>

struct host_map host_map_make(const struct device_list *devices, const struct host_list *hosts)
{
    struct host_map map = {{0}};
    int i = 0;
    for (int h = 0; h < hosts->count; h++) {
        map.begin[h] = i;
        while (i < devices->count && strcmp(devices->id[i].host, hosts->name[h]) == 0)
            i++;
        map.begin[h + 1] = i;
    }
    return map;
}

int host_map_find(const struct host_map *map, int index)
{
    int host = 0;
    while (map->begin[host + 1] <= index)
        host++;
    return host;
}
