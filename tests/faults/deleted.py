#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Engines killed in the middle of deleting many runs: each run is whole, or gone with its checkpoints.

FAULTS_KILLS=200 kills as often (default 12), FAULTS_SEED=N at other moments.
"""

import json
import os
import random
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import DEADLINE, SHORT, Engine, Fault, Home, run_test  # noqa: E402
import made_store  # noqa: E402

KILLS = int(os.environ.get("FAULTS_KILLS", "12"))
SEED = int(os.environ.get("FAULTS_SEED", "1"))
RUNS = 60
AT_ONCE_S = 0.3  # in which the engine answers all deletions and begins to remove files


def folder_of(home):
    return os.path.dirname(home.checkpoints(1))


def make_home(files):
    """Runs that all have the checkpoints of one that was trained."""
    home = Home()
    made_store.make(home.store_path(), RUNS, 2, 3)
    for run in range(1, RUNS + 1):
        shutil.copytree(files, home.checkpoints(run))
    return home


def delete_all(engine, runs, answers, moment):
    """Ask for all deletions at once, and kill the engine after so many answers and a moment."""
    lines = [{"jsonrpc": "2.0", "id": run, "method": "delete", "params": {"run": run}}
             for run in runs]
    engine.socket.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    for _ in range(answers):
        if b'"result"' not in engine.reader.readline():
            raise Fault("a deletion was refused")
    time.sleep(moment)
    engine.kill()


def settled(home, engine):
    """The runs that the next engine has, once no folder changes any more."""
    runs = {run["run"] for run in engine.must("runs")}
    end = time.monotonic() + DEADLINE
    while True:
        folders = set(os.listdir(folder_of(home)))
        if folders == {str(run) for run in runs}:
            return runs
        if time.monotonic() > end or not any("." in name for name in folders):
            raise Fault(f"runs {sorted(runs)} are kept, and the folders {sorted(folders)}")
        time.sleep(0.01)


def check_whole(home, run, digests):
    if home.digests(run) != digests:
        raise Fault(f"run {run} is kept with {sorted(home.digests(run))}")
    _, events, points, _ = home.kept(run)
    if (len(events), len(points)) != (4, 3):
        raise Fault(f"run {run} is kept with {len(events)} events and {len(points)} points")


def trial(files, digests, moments):
    home = make_home(files)
    engine = Engine(home)
    engine.must("runs")
    delete_all(engine, range(1, RUNS + 1), moments.choice((0, 1, RUNS // 2, RUNS)),
               moments.choice((0, moments.uniform(0, AT_ONCE_S))))
    engine = Engine(home)
    try:
        runs = settled(home, engine)
    except Fault:
        engine.kill()
        raise
    engine.stop()
    for run in runs:
        check_whole(home, run, digests)
    home.remove()
    return len(runs)


def end_orderly(files):
    """An engine that is told to end right after the deletions leaves nothing to the next one."""
    home = make_home(files)
    engine = Engine(home)
    for run in range(1, RUNS + 1):
        engine.must("delete", run=run)
    engine.stop()
    if os.listdir(folder_of(home)):
        raise Fault(f"left by an engine that was not killed: {os.listdir(folder_of(home))}")
    home.remove()


def main():
    trained, moments = Home(), random.Random(SEED)
    engine = Engine(trained)
    run = engine.submit(**SHORT)
    engine.wait(run, ("done",))
    engine.stop()
    digests = trained.digests(run)
    end_orderly(trained.checkpoints(run))
    kept = [trial(trained.checkpoints(run), digests, moments) for _ in range(KILLS)]
    trained.remove()
    print(f"seed {SEED}: {KILLS} kills while {RUNS} runs were deleted; whole afterwards: {kept}")
    return 0


if __name__ == "__main__":
    run_test(main)
