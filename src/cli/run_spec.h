/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/*
 * Make the spec of a command line ready to be sent: --gpus, relative paths made absolute against
 * the working directory (the engine has another one), and a check of it as a whole.
 */
bool run_spec_finish(struct invocation *invocation, struct error *err);

/*
 * The relative paths among model, data, data_dir, init, save and log. Where `remote` is another
 * host they are ERROR_USAGE: they would have to be relative to a folder over there.
 */
bool run_spec_make_absolute(struct spec *spec, const struct remote *remote, struct error *err);

/*
 * A path against the working directory, in a new string that the caller frees; "" and absolute ones
 * are only copied. Of another host: as above.
 */
char *run_spec_absolute_path(const char *path, const struct remote *remote, struct error *err);

/*
 * Take over the options that are preferences, by their names, and --mono; and remember for the
 * settings page which values, also of the spec, came from the command line.
 */
bool run_preferences_take(struct invocation *invocation, struct error *err);
