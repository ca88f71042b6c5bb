/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct mpi_link;

/* What hosts tell each other besides: each one the first, and that one each. By the thread that
 * calls MPI. */

/* What others have said since; false: one has failed. */
bool messages_listen(struct mpi_link *link, struct error *err);
/* Say what is due. */
bool messages_talk(struct mpi_link *link, double now, struct error *err);
/* False: one has been silent for too long. */
bool messages_miss(const struct mpi_link *link, double now, struct error *err);
/* Say that this host ends, and why, to others, who may not listen any more; MPI is left alone from
 * then on. */
void messages_say_farewell(struct mpi_link *link, const struct error *reason);
