/* SPDX-License-Identifier: MIT */
#include "engine/hosts/rank/order.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* What each process tells all others. */
struct card {
    bool ok;
    enum error_kind kind;
    char name[256];
    char reason[sizeof((struct error *)NULL)->text];
};

static void fill_card(struct card *card, bool ok, const struct error *err)
{
    const char *slurm = getenv("SLURMD_NODENAME");
    memset(card, 0, sizeof *card);
    card->ok = ok;
    card->kind = err->kind;
    snprintf(card->reason, sizeof card->reason, "%s", err->text);
    if (slurm)
        snprintf(card->name, sizeof card->name, "%s", slurm);
    else if (gethostname(card->name, sizeof card->name - 1) != 0)
        *card->name = '\0';
}

/* By its full name, or by what is before the first point. */
static bool is_called(const char *name, const char *host)
{
    const size_t length = strcspn(host, ".");
    return strcmp(name, host) == 0 ||
           (strcspn(name, ".") == length && strncmp(name, host, length) == 0);
}

static int find(const struct host_list *hosts, const char *name)
{
    for (int h = 0; h < hosts->count; h++)
        if (is_called(name, hosts->name[h]))
            return h;
    return -1;
}

/* A process that is on another of the hosts than the one whose turn it is. */
static bool check_places(const struct host_list *hosts, const struct card *cards, int count,
                         struct error *err)
{
    for (int i = 0; i < count; i++) {
        const int host = find(hosts, cards[i].name);
        if (host >= 0 && host != i)
            return error_set(err, ERROR_USAGE,
                             "the launcher has started rank %d on %s rather than %s: list the "
                             "hosts in the launcher's order, one process on each",
                             i, hosts->name[host], hosts->name[i]);
    }
    return true;
}

static bool check_cards(const struct host_list *hosts, const struct card *cards, int count,
                        struct error *err)
{
    for (int i = 0; i < count; i++)
        if (!cards[i].ok)
            return error_set(err, cards[i].kind, "%s: %s", cards[i].name, cards[i].reason);
    if (count != hosts->count)
        return error_set(err, ERROR_USAGE,
                         "the launcher has started %d process%s for %d host%s: it has to start one "
                         "on each",
                         count, count == 1 ? "" : "es", hosts->count, plural(hosts->count));
    return check_places(hosts, cards, count, err);
}

bool order_agree(const struct host_list *hosts, bool ok, struct error *err)
{
    struct card own, *all;
    int count;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    all = calloc((size_t)count, sizeof *all);
    if (!all) {
        error_memory(err, "names of hosts");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        return false;
    }
    fill_card(&own, ok, err);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    ok = check_cards(hosts, all, count, err);
    free(all);
    return ok;
}
