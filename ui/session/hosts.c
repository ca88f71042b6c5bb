/* SPDX-License-Identifier: MIT */
#include "ui/session/hosts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find(const struct hosts *hosts, const char *name)
{
    for (int i = 0; i < hosts->count; i++)
        if (strcmp(hosts->host[i].name, name) == 0)
            return i;
    return -1;
}

/* Returns its place; one that is there already is not added again. */
static int add(struct hosts *hosts, const char *name)
{
    int place = find(hosts, name);
    if (place >= 0 || hosts->count == HOSTS_MOST)
        return place;
    struct host *host = &hosts->host[hosts->count];
    snprintf(host->name, sizeof host->name, "%s", name);
    state_init(&host->engine);
    return hosts->count++;
}

bool hosts_init(struct hosts *hosts, char *const *list, const char *current, struct error *err)
{
    *hosts = (struct hosts){.host = calloc(HOSTS_MOST, sizeof *hosts->host), .wanted = -1};
    if (!hosts->host)
        return error_memory(err, "hosts");
    add(hosts, "");
    if (current)
        hosts->current = add(hosts, current);
    for (; list && *list; list++)
        add(hosts, *list);
    return true;
}

void hosts_free(struct hosts *hosts)
{
    for (int i = 0; i < hosts->count; i++)
        state_free(&hosts->host[i].engine);
    free(hosts->host);
    *hosts = (struct hosts){.wanted = -1};
}

void host_lost(struct host *host, enum host_state state, const char *why)
{
    host->state = state;
    snprintf(host->why, sizeof host->why, "%s", why);
    state_free(&host->engine);
    state_init(&host->engine);
}

const struct state_run *host_run(const struct host *host)
{
    const struct state *engine = &host->engine;
    const struct state_run *live = state_run(engine, engine->live.run);
    return live ? live : engine->run_count > 0 ? &engine->runs[engine->run_count - 1] : NULL;
}

double host_load(const struct host *host)
{
    double sum = 0;
    int known = 0;
    for (int i = 0; i < host->engine.device_count; i++) {
        const double load = host->engine.devices[i].load;
        if (!isfinite(load))
            continue;
        sum += load;
        known++;
    }
    return known ? sum / known : NAN;
}
