/* SPDX-License-Identifier: MIT */
#include "engine/store/store_file.h"

/*
 * One step per version: step i brings a file of version i to version i + 1. Steps are never
 * changed, only added. "DPRT" as the application's number marks the file as ours.
 */
static const char *const steps[STORE_VERSION] = {
    "CREATE TABLE runs ("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT," /* never given twice */
    "  status TEXT NOT NULL,"
    "  model TEXT, data TEXT, devices TEXT, batch INTEGER, lr REAL, note TEXT,"
    "  submitted_at REAL, started_at REAL, ended_at REAL,"
    "  test_acc REAL, s_per_epoch REAL, samples_per_s REAL,"
    "  object TEXT NOT NULL," /* the run object */
    "  spec TEXT, environment TEXT);"
    "CREATE INDEX runs_by_status ON runs (status);"
    "CREATE TABLE events ("
    "  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,"
    "  number INTEGER NOT NULL," /* counts within the run, from 0 */
    "  name TEXT NOT NULL, event TEXT NOT NULL,"
    "  PRIMARY KEY (run, number)) WITHOUT ROWID;"
    "CREATE TABLE points ("
    "  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,"
    "  step INTEGER NOT NULL, steps INTEGER NOT NULL, rows INTEGER NOT NULL, epoch REAL,"
    "  train_loss REAL, train_acc REAL, samples_per_s REAL, lr REAL,"
    "  PRIMARY KEY (run, step)) WITHOUT ROWID;"
    "CREATE TABLE tags ("
    "  run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,"
    "  tag TEXT NOT NULL,"
    "  PRIMARY KEY (run, tag)) WITHOUT ROWID;"
    "CREATE INDEX tags_by_tag ON tags (tag);"
    "PRAGMA application_id = 1146114644;"
    "PRAGMA user_version = 1;",
};

bool store_migrate(struct store *store, int version, struct error *err)
{
    for (; version < STORE_VERSION; version++) {
        if (!store_begin(store, err))
            return false;
        if (!store_exec(store, steps[version], "make its tables", err) ||
            !store_commit(store, err)) {
            store_rollback(store);
            return false;
        }
    }
    return true;
}
