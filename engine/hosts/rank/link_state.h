/* SPDX-License-Identifier: MIT */
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#include "engine/hosts/rank/link.h"

/* The inside of a link, for the files that serve it: link.c, calls.c and messages.c. */

/* Messages between two hosts. */
enum message { MESSAGE_ALIVE, MESSAGE_CUT, MESSAGE_STOP, MESSAGE_FAILED, MESSAGES };

struct farewell {
    enum error_kind kind;
    char text[sizeof((struct error *)NULL)->text];
};

struct peer {
    double heard;                  /* of it, on clock_seconds */
    MPI_Request request[MESSAGES]; /* to it */
};

/* What a thread waits for. */
enum call_kind { CALL_NONE, CALL_GATHER, CALL_BROADCAST, CALL_SUMS };
struct call {
    enum call_kind kind;
    const void *own;
    void *data;
    size_t bytes, done;
    int root;
    MPI_Request request;
};

/* As many as a step has buckets. */
enum { SUMS = 64 };
struct sum {
    float *values;
    size_t count;
    bool everywhere, begun;
    MPI_Request request;
};

struct mpi_link {
    struct host_link base;
    MPI_Comm calls, sums, messages;
    double limit_s, period_s, beat; /* the newest message that this host is alive */
    struct peer peer[SPEC_MAX_HOSTS];
    struct farewell farewell;

    pthread_mutex_t lock; /* guards the following */
    pthread_cond_t wake, changed;
    struct call call;
    struct sum sum[SUMS];
    int sum_count, sums_done;
    double sums_begin, summed_s; /* since when they are under way; in all, before that */
    struct error failure;        /* kind ERROR_NONE: none */
    bool over;                   /* MPI is not called any more */

    atomic_bool failed, cut_asked, cut, stop_asked, stop;
};

/* One MPI call takes fewer bytes than an int counts. */
static const size_t LINK_MOST_BYTES = 1 << 30;

/* MPI's words where it has failed; false then. */
bool link_mpi_check(int status, const char *what, struct error *err);
/* With the lock held: the first reason counts. */
void link_take_failure(struct mpi_link *link, const struct error *reason);
