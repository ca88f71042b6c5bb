/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "engine/train/step/ranks.h"

/*
 * Where the slices of a network meet. On CPU devices what is gathered lies in memory that all
 * share, each writes its channels or rows there, and gradients are read where the others have them.
 * GPUs have a collective (sync/collective.h), or read each other's memory.
 */
struct exchange;

/* Bytes of memory for a value of so many rows, `row` bytes each. */
size_t exchange_value_bytes(size_t rows, size_t row);

/* For ranks that were started. */
bool exchange_create(struct ranks *ranks, struct exchange **out, struct error *err);
void exchange_destroy(struct exchange *exchange);

/* What the plans of a rank are given. The exchange and the rank are borrowed. */
struct device_exchange exchange_of(struct exchange *exchange, struct rank *rank);

/* The rank runs a pass. first: all ranks do, for the first time since plans were made. */
void exchange_begin_pass(struct exchange *exchange, const struct rank *rank, bool first);

/* Bytes of memory for values, in all. Any thread. */
uint64_t exchange_bytes(struct exchange *exchange);
