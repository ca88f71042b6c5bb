/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "spec/spec.h"

/* The part of resolve_spec that is about devices: their list, their threads, the number type. */
bool resolve_devices(struct spec *spec, struct error *err);

/* On a host of a run over several, what each decides for itself: the threads of its CPU devices. */
struct host_link;
bool resolve_on_host(struct spec *spec, const struct host_link *link, struct error *err);
