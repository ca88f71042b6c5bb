#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Engines killed at random moments: nothing kept is lost, and resumed runs reach the same weights.

FAULTS_KILLS=200 kills as often (default 15), FAULTS_SEED=N at other moments.
"""

import hashlib
import json
import os
import random
import struct
import sys
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, Fault, Home, Lost, run_test  # noqa: E402

KILLS = int(os.environ.get("FAULTS_KILLS", "15"))
SEED = int(os.environ.get("FAULTS_SEED", "1"))
# Long enough to be killed in the middle: a checkpoint with each of many epochs.
LONG = {"model": "linear", "data": "random:400x100", "devices": "cpu:0-1", "cpu_threads": 1,
        "batch": 4, "train_rows": 300, "test_rows": 100, "epochs": 25, "momentum": 0.9}


def last_checkpoint(home, run):
    """The tensors of the newest one's files. Their metadata holds the seconds it took."""
    names = os.listdir(home.checkpoints(run))
    newest = max(name.split(".")[0] for name in names)
    return {name: tensors(os.path.join(home.checkpoints(run), name)) for name in names
            if name.startswith(newest)}


def tensors(path):
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        text, data = file.read(length), file.read()
    header = json.loads(text)
    check_checksums(path, text, header, data)
    del header["__metadata__"]
    return header, hashlib.sha256(data).hexdigest()


def check_checksums(path, text, header, data):
    """As any other reader may check them."""
    sums = {"crc32:" + name: data[slice(*entry["data_offsets"])] for name, entry in header.items()
            if name != "__metadata__"}
    own = header["__metadata__"]["crc32"].encode()
    sums["crc32"] = text.replace(b'"crc32":"' + own, b'"crc32":"00000000', 1)
    for key, covered in sums.items():
        if header["__metadata__"].get(key) != f"{zlib.crc32(covered):08x}":
            raise Fault(f"{path}: {key} is not that of zlib")


def check_interrupted(engine, run, was_known):
    """What an engine finds after a kill. The run is resumed, or begins if it never did."""
    known = {found["run"]: found["status"] for found in engine.must("runs")}
    unfinished = [number for number, status in known.items()
                  if status not in ("done", "failed", "interrupted")]
    if unfinished:
        raise Fault(f"runs {unfinished} are neither ended nor marked as interrupted")
    if run not in known:
        if was_known:
            raise Fault(f"run {run} was kept and is gone")
        return engine.submit(**LONG)
    if known[run] == "done":
        return None
    answer = engine.ask("submit", resume=run)
    if "result" in answer:
        return answer["result"]["run"]
    if "checkpoint" not in answer["error"]["message"]:
        raise Fault(f"it cannot be resumed: {answer}")
    return engine.submit(**LONG)  # it left none yet


class Kills:
    def __init__(self):
        self.home, self.moments = Home(), random.Random(SEED)
        self.done = self.resumed = self.finished = self.at_start = 0
        engine = Engine(self.home)
        start = time.monotonic()
        self.first = engine.submit(**LONG)
        engine.wait(self.first, ("done",))
        self.seconds = time.monotonic() - start
        engine.stop()
        self.wanted = last_checkpoint(self.home, self.first)
        self.kept = self.home.kept(self.first)

    def kill_one(self, run):
        """Resume a run (None: start one) and kill the engine; its number if it can be resumed."""
        wait = self.moments.uniform(0, 0.7 * self.seconds)
        early = self.moments.random() < 0.1
        engine = Engine(self.home)
        try:
            known = run is not None and any(found["run"] == run for found in engine.must("runs"))
            going = check_interrupted(engine, run, known) if run else engine.submit(**LONG)
            self.resumed += going is not None and going == run
            time.sleep(0.02 * wait if early else wait)
        except (Fault, Lost):
            engine.kill()
            raise
        self.at_start += early
        engine.kill()
        self.done += 1
        return going

    def check(self):
        if self.home.kept(self.first) != self.kept:
            raise Fault("the store lost some of an earlier run")
        if last_checkpoint(self.home, self.first) != self.wanted:
            raise Fault("checkpoints of an earlier run have changed")
        if len(self.home.temporary_files()) > 2:  # of the momentum and of the weights
            raise Fault(f"temporary files pile up: {self.home.temporary_files()}")

    def finish(self, run):
        """Let it end without a kill; its last weights and momentum are those of the first run."""
        engine = Engine(self.home)
        going = check_interrupted(engine, run, False)
        if going:
            engine.wait(going, ("done",))
        engine.stop()
        if last_checkpoint(self.home, going or run) != self.wanted:
            raise Fault(f"run {going or run} ended with other bits than the one left in peace")
        if self.home.temporary_files():
            raise Fault(f"temporary files are left: {self.home.temporary_files()}")
        self.finished += 1


def main():
    kills = Kills()
    run, since = None, 0
    while kills.done < KILLS:
        run = kills.kill_one(run)
        since += 1
        kills.check()
        if run is None or since == 4 or kills.done == KILLS:
            if run:
                kills.finish(run)
            run, since = None, 0
    kills.home.remove()
    print(f"seed {SEED}: {kills.done} kills, {kills.at_start} of them right after the start of a "
          f"run; {kills.resumed} resumed; {kills.finished} runs ended with the same "
          "weights and momentum")
    return 0


if __name__ == "__main__":
    run_test(main)
