/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>

#include "ui/app/link.h"
#include "ui/session/ui.h"

/*
 * Connections to all hosts of the page of hosts, as long as it is on the screen: one to each, which
 * asks nobody for anything, starts no engine and is tried again when it is lost. Nothing here
 * waits.
 */
struct host_lines;

/* `ssh` as of struct remote, borrowed. */
bool host_lines_open(struct host_lines **out, struct ui *ui, const char *ssh, struct error *err);
void host_lines_close(struct host_lines *lines);

/* For poll(): as many descriptors as hosts, at most HOSTS_MOST. Returns how many. */
int host_lines_poll(const struct host_lines *lines, struct pollfd *fds);
/* When host_lines_step wants to be called even if nothing arrives; INFINITY: not. */
double host_lines_deadline(const struct host_lines *lines);
/* Connect, read and close what there is to, now. Returns how much of the page changed. */
enum news host_lines_step(struct host_lines *lines);
