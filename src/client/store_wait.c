/* SPDX-License-Identifier: MIT */
#include "client/store_wait.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/print.h"
#include "client/peer.h"
#include "store/lock.h"
#include "store/place.h"
#include "store/update.h"
#include "system/local_socket.h"

/* How often, in percent, a line is written where there is no terminal. */
#define LINE_PERCENT 25

struct shown {
    bool terminal;
    int next; /* percent to write a line at */
};

static void show(void *context, int percent)
{
    struct shown *shown = context;
    static const char what[] = "dpartui: the run store is brought up to date:";
    if (shown->terminal)
        print_to(stderr, percent < 100 ? "\r%s %d %%" : "\r%s %d %%\n", what, percent);
    else if (percent >= shown->next)
        print_to(stderr, "%s %d %%\n", what, percent);
    if (percent >= shown->next)
        shown->next = percent / LINE_PERCENT * LINE_PERCENT + LINE_PERCENT;
}

void store_wait(void)
{
    struct error ignored = ERROR_INIT;
    struct shown shown = {.terminal = isatty(STDERR_FILENO) == 1};
    const struct store_progress progress = {show, &shown};
    char *path = store_default_path(&ignored);
    if (path)
        store_update(path, &progress, &ignored);
    free(path);
}

bool store_is_ours(struct error *err)
{
    struct error ignored = ERROR_INIT;
    struct sockaddr_un address;
    char *path = peer_of_lock() == 0 ? store_default_path(&ignored) : NULL;
    const bool ok = !path || !local_socket_address(&address, &ignored) ||
                    store_check_engine(path, address.sun_path, NULL, err);
    free(path);
    return ok;
}
