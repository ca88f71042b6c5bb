# SPDX-License-Identifier: MIT
"""What trials of single failures share: a home with an earlier run, and what holds after each."""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import DEADLINE, Engine, Fault, Home, Lost, Page, SHIM, SHORT  # noqa: E402
from engine import is_sanitized, skip  # noqa: E402


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
    """A home as it was before each trial, `base`, and the one that a trial is made in."""

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

    def renew(self):
        """The home and the page as they are before a trial."""
        self.home.copy_data(self.base)
        self.page.clear()

    def start(self, **more):
        """An engine in which calls may fail."""
        try:
            return Engine(self.home, LD_PRELOAD=SHIM, FAULT_PAGE=self.page.path, **more)
        except Lost:
            raise Fault("the engine ended before it could be looked at") from None

    def ended_with_reason(self, fault):
        """The engine did not begin, and its last line says why."""
        if "before it could be looked at" not in str(fault):
            return False
        with open(os.path.join(self.home.root, "engine.log"), encoding="utf8") as file:
            lines = file.read().splitlines()
        return bool(lines) and lines[-1].startswith("dpartui-engine: ")

    def check_kept(self):
        """The run kept before is there with all that it had."""
        if self.home.kept(1) != self.kept:
            raise Fault("the store lost some of an earlier run")
        if self.home.digests(1) != self.digests:
            raise Fault("checkpoints of an earlier run have changed")
        if len(self.home.temporary_files()) > 1:
            raise Fault(f"temporary files pile up: {self.home.temporary_files()}")

    def check_home(self):
        """The same once the engine has ended, and a later engine continues with it."""
        self.check_kept()
        engine = Engine(self.home)
        try:
            for run in engine.must("runs"):
                if run["status"] not in ("done", "failed", "interrupted", "stopped", "cancelled"):
                    raise Fault(f"run {run['run']} is {run['status']} after the engine's end")
            resumed = engine.submit(resume=1, epochs=3)
            engine.wait(resumed, ("done",))
            engine.wait(engine.submit(**SHORT), ("done",))
        except (Fault, Lost):
            engine.kill()
            raise
        if engine.stop() != 0:
            raise Fault(f"the engine after it failed: {engine.log()}")


def need_shim():
    if is_sanitized():
        skip("sanitizers have their own allocator")
    if not os.path.exists(SHIM) or os.path.getsize(SHIM) == 0:
        skip("this compiler cannot build the library that makes calls fail")
