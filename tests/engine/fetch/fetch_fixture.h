/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/fetch/set.h"
#include "tests/fakes/http_server.h"

/*
 * What the checks of fetching share: a set "things" of two files, long.gz and short.gz, in a
 * mirror folder, a server of that folder, and an empty data directory.
 */
enum { LONG = 300000, SHORT = 1000 };

extern char *root, *mirror;
extern char *home;       /* the data directory */
extern char *address;    /* the server's; NULL until `start` */
extern char *content[2]; /* of the files */
extern struct fetch_set set;
extern struct http_server server;
extern struct fetch_patience patience;
extern struct error err;

/* What the reports said. */
struct seen {
    int count, cancel_at; /* cancel at that report; 0: never */
    char phases[256];     /* each once in a row, by initials: "dvdv" */
    int64_t done;
};
extern struct seen seen;

void fetch_setup(void);
void fetch_teardown(void);

/* Start the server; its rules are set between fetch_setup and this. */
void start(void);

bool fetch(const char *from);
void check_fetched(const char *from);
/* Refused in one line that holds `words`. */
void check_refused(const char *from, const char *words);
/* Both files are in place with the right bytes, and no partial file is. */
void check_installed(void);

/* Write HOME/things/long.gz.part. */
void put_part(const char *data, size_t length);
/* Size of HOME/things/NAME, -1: not there. */
long size_of(const char *name);

/* fetch_report: checks each report and notes it in *context, which is `seen`. */
bool report(void *context, const struct fetch_progress *progress);
