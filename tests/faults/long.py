#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of very many epochs of one step: all of them are stored, and what a disk does not take for
a while is thinned and said so. The end of a run is never lost.

FAULTS_ALL=1: 100,000 epochs, 15,000 checkpoints that cannot be written, and 200,000 epochs on a
full disk.
"""

import csv
import errno
import io
import json
import os
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import (BUILD, ENDED, Engine, Fault, Home, Page, SHIM, is_sanitized,  # noqa: E402
                    run_test, skip)

ALL = bool(os.environ.get("FAULTS_ALL"))
EPOCHS = 100000 if ALL else 12000  # more than an engine keeps the events of
THINNED = 200000  # more than may wait
FAILURES = 15000 if ALL else 300
FAST = {"model": "linear", "data": "random:8x4", "devices": "cpu:0", "cpu_threads": 1, "batch": 4,
        "train_rows": 4, "test_rows": 4, "checkpoint_every": "off"}
PATIENCE = 300.0
OBJECT_BYTES = 64 << 10


def dpartui(home, *arguments):
    done = subprocess.run([os.path.join(BUILD, "dpartui"), *arguments], env=home.environment(),
                          capture_output=True, text=True, check=False, timeout=PATIENCE)
    if done.returncode != 0:
        raise Fault(f"dpartui {arguments}: {done.stdout[-300:]} {done.stderr}")
    return done.stdout


def state_of(engine, run):
    """As lists have it: `show` of such a run is half a megabyte."""
    return {one["run"]: one for one in engine.must("runs")}[run]


def wait_for_end(engine, run, while_waiting=lambda: None):
    end = time.monotonic() + PATIENCE
    while state_of(engine, run)["status"] not in ENDED:
        if time.monotonic() > end:
            raise Fault(f"run {run} does not end: {engine.log()}")
        while_waiting()
        time.sleep(0.2)
    found = state_of(engine, run)
    if found["status"] != "done":
        raise Fault(f"run {run} is {found}")
    return found


def stored(home, run):
    """How a run stands in the store, and its events."""
    store = sqlite3.connect(f"file:{home.store_path()}?mode=ro", uri=True)
    try:
        status, text = store.execute("SELECT status, object FROM runs WHERE number = ?",
                                     (run,)).fetchone()
        events = [json.loads(one) for one, in store.execute(
            "SELECT event FROM events WHERE run = ? ORDER BY number", (run,))]
    finally:
        store.close()
    if len(text) > OBJECT_BYTES:
        raise Fault(f"the object of run {run} takes {len(text)} bytes")
    return status, json.loads(text), events


def check_curve(epochs, all_epochs, where):
    """First, last, best, and even: no gap is wider than it has to be by a power of two."""
    numbers = [one["epoch"] for one in epochs]
    if numbers[0] != 1 or numbers[-1] != all_epochs or numbers != sorted(set(numbers)):
        raise Fault(f"{where}: {len(numbers)} epochs from {numbers[0]} to {numbers[-1]}")
    gaps = [b - a for a, b in zip(numbers, numbers[1:])]
    if max(gaps) > 4 * all_epochs / len(numbers):
        raise Fault(f"{where}: {len(numbers)} epochs of {all_epochs} with a gap of {max(gaps)}")
    return len(numbers)


def check_best(epochs, run, where):
    if max(one["test_acc"] for one in epochs) != run["best_test_acc"]:
        raise Fault(f"{where}: the best epoch ({run['best_test_acc']}) is missing")


def check_answer(engine, run):
    """How many epochs of a long run `show` answers; it says so, and they make a curve."""
    shown = engine.must("show", run=run)
    kept = check_curve(shown["epochs"], shown["epochs_done"], "the engine's answer")
    check_best(shown["epochs"], shown, "the engine's answer")
    if shown["thinned"] != {"kept": kept, "of": shown["epochs_done"]}:
        raise Fault(f"the engine's answer says {shown['thinned']} of {kept} epochs")
    return kept


def check_stored_end(home, run):
    status, _, events = stored(home, run)
    ends = [event for event in events if event["event"] == "end"]
    if status != "done" or len(ends) != 1 or ends[0]["status"] != "done":
        raise Fault(f"run {run} is {status} in the store, with the ends {ends}")
    later = Engine(home)
    found = state_of(later, run)["status"]
    check_answer(later, run)
    later.stop()
    if found != "done" or "interrupted" in later.log():
        raise Fault(f"run {run} is {found} to the next engine: {later.log()}")
    return [event for event in events if event["event"] == "epoch"]


def check_all_stored(home, run, count, log):
    epochs = check_stored_end(home, run)
    if [one["epoch"] for one in epochs] != list(range(1, count + 1)):
        raise Fault(f"{len(epochs)} epochs of {count} are in the store: {log}")


def try_fast_run():
    home = Home()
    engine = Engine(home)
    begun = time.monotonic()
    run = engine.submit(**dict(FAST, epochs=EPOCHS, checkpoint_every=str(EPOCHS)))
    wait_for_end(engine, run)
    lasted = time.monotonic() - begun
    kept = check_answer(engine, run)
    engine.stop()
    check_all_stored(home, run, EPOCHS, engine.log())
    shown = json.loads(dpartui(home, "show", "--json", str(run)))
    if len(shown["epochs"]) != EPOCHS or "thinned" in shown:
        raise Fault(f"show has {len(shown['epochs'])} epochs and {shown.get('thinned')}")
    engine = Engine(home)
    engine.submit(resume=run, epochs=EPOCHS + 10)
    wait_for_end(engine, run)
    engine.stop()
    check_all_stored(home, run, EPOCHS + 10, engine.log())
    home.remove()
    print(f"fast run: {EPOCHS} epochs in {lasted:.1f} s, all stored; {kept} of them in a response")


def try_thinning(page):
    """The disk takes nothing while it trains, and everything afterwards."""
    home = Home()
    engine = Engine(home, LD_PRELOAD=SHIM, FAULT_PAGE=page.path, FAULT_CALL="write",
                    FAULT_AT="all", FAULT_ERRNO=errno.ENOSPC, FAULT_PATH=home.data)
    other = engine.submit(epochs=2, **FAST)
    wait_for_end(engine, other)
    page.set_active(1)
    run = engine.submit(epochs=THINNED, **FAST)

    def list_runs():
        listed = [one["run"] for one in json.loads(dpartui(home, "runs", "--json"))]
        if listed != [other, run]:
            raise Fault(f"runs answers {listed} while the disk is full")

    found = wait_for_end(engine, run, list_runs)
    if engine.log().count("runs continue and are stored") != 1:
        raise Fault(f"the full disk is not told of once: {engine.log()}")
    page.set_active(0)
    begun = time.monotonic()
    while "runs are kept again" not in engine.log():
        list_runs()
        if time.monotonic() - begun > PATIENCE:
            raise Fault(f"the store does not catch up: {engine.log()}")
    lasted = time.monotonic() - begun
    engine.stop()
    log = engine.log()
    epochs = check_stored_end(home, run)
    kept = check_curve(epochs, THINNED, "the store")
    check_best(epochs, found, "the store")
    if kept == THINNED or "epochs are left out" not in log:
        raise Fault(f"nothing was thinned: {kept} of {THINNED} epochs, {log}")
    shown = json.loads(dpartui(home, "show", "--json", str(run)))
    exported = json.loads(dpartui(home, "export", "--json", str(run)))[0]
    for what in shown, exported:
        if what.get("thinned") != {"kept": kept, "of": THINNED}:
            raise Fault(f"thinned is {what.get('thinned')}, not {kept} of {THINNED}")
    if f"thinned: {kept} of {THINNED} epochs" not in dpartui(home, "show", str(run)):
        raise Fault("show does not say that the run is thinned")
    lines = list(csv.DictReader(io.StringIO(dpartui(home, "export", "--csv", str(run)))))
    if sum(int(line["left_out"]) for line in lines) != THINNED - kept or len(lines) != kept:
        raise Fault(f"the table has {len(lines)} lines and does not say what is left out")
    home.remove()
    print(f"full disk: {kept} of {THINNED} epochs stored, {lasted:.1f} s after there was space")


def try_checkpoints(page):
    """Not one checkpoint can be written."""
    home = Home()
    folder = os.path.join(home.data, "dpartui", "checkpoints")
    engine = Engine(home, LD_PRELOAD=SHIM, FAULT_PAGE=page.path, FAULT_CALL="write",
                    FAULT_AT="all", FAULT_ERRNO=errno.ENOSPC, FAULT_PATH=folder)
    page.set_active(1)
    run = engine.submit(**dict(FAST, epochs=10 ** 6, checkpoint_every="1"))
    end = time.monotonic() + PATIENCE
    while page.fired() < FAILURES:
        if time.monotonic() > end:
            raise Fault(f"{page.fired()} checkpoints failed in {PATIENCE} s: {engine.log()}")
        time.sleep(0.1)
    engine.must("stop", run=run)
    engine.wait(run, ("stopped",))
    page.set_active(0)
    engine.stop()
    _, found, events = stored(home, run)
    about = [event for event in events if event.get("about") == "checkpoint"]
    last = about[-1]
    if not FAILURES / 2 <= last["count"] or not 0 < last["first"] < last["last"]:
        raise Fault(f"{page.fired()} failures are told of as {last}")
    if found["warnings"] != [last["text"]] or f"({last['count']} times from " not in last["text"]:
        raise Fault(f"the warnings are {found['warnings'][:3]}, the last event {last}")
    if len(about) > 12:
        raise Fault(f"{len(about)} events about one failure")
    if last["text"] not in dpartui(home, "show", str(run)):
        raise Fault("show lacks the warning")
    home.remove()
    print(f"checkpoints: {last['count']} failures are one warning in {len(about)} events")


def main():
    try_fast_run()
    if is_sanitized() or not os.path.exists(SHIM) or os.path.getsize(SHIM) == 0:
        skip("no library that makes calls fail; the fast run alone was tried")
    for attempt in (try_thinning, try_checkpoints) if ALL else (try_checkpoints,):
        folder = Home()
        page = Page(folder.root)
        attempt(page)
        page.close()
        folder.remove()
    return 0


if __name__ == "__main__":
    run_test(main)
