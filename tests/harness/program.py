# SPDX-License-Identifier: MIT
"""Run the built program from a Python test. Standard library only.

Under `make check` the environment says where things are (tests/environment). By hand, from a build
folder or the source folder:  python3 tests/programs/parity.py
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
SKIP = 77  # automake's exit status of a test that was not run
SHARED = "other programs hold"  # of a GPU's memory: what the engine warns of
ENDED = ("done", "stopped", "cancelled", "failed", "interrupted")  # what a run may end as


class Failure(Exception):
    """The program did something wrong; the text says what."""


class Skipped(Failure):
    """It cannot be done here; the text says why."""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def path():
    """The program `dpartui` of this build, or what DPARTUI_PROGRAM names in its place."""
    if os.environ.get("DPARTUI_PROGRAM"):
        return os.environ["DPARTUI_PROGRAM"]
    for folder in (os.environ.get("top_builddir"), os.getcwd(), os.path.dirname(HERE)):
        if folder and os.access(os.path.join(folder, "dpartui"), os.X_OK):
            return os.path.join(os.path.abspath(folder), "dpartui")
    raise Failure("no program `dpartui` here: build it first, or set top_builddir")


def is_sanitized(file=None):
    """Was the program (or another one) built with sanitizers? They see how it gets to its results,
    not what these are, and take several times as long."""
    with open(file or path(), "rb") as program:
        text = program.read()
    return b"__asan_init" in text or b"__tsan_init" in text


def ask(folder, method, params, patience):
    """The message with which the engine whose socket is in `folder` answers."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(patience)
        line.connect(os.path.join(folder, "engine.sock"))
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        line.sendall(json.dumps(request).encode() + b"\n")
        with line.makefile(encoding="utf8") as answers:
            return next(found for found in map(json.loads, answers) if found.get("id") == 1)


def wait_until(question, patience):
    """Whether the answer was yes within `patience` seconds. A question that takes long, as it starts
    a program, is asked less often: it takes the processor from what is waited for."""
    deadline = time.monotonic() + patience
    while True:
        asked = time.monotonic()
        if question():
            return True
        now = time.monotonic()
        if now >= deadline:
            return False
        time.sleep(max(0.02, now - asked))


def environment():
    """The caller's, with the models of this source where none are named."""
    out = dict(os.environ)
    out.setdefault("DPARTUI_MODEL_PATH", os.path.join(os.path.dirname(HERE), "etc", "models"))
    return out


def train_command(options):
    """`dpartui train --foreground --json` with the options (a dict; True: no value)."""
    command = [path(), "train", "--foreground", "--json"]
    for key, value in options.items():
        command += ["--" + key] if value is True else ["--" + key, str(value)]
    return command


def train(options, seconds=900, within=()):
    """Run it to its end, by a command that starts others where one is given.

    Returns the events by kind: {"run": [...], "step": [...], "epoch": [...], "profile": [...],
    "timeline": [...], "end": [...]}. A warning is a failure, but that a GPU is shared.
    """
    command = [*within, *train_command(options)]
    shown = " ".join(command)
    # A separate session, so that nothing that the program started outlives a timeout.
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=environment(),
                          start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Failure(f"not done after {seconds} s: {shown}") from None
    if within and process.returncode == SKIP:
        raise Skipped(out.strip())
    if process.returncode != 0:
        raise Failure(f"exit status {process.returncode}: {shown}\n{err.strip()}")
    events = {"run": [], "step": [], "epoch": [], "profile": [], "timeline": [], "end": []}
    for line in out.splitlines():
        try:
            event = json.loads(line)
            if event["event"] != "warning" or SHARED not in event["text"]:
                events[event["event"]].append(event)
        except (ValueError, KeyError, TypeError):
            raise Failure(f"not one of the events: {line!r}, from {shown}") from None
    if len(events["end"]) != 1 or events["end"][0].get("status") != "done":
        raise Failure(f"the run did not end as done: {events['end']}, {shown}")
    return events
