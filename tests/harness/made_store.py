# SPDX-License-Identifier: MIT
"""Run stores with as many runs and events as one likes, for tests and the benchmark.

They are of version 1, whose tables never change any more: the program brings them up to date when
it first opens them. By hand:  python3 tests/harness/made_store.py FILE RUNS EPOCHS [POINTS]
"""

import json
import os
import random
import sqlite3
import sys

BEGIN = 1.7e9  # when the first run was submitted, in seconds since 1970; then one every ten minutes
BATCH = 500    # runs of a transaction

TABLES = """
CREATE TABLE runs (number INTEGER PRIMARY KEY AUTOINCREMENT, status TEXT NOT NULL, model TEXT,
  data TEXT, devices TEXT, batch INTEGER, lr REAL, note TEXT, submitted_at REAL, started_at REAL,
  ended_at REAL, test_acc REAL, s_per_epoch REAL, samples_per_s REAL, object TEXT NOT NULL,
  spec TEXT, environment TEXT);
CREATE INDEX runs_by_status ON runs (status);
CREATE TABLE events (run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  number INTEGER NOT NULL, name TEXT NOT NULL, event TEXT NOT NULL,
  PRIMARY KEY (run, number)) WITHOUT ROWID;
CREATE TABLE points (run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  step INTEGER NOT NULL, steps INTEGER NOT NULL, rows INTEGER NOT NULL, epoch REAL,
  train_loss REAL, train_acc REAL, samples_per_s REAL, lr REAL,
  PRIMARY KEY (run, step)) WITHOUT ROWID;
CREATE TABLE tags (run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
  tag TEXT NOT NULL, PRIMARY KEY (run, tag)) WITHOUT ROWID;
CREATE INDEX tags_by_tag ON tags (tag);
PRAGMA application_id = 1146114644;
PRAGMA user_version = 1;
"""
MODELS = ("smallnet", "lenet", "resnet18", "cifar-cnn")
ENVIRONMENT = json.dumps({
    "host": "tower", "system": "Linux 6.1.0 x86_64", "version": "0.1.0",
    "libraries": ["oneDNN 2.6.3"],
    "devices": [{"device": "cpu:0", "name": "a processor", "uuid": None, "cores": 2,
                 "memory_total": 25276502016, "available": True, "reason": None}]})


def text(value):
    return json.dumps(value, separators=(",", ":"))


def made_spec(model, rate, epochs):
    return {"model": model, "data": "glyphs", "data_dir": None, "devices": "cpu:0",
            "cpu_threads": 2, "batch": 256, "lr": rate, "momentum": 0.0, "weight_decay": 0.0,
            "epochs": epochs, "seed": 1, "split": "chunk", "sync": "allreduce", "sync_bn": False,
            "dtype": "f32", "init": "normal:0.01", "order": "shuffle", "augment": "none",
            "deterministic": False, "train_rows": 2000, "test_rows": 500, "max_steps": 0,
            "checkpoint_every": "1", "save": None, "log": None, "tensorboard": None,
            "profile": False}


def made_object(number, model, rate, epochs, figures):
    return {"run": number, "status": "done", "model": model, "data": "glyphs",
            "devices": ["cpu:0"], "batch": 256, "lr": rate, "epochs": epochs,
            "epochs_done": epochs, "test_acc": figures["test_acc"],
            "best_test_acc": figures["test_acc"], "train_acc": figures["train_acc"],
            "s_per_epoch": 0.198295886500091, "samples_per_s": figures["samples_per_s"],
            "error": None, "split": "chunk", "sync": "allreduce", "seed": 1, "params": 20586,
            "note": f"run number {number}" if number % 3 == 0 else None, "retunes": 0,
            "stop_after_epoch": False, "submitted_at": BEGIN + 600 * number,
            "started_at": BEGIN + 600 * number + 1, "ended_at": BEGIN + 600 * number + 9,
            "tags": [], "warnings": []}


def made_figures(chance, epoch):
    reached = 1 - 0.9 / (1 + 0.3 * epoch)
    return {"train_loss": 2.3 / (1 + epoch) + 0.01 * chance.random(),
            "train_acc": reached - 0.05 * chance.random(),
            "test_loss": 2.4 / (1 + epoch) + 0.01 * chance.random(),
            "test_acc": reached - 0.05 * chance.random(),
            "samples_per_s": 9000 + 1000 * chance.random()}


def made_epoch(number, epoch, figures):
    return {"run": number, "event": "epoch", "epoch": epoch, "step": 8 * epoch, "steps": 8,
            "partial": False, "rows": 2000, "lr": 0.1, **figures, "seconds": 0.214869056999305,
            "wait_s": 0.00155699100287165, "compute_s": 0.213312065996433, "sync_s": 0.0,
            "eval_s": 0.00973654900008114, "sync_bytes": 0.0, "sync_bandwidth": None,
            "sync_bus_bandwidth": None,
            "devices": [{"device": "cpu:0", "rows": 2000,
                         "samples_per_s": figures["samples_per_s"],
                         "compute_s": 0.213312065996433, "sync_s": 0.0,
                         "wait_s": 0.00155699100287165}]}


def made_events(number, spec, chance, epochs):
    yield number, 0, "run", text({"event": "run", "run": number, "params": 20586, "classes": 10,
                                  "steps_per_epoch": 8, "total_steps": 8 * epochs, **spec})
    for epoch in range(1, epochs + 1):
        figures = made_figures(chance, epoch)
        yield number, epoch, "epoch", text(made_epoch(number, epoch, figures))
    yield number, epochs + 1, "end", text({"run": number, "event": "end", "status": "done",
                                           "epochs": epochs, "steps": 8 * epochs})


def made_points(number, epochs, points):
    steps = max(1, 8 * epochs // points) if points else 0
    return ((number, step * steps, steps, 250 * steps, step * steps / 8, 2.3 / (1 + step),
             0.5, 9000.0 + step, 0.1) for step in range(1, points + 1))


def add_run(db, number, epochs, points, chance):
    model, rate = MODELS[number % len(MODELS)], 0.1 / (1 + number % 7)
    spec = made_spec(model, rate, epochs)
    run = made_object(number, model, rate, epochs, made_figures(chance, epochs))
    db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
               (number, "done", model, "glyphs", "cpu:0", 256, rate, run["note"],
                run["submitted_at"], run["started_at"], run["ended_at"], run["test_acc"],
                run["s_per_epoch"], run["samples_per_s"], text(run), text(spec), ENVIRONMENT))
    db.executemany("INSERT INTO events VALUES (?, ?, ?, ?)",
                   made_events(number, spec, chance, epochs))
    db.executemany("INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   made_points(number, epochs, points))
    if number % 10 == 0:
        db.execute("INSERT INTO tags VALUES (?, ?)", (number, f"week-{number % 50}"))


def make(path, runs, epochs, points=0):
    """A store of `runs` runs of `epochs` epochs, the same figures for the same numbers."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
    chance = random.Random(1)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES)
        for first in range(1, runs + 1, BATCH):
            db.execute("BEGIN")
            for number in range(first, min(first + BATCH, runs + 1)):
                add_run(db, number, epochs, points, chance)
            db.execute("COMMIT")
    finally:
        db.close()


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    make(sys.argv[1], *map(int, sys.argv[2:]))
