/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct mpi_link;

/* What the threads of a run have asked a link for, done as far as it can be now. With the lock
 * held, by the thread that calls MPI. */
bool calls_serve(struct mpi_link *link, struct error *err);
bool calls_serve_sums(struct mpi_link *link, struct error *err);
