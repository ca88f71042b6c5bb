/* SPDX-License-Identifier: MIT */
#include "engine/hosts/rank/calls.h"

#include "base/clock.h"
#include "engine/hosts/rank/link_state.h"

/* Of the next part of what a thread waits for; only a broadcast may have several. */
static size_t part_bytes(const struct call *call)
{
    const size_t left = call->bytes - call->done;
    return left < LINK_MOST_BYTES ? left : LINK_MOST_BYTES;
}

static bool begin_call(struct mpi_link *link, struct call *call, struct error *err)
{
    const int bytes = (int)part_bytes(call);
    if (call->kind == CALL_BROADCAST)
        return link_mpi_check(MPI_Ibcast((char *)call->data + call->done, bytes, MPI_BYTE,
                                         call->root, link->calls, &call->request),
                              "broadcast", err);
    return link_mpi_check(MPI_Iallgather(call->own, bytes, MPI_BYTE, call->data, bytes, MPI_BYTE,
                                         link->calls, &call->request),
                          "gather", err);
}

static void end_call(struct mpi_link *link)
{
    link->call.kind = CALL_NONE;
    pthread_cond_broadcast(&link->changed);
}

bool calls_serve(struct mpi_link *link, struct error *err)
{
    struct call *call = &link->call;
    int done = 0;
    if (call->kind == CALL_NONE)
        return true;
    if (call->kind == CALL_SUMS) {
        if (link->sums_done == link->sum_count) {
            link->sum_count = link->sums_done = 0;
            end_call(link);
        }
        return true;
    }
    if (call->request == MPI_REQUEST_NULL && !begin_call(link, call, err))
        return false;
    if (!link_mpi_check(MPI_Test(&call->request, &done, MPI_STATUS_IGNORE), "waiting", err))
        return false;
    if (!done)
        return true;
    call->done += part_bytes(call);
    if (call->done == call->bytes)
        end_call(link);
    return true;
}

static bool begin_sum(struct mpi_link *link, struct sum *sum, struct error *err)
{
    const int count = (int)sum->count;
    const bool sends = !sum->everywhere && link->base.index != 0;
    sum->begun = true;
    if (link->sums_begin == 0)
        link->sums_begin = clock_seconds();
    if (sum->everywhere)
        return link_mpi_check(MPI_Iallreduce(MPI_IN_PLACE, sum->values, count, MPI_FLOAT, MPI_SUM,
                                             link->sums, &sum->request),
                              "all-reduce", err);
    return link_mpi_check(MPI_Ireduce(sends ? sum->values : MPI_IN_PLACE,
                                      sends ? NULL : sum->values, count, MPI_FLOAT, MPI_SUM, 0,
                                      link->sums, &sum->request),
                          "reduce", err);
}

bool calls_serve_sums(struct mpi_link *link, struct error *err)
{
    for (int i = link->sums_done; i < link->sum_count; i++) {
        int done = 0;
        if (!link->sum[i].begun && !begin_sum(link, &link->sum[i], err))
            return false;
        if (!link_mpi_check(MPI_Test(&link->sum[i].request, &done, MPI_STATUS_IGNORE), "waiting",
                            err))
            return false;
        if (done && i == link->sums_done)
            link->sums_done++;
    }
    if (link->sums_begin > 0 && link->sums_done == link->sum_count) {
        link->summed_s += clock_seconds() - link->sums_begin;
        link->sums_begin = 0;
    }
    return true;
}
