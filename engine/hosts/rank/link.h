/* SPDX-License-Identifier: MIT */
#pragma once

#include <mpi.h>
#include <stdatomic.h>

#include "engine/train/hosts/link.h"

/*
 * A host_link by MPI. One thread, the one that has initialised MPI, calls it and nothing else:
 * link_serve. What other threads ask for is left for it.
 *
 * MPI says nothing of a process that is stopped, or of a line that is down, so each host says
 * every moment to the first one that it is there, and the first one to each. Once a host has
 * failed MPI is not called any more (its buffers are the run's): the process ends without it.
 */
struct mpi_link;

/* Before MPI is initialised: how Open MPI sums, unless the environment says it already. */
void link_choose_algorithms(void);

/* `comm` has a process of each host, in their order. */
bool link_open(MPI_Comm comm, const struct host_list *hosts, double limit_s, struct mpi_link **out,
               struct error *err);
struct host_link *link_of(struct mpi_link *link);

/* Do what has to be done now, and rest for as long as that is not urgent. False: a host has failed,
 * and all others have been told as far as that is possible. */
bool link_serve(struct mpi_link *link);

/* End it for this reason. By the thread that serves. */
void link_fail(struct mpi_link *link, const struct error *reason);

/* From any host to the first: somebody wants the run to stop after the running step. Any thread. */
void link_ask_to_stop(struct mpi_link *link);
/* Has one asked for that, as the first host knows? */
bool link_is_asked_to_stop(struct mpi_link *link);
