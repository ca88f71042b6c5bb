/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <jansson.h>

#include "store/list.h"

/* A run store in its own folder, for the tests of one. */

#define must(CALL) ck_assert_msg(CALL, "%s", err.text)

extern char *folder, *path; /* FOLDER/data/runs.db, where nothing is yet */

void store_setup(void);
void store_teardown(void);

/* Opened for writing, without a notice. */
struct store *open_store(void);

/* On two devices, with a note. */
json_t *run_object(long number, const char *status, const char *model, double submitted);
void put_run(struct store *store, long number, const char *status, const char *model,
             double submitted);
void add_event(struct store *store, long run, const char *name, const char *text);

/* The list has these runs, "1 2 3". */
void check_list(struct store *store, const struct store_filter *filter, const char *numbers);
