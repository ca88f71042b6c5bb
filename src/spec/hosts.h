/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "spec/device_list.h"

/* The hosts of a run: names as a launcher takes them. */

struct spec;

enum { SPEC_MAX_HOSTS = SPEC_MAX_DEVICES };

struct host_list {
    int count;
    char name[SPEC_MAX_HOSTS][HOST_NAME];
};

/* Letters, digits, '.', '_' and '-', the first no '-': a shell and a launcher leave it as it is. */
bool host_name_is_valid(const char *name, size_t length);

/* "h1,h2": each once. */
bool host_list_parse(const char *text, struct host_list *list, struct error *err);
/* A new string the caller frees, NULL: out of memory. */
char *host_list_text(const struct host_list *list);

/*
 * A hosts file: a host to a line, the first word of it, which may be followed by what launchers
 * read there ("slots=2"); after '#' a remark. A host may be named again.
 */
bool host_list_read(const char *path, struct host_list *list, struct error *err);

/* Is one of the devices named with its host? */
bool device_list_names_hosts(const struct device_list *devices);

/* Is it "mpirun", "srun", "srun:JOB", or a command for the shell with %p in it? NULL: the first. */
bool launcher_check(const char *launcher, struct error *err);

/* Does the run go over hosts? */
bool spec_has_hosts(const struct spec *spec);

/*
 * Those of a spec: as its devices name them, those of one host together, else as `hosts` does. With
 * both, each of the devices has to be on one of `hosts`, and each of those needs a device.
 */
bool spec_hosts(const struct spec *spec, struct host_list *list, struct error *err);

/* Have the devices, which are resolved for one host and named without any, on every one of the
 * spec's hosts; those that are named with their hosts stay. */
bool spec_spread_devices(struct spec *spec, struct error *err);

/*
 * Have a spec that is over hosts go over these ("h3,h4") instead, with the devices that each of its
 * own has. ERROR_USAGE where those differ from host to host; with the same hosts nothing changes.
 */
bool spec_move_to_hosts(struct spec *spec, const char *hosts, struct error *err);
