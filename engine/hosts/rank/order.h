/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/hosts.h"

/*
 * Is there a process on each of the hosts, in their order, and is all well with each (`ok`, else
 * why not in *err)? Called by all: it is true for all of them or for none. A host's name is what
 * Slurm calls it, or what it calls itself; where a launcher has names of its own (addresses, say),
 * its order has to be that of the hosts.
 */
bool order_agree(const struct host_list *hosts, bool ok, struct error *err);
