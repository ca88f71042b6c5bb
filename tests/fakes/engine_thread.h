/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/open.h"

/*
 * An engine in a thread of the test, in a runtime directory of its own, with the scripted runs of
 * fake_run.c. What fails here fails the running test.
 */
void engine_begin(void); /* fixtures */
void engine_end(void);
/* As engine_begin, on a made-up system: the folder that holds its /proc and /sys. */
void engine_begin_on(const char *system_root);

/* Seconds of the processor that the engine's serving thread has had. */
double engine_processor_seconds(void);

struct client *viewer(void);
/* The result of a request that must work; a new reference. Settings by json_pack's format. */
json_t *ask(struct client *client, const char *method, json_t *params);
/* A request whose result does not matter. */
void tell(struct client *client, const char *method, json_t *params);
/* A request that must fail. */
void refuse(struct client *client, const char *method, json_t *params, enum error_kind kind);
/* The same, with these words in the message. */
void refuse_saying(struct client *client, const char *method, json_t *params, const char *words);
/* A viewer that watches. */
struct client *watcher(void);
/* Parameters of a request about a run; with one more, whose value is stolen. */
json_t *of(long run);
json_t *with(long run, const char *key, json_t *value);
/* Submit a run by words "key=value ..."; its number. */
long submit(struct client *client, const char *settings);
/* The next notification within some seconds: its parameters, a new reference. */
json_t *next_note(struct client *client, const char *method);
/* The next event of this name of this run, skipping others. */
json_t *next_event(struct client *client, long run, const char *name);
/* Wait for the end of a run, with that status. */
void expect_end(struct client *client, long run, const char *status);
/* Wait until the run has this status. */
void wait_status(struct client *client, long run, const char *status);

double number_of(const json_t *object, const char *key);
const char *string_of(const json_t *object, const char *key);

/* The engine's socket without the client's manners. */
int raw_connect(void);
void raw_send(int fd, const void *data, size_t length);
/* The next line as JSON (a new reference); NULL when the engine closed the connection. */
json_t *raw_line(int fd);

/* test_hostile.c, test_flood.c, test_changes.c, history/test_stored_runs.c, test_places.c,
 * test_sensor_states.c, test_free_runs.c */
Suite *hostile_suite(void), *flood_suite(void);
Suite *changes_suite(void), *stored_runs_suite(void);
Suite *places_suite(void), *sensor_states_suite(void), *free_runs_suite(void);
