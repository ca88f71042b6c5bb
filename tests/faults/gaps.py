#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Engines killed in the moment in which a checkpoint appears: no epoch before it is missing.

FAULTS_KILLS=200 kills as often (default 8), FAULTS_SEED=N at other checkpoints.
"""

import ctypes
import json
import os
import random
import select
import sqlite3
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import DEADLINE, Engine, Fault, Home, Lost, run_test  # noqa: E402
from killed import last_checkpoint  # noqa: E402

KILLS = int(os.environ.get("FAULTS_KILLS", "8"))
SEED = int(os.environ.get("FAULTS_SEED", "1"))
EPOCHS, STEPS = 12, 20  # of the run, of an epoch
RUN = {"model": "linear", "data": "random:260x10", "devices": "cpu:0", "cpu_threads": 1, "batch": 12,
       "train_rows": 240, "test_rows": 20, "epochs": EPOCHS, "momentum": 0.9}
MOVED_TO = 0x80  # <sys/inotify.h>
EVENT = struct.Struct("iIII")


def is_weights(name):
    return name.endswith(".safetensors") and ".momentum." not in name


def steps_of(name):
    return int(name[5:13])


class Appearing:
    """Weights of checkpoints as they appear in a folder, by the kernel's word: no file is missed."""

    def __init__(self, folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        libc = ctypes.CDLL(None, use_errno=True)
        self.handle = libc.inotify_init1(os.O_CLOEXEC)
        if self.handle < 0 or libc.inotify_add_watch(self.handle, os.fsencode(folder), MOVED_TO) < 0:
            raise Fault(f"cannot watch {folder}: {os.strerror(ctypes.get_errno())}")

    def wait(self, steps):
        """Until there is one of `steps` steps or more: a fast run leaves some out."""
        end = time.monotonic() + DEADLINE
        while True:
            if not select.select([self.handle], [], [], max(0, end - time.monotonic()))[0]:
                raise Fault(f"no checkpoint in {DEADLINE} s")
            data = os.read(self.handle, 65536)
            at = 0
            while at < len(data):
                length = EVENT.unpack_from(data, at)[3]
                name = data[at + EVENT.size:at + EVENT.size + length].rstrip(b"\0").decode()
                if is_weights(name) and steps_of(name) >= steps:
                    return
                at += EVENT.size + length

    def close(self):
        os.close(self.handle)


def epochs_of(home, run):
    """The epochs that the store has of a run, in their order."""
    store = sqlite3.connect(f"file:{home.store_path()}?mode=ro", uri=True)
    try:
        rows = store.execute("SELECT event FROM events WHERE run = ? AND name = 'epoch'"
                             " ORDER BY number", (run,)).fetchall()
    finally:
        store.close()
    return [json.loads(row[0])["epoch"] for row in rows]


def newest_step(home, run):
    return max(steps_of(name) for name in os.listdir(home.checkpoints(run)) if is_weights(name))


class Gaps:
    def __init__(self):
        self.home, self.moments = Home(), random.Random(SEED)
        self.behind = self.missing = self.other_bits = 0
        self.engine = Engine(self.home)
        self.last = self.engine.submit(**RUN)
        self.engine.wait(self.last, ("done",))
        self.wanted = last_checkpoint(self.home, self.last)

    def trial(self):
        run = self.last = self.last + 1
        appearing = Appearing(self.home.checkpoints(run))
        try:
            if self.engine.submit(**RUN) != run:
                raise Fault(f"the next run is not number {run}")
            appearing.wait(STEPS * self.moments.randint(1, EPOCHS - 1))
        finally:
            self.engine.kill()
            appearing.close()
        before = newest_step(self.home, run) // STEPS
        self.behind += epochs_of(self.home, run)[:before] != list(range(1, before + 1))
        self.engine = Engine(self.home)
        if "error" in self.engine.ask("submit", resume=run):
            self.missing += 1  # the store has not even heard of the run
            return
        self.engine.wait(run, ("done",))
        shown = [epoch["epoch"] for epoch in self.engine.must("show", run=run)["epochs"]]
        self.missing += shown != list(range(1, EPOCHS + 1))
        self.other_bits += last_checkpoint(self.home, run) != self.wanted

    def close(self):
        self.engine.stop()
        self.home.remove()


def main():
    gaps = Gaps()
    try:
        for _ in range(KILLS):
            gaps.trial()
    except (Fault, Lost):
        gaps.engine.kill()
        raise
    gaps.close()
    print(f"seed {SEED}: {KILLS} kills as a checkpoint appeared; {gaps.behind} times the store "
          f"lagged; {gaps.missing} resumed runs lack epochs, {gaps.other_bits} ended with other "
          "weights")
    return 1 if gaps.behind or gaps.missing or gaps.other_bits else 0


if __name__ == "__main__":
    run_test(main)
