/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/hosts/link.h"

/*
 * The hosts of a run as threads of one process. It is stricter than a network: sums are made before
 * anyone waits for them, by whoever begins last, and hosts that call different functions fail the
 * test, as does a host that waits too long.
 */
struct host_threads;

/* For as many hosts as the list has. Their links are theirs until the end of all runs over them. */
struct host_threads *host_threads_create(const struct host_list *hosts);
void host_threads_free(struct host_threads *threads);
struct host_link *host_threads_link(struct host_threads *threads, int host);

/* How often sums have been begun so far, over all hosts. */
long host_threads_sums(struct host_threads *threads);
