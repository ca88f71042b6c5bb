#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls of the engine fail, one in each trial: it survives or says why not, and loses nothing.

Allocations have their own test, allocations.py.

`make check-faults` tries a sample. All calls:  FAULTS_ALL=1; only some kinds:
FAULTS_KINDS=open,read; other samples:  FAULTS_SAMPLE=N of each kind. One trial:
FAULTS_TRIAL=open:17:24 (errno).
"""

import errno
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Fault, KINDS, Lost, skip  # noqa: E402
from trials import Trials, is_reason, need_shim, train  # noqa: E402

ERRORS = {"mmap": (errno.ENOMEM,), "thread": (errno.EAGAIN,),
          "open": (errno.EMFILE, errno.EACCES), "read": (errno.EIO,),
          "write": (errno.ENOSPC, errno.EIO), "fsync": (errno.EIO,), "rename": (errno.ENOSPC,),
          "socket": (errno.EMFILE,), "connect": (errno.ECONNREFUSED,), "accept": (errno.EMFILE,),
          "recv": (errno.ECONNRESET,), "send": (errno.EPIPE,), "close": (errno.EIO,),
          "truncate": (errno.EIO,), "unlink": (errno.EACCES,), "mkdir": (errno.ENOSPC,)}
SAMPLE = int(os.environ.get("FAULTS_SAMPLE", "4"))


def chosen(count):
    """Which of `count` calls fail: all, or a sample spread evenly with the first and the last."""
    if os.environ.get("FAULTS_ALL") or count <= SAMPLE:
        return range(1, count + 1)
    return sorted({1 + round(i * (count - 1) / (SAMPLE - 1)) for i in range(SAMPLE)})


class Calls(Trials):
    """One call of some kind fails."""

    def session(self, **more):
        """What an engine's life comes to in which calls may fail."""
        outcome = "unnoticed"
        engine = self.start(**more)
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

    def count(self):
        self.renew()
        self.session()
        return self.page.counts()

    def trial(self, kind, at, error):
        self.renew()
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


def main():
    need_shim()
    trials = Calls()
    counts = trials.count()
    if not counts["open"]:
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
