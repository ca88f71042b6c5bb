/* SPDX-License-Identifier: MIT */
#include "store/store_file.h"

#define DIGITS(NUMBER) #NUMBER
#define DECIMAL(MACRO) DIGITS(MACRO)
#define MARK_AS_OURS   "PRAGMA application_id = " DECIMAL(STORE_APPLICATION_ID) ";"

/*
 * One step per version: step i brings a file of version i to version i + 1. Steps are never
 * changed, only added.
 */
static const struct schema_step steps[STORE_VERSION] = {
    {.tables = "CREATE TABLE runs ("
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
               "CREATE INDEX tags_by_tag ON tags (tag);" MARK_AS_OURS "PRAGMA user_version = 1;"},

    /*
     * All that lists are filtered and sorted by, in one index: reading it through takes some 150
     * bytes a run, the table some 2000. (Generated columns would do, but an index of them does not
     * count as covering.)
     */
    {.tables = "ALTER TABLE runs ADD COLUMN epochs_done INTEGER;"
               "ALTER TABLE runs ADD COLUMN best_test_acc REAL;"
               "ALTER TABLE runs ADD COLUMN device_count INTEGER;",
     .runs = "UPDATE runs SET epochs_done = json_extract(object, '$.epochs_done'),"
             "  best_test_acc = json_extract(object, '$.best_test_acc'),"
             "  device_count = json_array_length(object, '$.devices')"
             "  WHERE number >= ? AND number < ? AND json_valid(object)",
     .indexes = "CREATE INDEX runs_listed ON runs (submitted_at, status, model, data, devices,"
                "  batch, lr, note, epochs_done, test_acc, best_test_acc, s_per_epoch,"
                "  samples_per_s, device_count);"
                "PRAGMA user_version = 2;"},
};

const struct schema_step *store_schema_step(int version)
{
    return &steps[version];
}
