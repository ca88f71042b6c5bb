/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "client/client.h"
#include "runs/view.h"
#include "store/list.h"

/*
 * Runs as commands see them: those of the running engine, which has their newest numbers, and
 * the others that the store keeps. No engine is started for it.
 */
struct run_source {
    struct client *client; /* NULL: no engine runs, or it is `silent` */
    bool silent;           /* it does not answer: the store does in its place */
    bool quiet;            /* and that is not said */
    bool live;             /* its answers are needed: no store can replace them */
    struct store *store;   /* NULL: nothing was kept yet, or `unread` */
    double seconds;        /* for the engine to answer */
    struct error unread;   /* why the store cannot be read, while an engine answers */
};

/* How long the engine may take for an answer before the store gives it. */
#define RUN_SOURCE_SECONDS 2.0

/*
 * False: neither can be asked, and that is not because there is nothing. Once an engine has not
 * answered within RUN_SOURCE_SECONDS a line on stderr says so, and all comes from the store;
 * without a store that is ERROR_SILENT.
 */
bool run_source_open(struct run_source *source, struct error *err);
/* For those who need an engine: it must run, and has SESSION_SECONDS for each answer. */
bool run_source_open_live(struct run_source *source, struct error *err);
/*
 * For those who would rather go without: an engine that does not answer within `seconds` is as good
 * as none, and so is a store that cannot be read or would have to be brought up to date first.
 */
void run_source_open_quickly(struct run_source *source, double seconds);
void run_source_close(struct run_source *source);

/*
 * The run objects of docs/protocol.md that suit the filter, in its order; the caller releases them.
 * What the store keeps is looked up there, so that the time taken does not grow with all runs ever
 * made. The filter's `without` and `interrupted` are the source's own.
 */
bool run_source_list(struct run_source *source, const struct store_filter *filter, json_t **runs,
                     struct error *err);
/* On stderr, after a list: what of the store is not in it, or what the engine says is wrong. */
void run_source_complain(struct run_source *source);
/* Is there any run at all? */
bool run_source_any(struct run_source *source, bool *any, struct error *err);

/*
 * One run with all that is known of it; what the engine had to leave out is filled in. The caller
 * releases it, before the source. ERROR_ABSENT: there is no such run.
 */
bool run_source_view(struct run_source *source, long number, struct run_view *view,
                     struct error *err);
/* The same as one object with its "epochs" and "points", the caller's. */
bool run_source_show(struct run_source *source, long number, json_t **run, struct error *err);
