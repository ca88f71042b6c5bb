/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ui/state/state.h"

/* The hosts that the user has an engine on, and what each of them says. */

enum host_state {
    HOST_UNKNOWN,   /* not asked yet, or not answered */
    HOST_UP,        /* its engine answers */
    HOST_NO_ENGINE, /* it is reached, and no engine runs */
    HOST_DOWN,      /* it is not reached, or not understood */
};

enum { HOSTS_MOST = 66, HOST_NAME_SIZE = 256 };

struct host {
    char name[HOST_NAME_SIZE]; /* as ssh takes it; "": this machine */
    enum host_state state;
    char why[300];       /* it is not UP */
    struct state engine; /* what it says, of its newest runs */
};

struct hosts {
    struct host *host;
    int count;
    int current; /* whose engine the other pages are about */
    int wanted;  /* the one to open instead; -1: none */
    bool shown;  /* the page is on the screen: they are asked as long as it is */
};

/* This machine, those of the list (ends with NULL; NULL: none), and `current`, which is NULL for
 * this machine. */
bool hosts_init(struct hosts *hosts, char *const *list, const char *current, struct error *err);
void hosts_free(struct hosts *hosts);

/* What an engine is known to say is not so any more. */
void host_lost(struct host *host, enum host_state state, const char *why);
/* The run that a host's line is about: the one that trains, else the newest; NULL: none. */
const struct state_run *host_run(const struct host *host);
/* Mean load of its devices; NAN: not known. */
double host_load(const struct host *host);
