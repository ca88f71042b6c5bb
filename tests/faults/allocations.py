#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Allocations of the engine fail, one per trial: it survives or says why not, and loses nothing.

An allocation is told from others by its call stack. The engine is made to do all that it does in
short, in acts; the stacks that come by are noted, and then each fails once, in the act in which it
came by. Most come by whenever an act is played: their trials share engines, one after the other.

`make check-faults` tries a sample of FAULTS_SAMPLE stacks (16). All:  FAULTS_ALL=1; every Nth of
them, from the Ith on:  FAULTS_PART=I/N; one:  FAULTS_TRIAL=STACK.
"""

import os
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import DEADLINE, ENDED, Engine, Fault, Lost, SHORT, skip  # noqa: E402
from trials import Trials, is_reason, need_shim, train  # noqa: E402

SAMPLE = int(os.environ.get("FAULTS_SAMPLE", "16"))
ALL = any(name in os.environ for name in ("FAULTS_ALL", "FAULTS_PART", "FAULTS_TRIAL"))
LIVES = 4 if ALL else 1  # in which stacks are noted: not all come by in each
WHOLE_LIVES = 2 if ALL else 0  # for a stack that did not come by in its trial
TRIALS_PER_ENGINE = 25
LONG = dict(SHORT, epochs=1000000)
NETWORK = {"model": "smallnet", "data": "glyphs", "devices": "cpu:0-1", "cpu_threads": 1,
           "batch": 12, "train_rows": 24, "test_rows": 12, "epochs": 1, "momentum": 0.9,
           "augment": "flip", "lr_schedule": "multistep:0.5:0.3", "warmup": 0.5}


class Player:
    """Plays acts. Strict: everything has to work. Otherwise one thing may fail, with a reason."""

    def __init__(self, engine, strict):
        self.engine, self.strict = engine, strict
        self.refused = False

    def ask(self, method, **params):
        """The result; None: it failed."""
        try:
            answer = self.engine.ask(method, **params)
        except Lost:
            if self.strict:
                raise
            self.engine.connect()
            self.refused = True
            return None
        if "error" not in answer:
            return answer["result"]
        if self.strict or not is_reason(answer["error"]["message"]):
            raise Fault(f"{method}: {answer}")
        self.refused = True
        return None

    def refuse(self, method, **params):
        """What the engine has to refuse."""
        try:
            answer = self.engine.ask(method, **params)
            if "error" not in answer:
                raise Fault(f"{method} {params} was not refused")
        except Lost:
            if self.strict:
                raise
            self.engine.connect()

    def wait(self, run, statuses=ENDED):
        """The status, once it is one of these; None where there is no run to wait for."""
        end = time.monotonic() + DEADLINE
        while run:
            found = self.ask("show", run=run["run"])
            if found and (found["status"] in statuses or found["status"] in ENDED):
                if found["status"] == "failed" and not is_reason(str(found["error"])):
                    raise Fault(f"no reason: {found['error']!r}")
                self.refused |= found["status"] == "failed"
                return found["status"]
            if time.monotonic() > end:
                raise Fault(f"run {run} is {found and found['status']}: {self.engine.log()}")
            time.sleep(0.004)
        return None

    def train(self, **settings):
        run = self.ask("submit", **settings)
        if run:
            self.ask("follow", run=run["run"])
        if self.wait(run, ENDED) != "done" and self.strict:
            raise Fault(f"{settings}: {self.engine.log()}")
        return run

    # The acts. Each may be played again.

    def watch(self):
        self.ask("watch", interval=0.05)
        self.train(**SHORT)

    def look(self):
        for method in ("hello", "status", "devices", "runs", "log"):
            self.ask(method)
        self.ask("check", **SHORT)
        self.ask("model", model="resnet18", devices="cpu:0-1", batch=16)
        self.ask("show", run=1)
        self.ask("weights", run=1)
        self.refuse("nothing")
        self.refuse("show", run=100000)
        self.refuse("submit", model="nothing")
        self.refuse("fetch", dataset="cifar10", **{"from": "file:///nowhere"},
                    data_dir=os.path.join(self.engine.home.root, "nothing"))

    def change(self):
        self.ask("note", run=2, text="once more")
        self.ask("tag", run=2, add=["good", "short"], remove=["bad"])
        self.ask("tag", run=2, add=[], remove=["good", "short"])

    def queue(self):
        long = self.ask("submit", **LONG)
        if not long:
            return
        self.wait(long, ("running",))
        for method, more in (("pause", {}), ("set_lr", {"lr": 0.05}),
                             ("set_epochs", {"epochs": 999999})):
            self.ask(method, run=long["run"], **more)
        first, second = self.ask("submit", **SHORT), self.ask("submit", **SHORT, note="second")
        if first and second:
            self.ask("move", run=second["run"], place=0)
            self.ask("set_lr", run=first["run"], lr=0.2)
            self.ask("set_epochs", run=first["run"], epochs=1)
            self.ask("stop", run=second["run"])
        self.ask("unpause", run=long["run"])
        if self.ask("stop", run=long["run"], when="epoch") is None:
            self.ask("stop", run=long["run"], when="epoch")
        self.wait(long)
        self.wait(first)
        for run in (long, first, second):
            if run:
                self.ask("delete", run=run["run"])

    def go_on(self):
        found = self.ask("show", run=2)
        self.refuse("submit", resume=2, epochs=1)
        if found:
            self.wait(self.ask("submit", resume=2, epochs=found["epochs_done"] + 1))

    def diverge(self):
        run = self.ask("submit", **dict(SHORT, lr=1e6, epochs=50))
        refused = self.refused
        if self.wait(run) == "done" and self.strict:
            raise Fault("a run was to diverge")
        self.refused = refused

    def network(self):
        self.train(**NETWORK)

    def pipeline(self):
        """A network in two stages, whose cut is measured."""
        stages = dict(NETWORK, strategy="pipeline", micro_batches=3, clip_norm=1.0)
        self.ask("model", **{key: stages[key] for key in (
            "model", "data", "devices", "batch", "strategy", "micro_batches")})
        self.train(**stages)

    def tensor(self):
        """A network in slices, within a limit of memory that has to be looked at."""
        slices = dict(NETWORK, strategy="tensor", clip_norm=1.0, memory_limit="1G")
        self.ask("model", **{key: slices[key] for key in (
            "model", "data", "devices", "batch", "strategy")})
        self.train(**slices)
        self.train(**dict(NETWORK, strategy="mixed"))

    def otherwise(self):
        folder = os.path.join(self.engine.home.root, "tmp")
        self.train(**dict(SHORT, sync="central", log=os.path.join(folder, "run.log"),
                          save=os.path.join(folder, "run.safetensors")))
        self.train(**dict(SHORT, sync="reduce-broadcast", split="auto",
                          tensorboard=os.path.join(folder, "board")))


# In the order in which they are noted. The first two are an engine's start: with a store that is
# there, and without; the last is its end.
ACTS = ("begin", "create", "watch", "look", "change", "queue", "go_on", "diverge", "network",
        "pipeline", "tensor", "otherwise", "end")
FIRST, AGAIN = 0, 1


def bit_of(act, time_of_it):
    return 1 << (2 * ACTS.index(act) + time_of_it)


class Allocations(Trials):
    """One allocation fails."""

    bad, unreached = 0, []

    def play(self, engine, act, strict):
        player = Player(engine, strict)
        if act not in ("begin", "create", "end"):
            getattr(player, act)()
        return player

    def live(self, act_of_birth):
        """All acts, twice, by one engine; stacks are noted."""
        self.renew_data(act_of_birth)
        self.page.set_phase(bit_of(act_of_birth, FIRST))
        engine = self.start()
        if act_of_birth == "create":
            for _ in range(2):
                engine.wait(engine.submit(**SHORT), ("done",))
        for time_of_it in (FIRST, AGAIN):
            for act in ACTS[2:-1]:
                self.page.set_phase(bit_of(act, time_of_it))
                self.play(engine, act, True)
        self.page.set_phase(bit_of("end", FIRST))
        if engine.stop() != 0:
            raise Fault(engine.log())

    def renew_data(self, act):
        if act == "create":
            shutil.rmtree(self.home.data, ignore_errors=True)
        else:
            self.home.copy_data(self.base)

    def note_stacks(self):
        """The act to fail in, and whether it is one that may have been played before."""
        self.page.clear()
        for life in range(LIVES):
            self.live("create" if life == 0 else "begin")
        plan = []
        for stack, phases in self.page.stacks().items():
            again = [act for act in ACTS if phases & bit_of(act, AGAIN)]
            first = [act for act in ACTS if phases & bit_of(act, FIRST)]
            plan.append((ACTS.index((again or first)[0]), bool(again), stack))
        return [(ACTS[act], again, stack) for act, again, stack in sorted(plan)]

    def settle(self, engine):
        """After a failure: what runs is stopped, and all works as before."""
        engine.connect()  # what failed may cost the connection, a moment later
        player = Player(engine, True)
        for run in player.ask("runs"):
            if run["status"] not in ENDED:
                engine.ask("stop", run=run["run"], when="now")  # it may just have ended
                player.wait(run)
        if train(engine) != "done":
            raise Fault(f"the run after the failure failed: {engine.log()}")

    def fail(self, engine, act, stack):
        """One act with one failure, in an engine that must continue: the outcome."""
        self.page.set_target(stack)
        try:
            player = self.play(engine, act, False)
            outcome = "run failed" if player.refused else "unnoticed"
            if not self.page.fired():
                outcome = "not reached"
            self.page.set_target(0)
            self.settle(engine)
        except Lost:
            if engine.finish() == 0:
                raise Fault("the engine ended without a failure") from None
            return "engine ended"
        return outcome

    def play_until_fired(self, engine):
        for act in 2 * ACTS[2:-1]:
            if self.page.fired():
                return
            self.play(engine, act, False)

    def trials_of_one(self, plan):
        """Trials in one engine, until it ends: how many of the plan were made."""
        made = 0
        self.renew()
        self.page.set_phase(1 << 62)
        engine = self.start()
        try:
            for act, _, stack in plan:
                made += 1
                outcome = self.fail(engine, act, stack)
                self.take(act, stack, outcome)
                if outcome == "engine ended":
                    self.check_home()
                    return made
                self.check_kept()
            engine.stop()
            self.check_home()
        except (Fault, Lost) as fault:
            engine.kill()
            self.complain(*plan[made - 1][::2], fault)
        return made

    def trial(self, act, stack):
        """A trial that needs its own engine."""
        self.renew()
        self.renew_data(act)
        self.page.set_phase(1 << 62)
        if act in (None, "begin", "create"):
            self.page.set_target(stack)
        engine, outcome = None, "unnoticed"
        try:
            engine = self.start()
            if act is None:
                self.play_until_fired(engine)
                self.settle(engine)
            elif act in ("begin", "create"):
                self.play(engine, "watch", False)  # what only a first run allocates may fail there
                self.settle(engine)
            elif act == "end":
                self.settle(engine)
                self.page.set_target(stack)
            else:
                outcome = self.fail(engine, act, stack)
            if outcome != "engine ended" and engine.stop() != 0:
                outcome = "engine ended"
        except Lost:
            outcome = "engine ended"
            if engine.finish() == 0:
                raise Fault("the engine ended without a failure") from None
        except Fault as fault:
            if engine:
                engine.kill()
            if not self.ended_with_reason(fault):
                raise
            outcome = "engine ended"
        if act in (None, "begin", "create", "end") and not self.page.fired():
            outcome = "not reached"
        if act == "create":
            self.check_new_home()
        else:
            self.check_home()
        self.take(act, stack, outcome)

    def take(self, act, stack, outcome):
        """Count it."""
        self.outcomes[outcome] += 1
        if outcome == "not reached":
            self.unreached.append((act, False, stack))

    def check_new_home(self):
        """As check_home, where nothing had been kept before."""
        engine = Engine(self.home)
        engine.wait(engine.submit(**SHORT), ("done",))
        if engine.stop() != 0 or len(self.home.temporary_files()) > 1:
            raise Fault(f"the engine after it failed: {engine.log()}")

    def complain(self, act, stack, fault):
        self.bad += 1
        words = str(fault)
        words = words if len(words) < 1000 else f"{words[:600]} ... {words[-400:]}"
        print(f"FAILED {act} {stack:x}: {words}; callers {self.page.callers()}", flush=True)

    def run_once(self, plan):
        alone = [one for one in plan if not one[1]]
        shared = [one for one in plan if one[1]]
        while shared:
            del shared[:self.trials_of_one(shared[:TRIALS_PER_ENGINE])]
        for act, _, stack in alone:
            try:
                self.trial(act, stack)
            except (Fault, Lost) as fault:
                self.complain(act, stack, fault)

    def run(self, plan):
        """What did not come by in its act gets further chances in whole lives."""
        self.run_once(plan)
        for _ in range(WHOLE_LIVES):
            left, self.unreached, self.outcomes["not reached"] = self.unreached, [], 0
            for _, _, stack in left:
                try:
                    self.trial(None, stack)
                except (Fault, Lost) as fault:
                    self.complain("life", stack, fault)


def chosen(plan):
    one, part = os.environ.get("FAULTS_TRIAL"), os.environ.get("FAULTS_PART")
    if one:
        return [(act, again, stack) for act, again, stack in plan if stack == int(one, 16)]
    if part:
        first, step = part.split("/")
        return plan[int(first)::int(step)]
    if os.environ.get("FAULTS_ALL") or len(plan) <= SAMPLE:
        return plan
    return [plan[round(i * (len(plan) - 1) / (SAMPLE - 1))] for i in range(SAMPLE)]


def main():
    need_shim()
    trials = Allocations()
    plan = trials.note_stacks()
    if not plan:
        skip("libraries cannot be preloaded here")
    print(f"{len(plan)} stacks:", ", ".join(f"{sum(1 for one in plan if one[0] == act)} {act}"
                                            for act in ACTS), flush=True)
    plan = chosen(plan)
    trials.run(plan)
    trials.remove()
    print(f"{len(plan)} trials:", ", ".join(f"{number} {name}" for name, number
                                            in trials.outcomes.items()), f"{trials.bad} bad")
    return 1 if trials.bad else 0


if __name__ == "__main__":
    sys.exit(main())
