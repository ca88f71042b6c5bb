#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls of the engine fail, one in each trial: it goes on or says why not, and loses nothing.

`make check` tries a sample. All calls:  FAULTS_ALL=1; only some kinds:  FAULTS_KINDS=malloc,read;
other samples:  FAULTS_SAMPLE=N of each kind. One trial:  FAULTS_TRIAL=malloc:17:12 (errno).
"""

import errno
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import DEADLINE, Engine, Fault, Home, KINDS, Lost, Page, SHIM, SHORT  # noqa: E402
from engine import is_sanitized, skip  # noqa: E402

ERRORS = {"malloc": (errno.ENOMEM,), "mmap": (errno.ENOMEM,), "thread": (errno.EAGAIN,),
          "open": (errno.EMFILE, errno.EACCES), "read": (errno.EIO,),
          "write": (errno.ENOSPC, errno.EIO), "fsync": (errno.EIO,), "rename": (errno.ENOSPC,),
          "socket": (errno.EMFILE,), "connect": (errno.ECONNREFUSED,), "accept": (errno.EMFILE,),
          "recv": (errno.ECONNRESET,), "send": (errno.EPIPE,), "close": (errno.EIO,),
          "truncate": (errno.EIO,), "unlink": (errno.EACCES,), "mkdir": (errno.ENOSPC,)}
SAMPLE = int(os.environ.get("FAULTS_SAMPLE", "4"))


def chosen(count):
    """Which of so many calls fail: all, or a sample spread evenly with the first and the last."""
    if os.environ.get("FAULTS_ALL") or count <= SAMPLE:
        return range(1, count + 1)
    return sorted({1 + round(i * (count - 1) / (SAMPLE - 1)) for i in range(SAMPLE)})


def again_when_lost(engine, action):
    """A fault may cost a connection; a viewer connects again."""
    for _ in range(3):
        try:
            return action()
        except Lost:
            engine.connect()
    raise Fault(f"the engine closes every connection: {engine.log()}")


def train(engine):
    """A run's end: "done", or how it was refused or failed, in the engine's words."""
    answer = again_when_lost(engine, lambda: engine.ask("submit", **SHORT))
    if "error" in answer:
        return answer["error"]["message"]
    run = answer["result"]["run"]
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        answer = again_when_lost(engine, lambda: engine.ask("show", run=run))
        found = answer.get("result")
        if found and found["status"] in ("done", "failed"):
            return "done" if found["status"] == "done" else str(found["error"])
        time.sleep(0.004)
    raise Fault(f"the run does not end: {found or answer} {engine.log()}")


def is_reason(text):
    return len(text) > 10 and "\n" not in text and "None" not in text


class Trials:
    def __init__(self):
        self.base, self.home = Home(), Home()
        self.page = Page(self.home.root)
        self.outcomes = {"unnoticed": 0, "run failed": 0, "engine ended": 0, "not reached": 0}
        engine = Engine(self.base)
        for _ in range(2):
            engine.wait(engine.submit(**SHORT), ("done",))
        engine.stop()
        self.kept, self.digests = self.base.kept(1), self.base.digests(1)
        assert self.kept[0] and len(self.digests) >= 2

    def remove(self):
        self.page.close()
        self.home.remove()
        self.base.remove()

    def session(self, **more):
        """What an engine's life comes to in which calls may fail."""
        outcome = "unnoticed"
        try:
            engine = Engine(self.home, LD_PRELOAD=SHIM, FAULT_PAGE=self.page.path, **more)
        except Lost:
            raise Fault("the engine ended before it could be looked at") from None
        try:
            result = train(engine)
            if result != "done":
                if not is_reason(result):
                    raise Fault(f"no reason: {result!r}")
                outcome = "run failed"
            # The fault is over, and so must be its effects.
            if self.page.fired() and train(engine) != "done":
                raise Fault(f"the run after the failure failed: {engine.log()}")
        except Lost:
            return "engine ended" if engine.finish() else "unnoticed"
        except Fault:
            engine.kill()
            raise
        engine.stop()
        return outcome

    def check_home(self):
        if self.home.kept(1) != self.kept:
            raise Fault("the store lost some of an earlier run")
        if self.home.digests(1) != self.digests:
            raise Fault("checkpoints of an earlier run have changed")
        if len(self.home.temporary_files()) > 1:
            raise Fault(f"temporary files pile up: {self.home.temporary_files()}")
        engine = Engine(self.home)
        try:
            for run in engine.must("runs"):
                if run["status"] not in ("done", "failed", "interrupted"):
                    raise Fault(f"run {run['run']} is {run['status']} behind the engine's end")
            resumed = engine.submit(resume=1, epochs=3)
            engine.wait(resumed, ("done",))
            engine.wait(engine.submit(**SHORT), ("done",))
        except (Fault, Lost):
            engine.kill()
            raise
        if engine.stop() != 0:
            raise Fault(f"the engine behind it failed: {engine.log()}")

    def count(self):
        self.home.copy_data(self.base)
        self.page.clear()
        self.session()
        return self.page.counts()

    def trial(self, kind, at, error):
        self.home.copy_data(self.base)
        self.page.clear()
        try:
            outcome = self.session(FAULT_CALL=kind, FAULT_AT=at, FAULT_ERRNO=error)
        except Fault as fault:
            if not self.ended_with_reason(fault):
                raise Fault(f"{fault}; callers {self.page.callers()}") from None
            outcome = "engine ended"
        if not self.page.fired():
            outcome = "not reached"
        self.check_home()
        self.outcomes[outcome] += 1

    def ended_with_reason(self, fault):
        """The engine did not begin, and its last line says why."""
        if "before it could be looked at" not in str(fault):
            return False
        with open(os.path.join(self.home.root, "engine.log"), encoding="utf8") as file:
            lines = file.read().splitlines()
        return bool(lines) and lines[-1].startswith("dpartui-engine: ")


def main():
    if is_sanitized():
        skip("sanitizers have an allocator of their own")
    if not os.path.exists(SHIM) or os.path.getsize(SHIM) == 0:
        skip("this compiler cannot build the library that makes calls fail")
    trials = Trials()
    counts = trials.count()
    if not counts["malloc"]:
        skip("libraries cannot be preloaded here")
    one = os.environ.get("FAULTS_TRIAL")
    kinds = os.environ.get("FAULTS_KINDS", ",".join(KINDS)).split(",")
    plan = [(kind, at, error) for kind in kinds for error in ERRORS[kind]
            for at in chosen(counts[kind])]
    if one:
        kind, at, error = one.split(":")
        plan = [(kind, int(at), int(error))]
    print("calls:", ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]))
    bad = 0
    for kind, at, error in plan:
        try:
            trials.trial(kind, at, error)
        except (Fault, Lost) as fault:
            bad += 1
            print(f"FAILED {kind}:{at}:{error} ({errno.errorcode[error]}): {fault}", flush=True)
    trials.remove()
    print(f"{len(plan)} trials:", ", ".join(f"{number} {name}" for name, number
                                            in trials.outcomes.items()), f"{bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
