# SPDX-License-Identifier: MIT
"""The workbench as a terminal program, compared with htop and btop where this machine has them.

Every function measures all viewers in the same moments: each is started by itself, so that its
first frame is timed alone, and then all are watched, pressed or stopped together.
"""

import contextlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import measure  # noqa: F401  (puts tests/harness on the path)
import program
import ptymeter
from fake_engine import FakeEngine

SIZES = ((80, 24), (200, 50))
WARM = 2.0
BLOCKED = 10.0
STALLED = 2.0
DOWN, UP, ESCAPE = b"\x1bOB", b"\x1bOA", b"\x1b"
ESCAPE_PAUSE = 0.05  # else an escape and the next key look like an arrow

# Each of these keys changes what the screen shows, whatever the engine does.
KEYS = {
    "dashboard": [b"\t", b"\t", b"\t", b"\t", b"2", b"3", b"1", b":", ESCAPE, b"?", ESCAPE],
    "runs": [b"R", b"?", ESCAPE, b":", ESCAPE, b"D"],
    "compare": [b"C", b"?", ESCAPE, b":", ESCAPE, b"D"],
    "log": [b"L", b"?", ESCAPE, b":", ESCAPE, b"D"],
    "settings": [b"S", b"?", ESCAPE, b":", ESCAPE, b"D"],
}
# Line up and down, help and back.
OTHERS_KEYS = {"htop": [DOWN, DOWN, UP, b"h", b" ", DOWN],
               "btop": [DOWN, DOWN, UP, b"h", ESCAPE, DOWN]}


def version(name):
    done = subprocess.run([name, "--version"], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60)
    return f"{name} {re.search('[0-9][0-9.]*', done.stdout).group()}"


class Home:
    """A separate home for all viewers and the engine, with nothing configured."""

    def __init__(self, data):
        self.data = data
        self.folder = tempfile.TemporaryDirectory(prefix="dpb.")  # short: a socket lies in it
        home = self.folder.name
        run = os.path.join(home, "run")
        os.mkdir(run, 0o700)
        self.environment = dict(
            program.environment(), HOME=home, XDG_RUNTIME_DIR=run, XDG_DATA_HOME=home + "/data",
            XDG_CONFIG_HOME=home + "/config", XDG_STATE_HOME=home + "/state",
            TERM="xterm-256color", LC_ALL="C.UTF-8")
        self.others = [name for name in ("htop", "btop") if shutil.which(name)]

    def __enter__(self):
        self.command("engine", "start")
        return self

    def __exit__(self, *_):
        subprocess.run([program.path(), "engine", "stop", "--now"], env=self.environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        self.folder.cleanup()

    def command(self, *arguments):
        done = subprocess.run([program.path(), *arguments], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120, check=False)
        if done.returncode:
            raise program.Failure(f"dpartui {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def engine_pid(self):
        return json.loads(self.command("engine", "status", "--json"))["pid"]

    @contextlib.contextmanager
    def training(self, devices):
        """A run on `devices` CPU devices that outlasts any measurement; it trains already."""
        options = {**self.data, "model": "smallnet", "devices": f"cpu:0-{devices - 1}",
                   "cpu-threads": 1, "epochs": 1000, "test-rows": 1000, "train-rows": 10000}
        words = [word for key, value in options.items() for word in ("--" + key, str(value))]
        self.command("train", "--detach", *words)
        end = time.monotonic() + 60
        while (last := self.runs()[-1]).get("epochs_done", 0) < 1:
            if time.monotonic() > end:
                raise program.Failure("the run of the workbench has not trained an epoch "
                                      "within 60 s")
            time.sleep(0.2)
        try:
            yield
        finally:
            self.command("stop", "--now", str(last["run"]))

    def runs(self):
        return json.loads(self.command("runs", "--json"))

    @contextlib.contextmanager
    def viewers(self, sizes=SIZES, names=None, first=0, environment=None):
        """{(name, size): (viewer, its first frame)}, started one after the other."""
        started = {}
        names = ["dpartui"] + self.others if names is None else names
        wanted = [(name, size) for name in names for size in sizes]
        first %= len(wanted)
        try:
            for name, size in wanted[first:] + wanted[:first]:
                command = [program.path() if name == "dpartui" else name]
                viewer = ptymeter.Viewer(command, *size, environment or self.environment)
                started[name, size] = (viewer, {})
                started[name, size] = (viewer, viewer.first_frame())
            yield started
        finally:
            for viewer, _ in started.values():
                viewer.leave()


def costs(home, seconds, turn, names=None, environment=None):
    """{(name, size): figures} of one window with all of them."""
    with home.viewers(names=names, first=turn, environment=environment) as started:
        viewers = [viewer for viewer, _ in started.values()]
        ptymeter.take(viewers, WARM)
        figures = ptymeter.watch(viewers, seconds)
    return {key: {**frame, **found}
            for (key, (_, frame)), found in zip(started.items(), figures)}


def play(folder, gpus):
    """Train on GPUs that are not there, for ever: a state each second, an epoch every twelve."""
    engine = FakeEngine(folder, cpus=0, gpus=gpus)
    engine.submit({"devices": f"cuda:0-{gpus - 1}", "batch": 512, "lr": 0.2, "epochs": 1000})
    engine.begin()
    while True:
        for _ in range(11):
            engine.step(20)
            time.sleep(1)
        engine.epoch()
        time.sleep(1)


@contextlib.contextmanager
def made_up_gpus(home, count):
    """The environment of viewers that look at the tests' engine, which makes its figures up."""
    with tempfile.TemporaryDirectory(prefix="dpb.") as folder:
        engine = multiprocessing.Process(target=play, args=(folder, count), daemon=True)
        engine.start()
        try:
            end = time.monotonic() + 20
            while not os.path.exists(os.path.join(folder, "dpartui", "engine.sock")):
                if not engine.is_alive() or time.monotonic() > end:
                    raise program.Failure("tests/harness/fake_engine.py does not listen")
                time.sleep(0.05)
            yield dict(home.environment, XDG_RUNTIME_DIR=folder)
        finally:
            engine.terminate()
            engine.join()


def press_all(viewer, keys):
    times = []
    for key in keys:
        times.append(viewer.press(key))
        if key == ESCAPE:
            time.sleep(ESCAPE_PAUSE)
    return times


@contextlib.contextmanager
def stalled(pid):
    os.kill(pid, signal.SIGSTOP)
    begin = time.monotonic()
    try:
        yield
        time.sleep(max(0.0, STALLED - (time.monotonic() - begin)))
    finally:
        os.kill(pid, signal.SIGCONT)


def key_times(home):
    """{what: [milliseconds or None of each key]}."""
    out = {}
    pid = home.engine_pid()
    with home.viewers(sizes=SIZES[:1]) as started:
        everyone = [viewer for viewer, _ in started.values()]
        for (name, _), (viewer, _) in started.items():
            if name != "dpartui":
                out[name] = press_all(viewer, OTHERS_KEYS[name])
                continue
            for view, keys in KEYS.items():
                out["dpartui", "while training"] = (out.get(("dpartui", "while training"), []) +
                                                    press_all(viewer, keys))
                with stalled(pid):
                    out[f"dpartui, {view}", "engine stalled"] = press_all(viewer, keys)
                ptymeter.take(everyone, 0.2)
    return out


def after_block(home):
    """{(name, how): bytes that came when the terminal accepted output after BLOCKED seconds}."""
    out = {}
    with home.viewers(sizes=SIZES[:1]) as stopped, home.viewers(sizes=SIZES[:1]) as unread:
        everyone = [viewer for viewer, _ in [*stopped.values(), *unread.values()]]
        ptymeter.take(everyone, WARM)
        for viewer, _ in stopped.values():
            viewer.stop_output(True)
            viewer.read_burst()
        time.sleep(BLOCKED)
        for (name, _), (viewer, _) in unread.items():
            out[name, "not read"] = viewer.read_burst()
        for (name, _), (viewer, _) in stopped.items():
            viewer.stop_output(False)
            out[name, "stopped"] = viewer.read_burst()
    return out
