/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * Where things lie, by the XDG base directory rules. Each result is a new string the caller frees;
 * NULL with *err filled when HOME is needed and unset, or memory ran out.
 */
char *paths_data_home(struct error *err);   /* $XDG_DATA_HOME/dpartui, ~/.local/share/dpartui */
char *paths_config_home(struct error *err); /* $XDG_CONFIG_HOME/dpartui, ~/.config/dpartui */
char *paths_state_home(struct error *err);  /* $XDG_STATE_HOME/dpartui, ~/.local/state/dpartui */
char *paths_cache_home(struct error *err);  /* $XDG_CACHE_HOME/dpartui, ~/.cache/dpartui */

/*
 * The private directory of the engine's socket: $XDG_RUNTIME_DIR/dpartui, or where that is unset
 * or unusable /tmp/dpartui-UID. It is made with mode 0700 when missing; one that is a link, belongs
 * to somebody else or is open to others is refused.
 */
char *paths_runtime_dir(struct error *err);

/*
 * What HOME and the XDG variables say and is ignored, as the XDG rules have it, because it is no
 * absolute path, and which places are used instead: one line, for the caller to free. An empty XDG
 * variable is as good as an unset one. NULL: nothing is ignored, or there is no memory to say so.
 */
char *paths_ignored(void);

/* Is this a model description's path rather than a model's name: holds '/' or ends in ".conf"? */
bool paths_is_model_file(const char *name_or_file);

/*
 * The directories in which models are looked for, in that order; `visit` ends it by returning
 * true. They need not exist.
 */
void paths_visit_models(bool (*visit)(const char *directory, void *context), void *context);

/*
 * Find a model description: a path is taken as it is (paths_is_model_file); otherwise NAME.conf
 * is looked for in $DPARTUI_MODEL_PATH (colon-separated), paths_config_home()/models, the
 * installed $(pkgdatadir)/models, and etc/models next to the running program. The error lists the
 * models that there are, or the directories searched.
 */
char *paths_find_model(const char *name_or_file, struct error *err);

/* Path of the program `name` that stands next to the running one, else `name` for $PATH. */
char *paths_sibling_program(const char *name, struct error *err);

/* Path of a file of ours that stands next to the running program, else in $(pkglibdir). */
char *paths_own_file(const char *name, struct error *err);
