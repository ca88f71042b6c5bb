#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile viewers against an engine that trains: its memory stays bounded, the run is not disturbed.

FAULTS_MEASURE=1 measures how much longer epochs take meanwhile, in turns with quiet times;
FAULTS_ATTACKS=flood,stall: under these only.
"""

import json
import os
import signal
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, Fault, Home, run_test  # noqa: E402

SETTINGS = {"model": "smallnet", "data": "glyphs", "devices": "cpu:0", "cpu_threads": 1,
            "batch": 50, "train_rows": 400, "test_rows": 50}
SECONDS = float(os.environ.get("FAULTS_SECONDS", "0.8"))
# Slices of measured time, and what is left out before each; how many with an attack. What viewers
# have saved up is used up in the first moments of an attack.
SLICE, SETTLING, PAIRS = 1.0, 0.15, 12
HOSTILE_SETTLING = 0.6
# 64 connections with a line and an answer of a megabyte each, twice for what is copied.
MEMORY_LIMIT = 400 << 20
REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"status"}\n'


def flood(connect, end):
    """Requests as fast as they are answered."""
    sock = connect()
    while time.monotonic() < end:
        sock.sendall(REQUEST * 20)
        sock.recv(1 << 16)


def stall(connect, end):
    """Requests whose answers are never read."""
    stalled = [connect() for _ in range(30)]
    for sock in stalled:
        sock.setblocking(False)
    while time.monotonic() < end:
        for sock in stalled:
            try:
                sock.send(REQUEST.replace(b"status", b"devices") + REQUEST * 500)
            except BlockingIOError:
                pass
        time.sleep(0.01)


def send_halves(connect, end):
    """Lines without an end, some of them almost as long as they may be."""
    halves = [connect() for _ in range(30)]
    for i, sock in enumerate(halves):
        sock.sendall(b'{"jsonrpc":"2.0","id":1,' + b" " * (1000000 if i < 20 else 10))
    time.sleep(max(0, end - time.monotonic()))


def send_long_lines(connect, end):
    while time.monotonic() < end:
        sock = connect()
        try:
            sock.sendall(b"x" * 10000000)
        except OSError:
            pass  # it need not read to the end what is too long
        sock.close()


def send_wrong_types(connect, end):
    params = [None, 1, "x", [], {}, {"run": "1"}, {"run": -1}, {"run": 1e300}, {"run": []},
              {"model": 1}, {"lr": "x"}, {"text": {}}, {"interval": -1}, {"limit": "x"}]
    methods = ["status", "devices", "show", "stop", "set_lr", "set_epochs", "pause", "move", "note",
               "tag", "log", "model", "check", "follow", "watch", "delete", "nothing", 5, None]
    lines = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": value}).encode()
             for method in methods for value in params]
    lines += [b"[]", b"5", b"null", b"{", b"\xff\xfe", b'{"id":{}}', b"[" * 5000, b"\0"]
    while time.monotonic() < end:
        sock = connect()
        for line in lines:
            sock.sendall(line + b"\n")
            sock.recv(1 << 16)
        sock.close()


def connect_often(connect, end):
    """500 at once, or as many as the engine's queue of connections takes."""
    held = []
    while time.monotonic() < end:
        if len(held) == 500:
            held.clear()
        try:
            held.append(connect(0.2))
        except OSError:
            time.sleep(0.01)


ATTACKS = (flood, stall, send_halves, send_long_lines, send_wrong_types, connect_often)


def start_attack(engine, attack, seconds):
    """In a separate process, for the time; the process's id."""
    child = os.fork()
    if child:
        return child
    signal.alarm(int(seconds) + 30)

    def connect(patience=5):
        sock = engine.new_socket()
        sock.settimeout(patience)
        return sock

    try:
        if os.cpu_count() > 1:
            os.sched_setaffinity(0, {os.cpu_count() - 1})
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                attack(connect, end)
            except OSError:
                time.sleep(0.01)  # refused or thrown out; once more
    finally:
        os._exit(0)


def epoch_seconds(engine, run):
    """By the epoch's number; the oldest ones are left out of a long answer."""
    return {event["epoch"]: event["seconds"] for event in engine.must("show", run=run)["epochs"]}


def new_viewer(engine):
    """After those of the attack that still wait to be accepted."""
    end = time.monotonic() + 30
    while True:
        try:
            return engine.new_socket()
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def storm(engine, run, attack, seconds):
    """The engine's largest memory meanwhile; that it runs and answers is checked."""
    before = engine.must("show", run=run)["epochs_done"]
    child = start_attack(engine, attack, seconds)
    most = 0
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        most = max(most, engine.memory())
        asked = time.monotonic()
        if engine.must("status")["run"] != run:
            raise Fault(f"{attack.__name__}: the run ended: {engine.log()}")
        if time.monotonic() - asked > 20:
            raise Fault(f"{attack.__name__}: an answer took {time.monotonic() - asked:.1f} s")
        time.sleep(0.05)
    end = time.monotonic() + 30
    while engine.must("show", run=run)["epochs_done"] <= before:
        if time.monotonic() > end:
            raise Fault(f"{attack.__name__}: the run stands still")
        time.sleep(0.02)
    other = new_viewer(engine)
    other.sendall(REQUEST)
    if b'"running":true' not in other.recv(4096):
        raise Fault(f"{attack.__name__}: no answer to a new viewer")
    other.close()
    return most


def check():
    """Correctness and memory under each attack."""
    home = Home()
    engine = Engine(home)
    run = engine.submit(**SETTINGS, epochs=100000)
    engine.wait(run, ("running",))
    while len(epoch_seconds(engine, run)) < 2:
        time.sleep(0.02)
    quiet = engine.memory()
    for attack in ATTACKS:
        most = storm(engine, run, attack, SECONDS)
        print(f"{attack.__name__}: {(most - quiet) >> 20} MiB more", flush=True)
        if most - quiet > MEMORY_LIMIT:
            raise Fault(f"{attack.__name__}: {most} bytes, {quiet} before")
    left = engine.memory()
    engine.must("stop", run=run, when="now")
    engine.wait(run, ("stopped",))
    if engine.stop() != 0:
        raise Fault(engine.log())
    print(f"quiet: {quiet >> 20} MiB, after all: {left >> 20} MiB")
    home.remove()


def ask_for_work(connect, end):
    """Requests that have something computed on separate threads."""
    questions = [("model", {"model": "resnet18", "devices": "cpu:0", "batch": 256}),
                 ("check", SETTINGS), ("devices", {}), ("check", {"model": "nothing"})]
    lines = b"".join(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
                     .encode() + b"\n" for method, params in questions)
    asking = [connect() for _ in range(8)]
    while time.monotonic() < end:
        for sock in asking:
            sock.setblocking(False)
            try:
                sock.send(lines)
                while sock.recv(1 << 16):
                    pass
            except BlockingIOError:
                pass
        time.sleep(0.002)


MEASURED = ATTACKS + (ask_for_work,)


class Meter:
    """What a run does and what it costs, from one reading to the next."""

    def __init__(self, engine, run):
        self.pid = engine.process.pid
        self.socket = engine.new_socket()
        self.socket.sendall(b'{"jsonrpc":"2.0","id":1,"method":"follow","params":'
                            b'{"run":%d,"steps":false}}\n' % run)
        self.socket.setblocking(False)
        self.rest = b""

    def processor(self):
        """Seconds of the processor that the engine has had, with all threads it ever had."""
        return time.clock_gettime((~self.pid << 3) | 2)  # as clock_getcpuclockid(3) has it

    def server(self):
        """The same of the thread that serves viewers; it is the process's first."""
        with open(f"/proc/{self.pid}/task/{self.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9

    def read(self):
        """Seconds of each epoch since the last reading."""
        try:
            while True:
                got = self.socket.recv(1 << 20)
                if not got:
                    raise Lost("the engine ended")
                self.rest += got
        except BlockingIOError:
            pass
        lines, _, self.rest = self.rest.rpartition(b"\n")
        events = [json.loads(line).get("params", {}) for line in lines.split(b"\n") if line]
        return [event["seconds"] for event in events if event.get("event") == "epoch"]

    def measure(self, seconds, settling=SETTLING):
        """
        A slice: an epoch by the clock, an epoch in the engine's seconds of the processor, and the
        part of the time that the serving thread had a core.
        """
        time.sleep(settling)
        self.read()
        begin, had, served = time.monotonic(), self.processor(), self.server()
        time.sleep(seconds)
        spent, served = self.processor() - had, self.server() - served
        served /= time.monotonic() - begin
        epochs = self.read()
        if len(epochs) < 5:
            raise Fault(f"{len(epochs)} epochs in {seconds} s: the machine does other work")
        return statistics.mean(epochs), spent / len(epochs), served


def measure_attack(engine, meter, attack):
    """Slices with and without the attack in turns, each compared with those beside it."""
    before = meter.measure(SLICE)
    clock, processor, served = [], [], []
    for _ in range(PAIRS):
        child = start_attack(engine, attack, HOSTILE_SETTLING + SLICE + SETTLING)
        hostile = meter.measure(SLICE, HOSTILE_SETTLING)
        os.waitpid(child, 0)
        after = meter.measure(SLICE)
        quiet = [(one + other) / 2 for one, other in zip(before, after)]
        clock.append(hostile[0] / quiet[0] - 1)
        processor.append(hostile[1] / quiet[1] - 1)
        served.append(hostile[2])
        before = after
    words = []
    for values in (clock, processor, served):
        low, middle, high = (100 * value for value in statistics.quantiles(values, n=4))
        words.append(f"{middle:+.2f} % ({low:+.2f} to {high:+.2f})")
    print(f"{attack.__name__}: epochs by the clock {words[0]}, in processor time {words[1]}; the "
          f"serving thread had {words[2]} of the core", flush=True)


def measure():
    """
    How much longer epochs take under each attack. The engine has one core, so that whatever it does
    for viewers it takes from the run; the attackers have another.
    """
    names = os.environ.get("FAULTS_ATTACKS", "").split(",")
    home = Home()
    if os.cpu_count() > 1:
        os.sched_setaffinity(0, {0})
    engine = Engine(home)
    try:
        run = engine.submit(**SETTINGS, epochs=1000000)
        engine.wait(run, ("running",))
        meter = Meter(engine, run)
        for attack in MEASURED:
            if names == [""] or attack.__name__ in names:
                measure_attack(engine, meter, attack)
    finally:
        engine.kill()
        home.remove()


if __name__ == "__main__":
    run_test(measure if os.environ.get("FAULTS_MEASURE") else check)
