#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure full-screen programs on pseudo terminals. Standard library only, Linux.

    ptymeter.py [--size 80x24] [--warm 3] [--seconds 10] COMMAND [ARGUMENT...]

The first frame is what came before the first silence of 80 ms, once 200 bytes were there; its time
runs from the fork to its last byte. After `warm` seconds a window of `seconds` is counted: bytes
and updates (bursts 30 ms apart) to the terminal, and CPU time of the program (its own, without its
children). Memory is its resident set at the end. The program is then asked to leave by SIGTERM.
"""

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

FRAME_BYTES = 200
SILENCE = 0.08
BURST = 0.03
PATIENCE = 5.0  # seconds for a first frame, and to leave
KEY_PATIENCE = 1.0
OPEN_OTHER_END = 0x5441  # TIOCGPTPEER of <asm-generic/ioctls.h>


class Viewer:
    """A program on its own pseudo terminal. `events` are (seconds since the fork, bytes)."""

    def __init__(self, command, columns=80, rows=24, environment=None):
        self.name = command[0]
        self.events = []
        environment = dict(os.environ if environment is None else environment)
        environment.setdefault("TERM", "xterm-256color")
        self.begin = time.monotonic()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                # The size is there before the program looks.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.execvpe(command[0], command, environment)
            finally:
                os._exit(127)

    def now(self):
        return time.monotonic() - self.begin

    def read(self, seconds=0.0):
        """Take what comes within `seconds`; how many bytes."""
        if not select.select([self.terminal], [], [], max(0.0, seconds))[0]:
            return 0
        try:
            size = len(os.read(self.terminal, 65536))
        except OSError:
            size = 0
        if not size:
            status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            self.pid = 0
            raise RuntimeError(f"{self.name} ended after {self.now():.2f} s with status {status}")
        self.events.append((self.now(), size))
        return size

    def read_burst(self, silence=SILENCE):
        """Take what comes until nothing does for `silence`; how many bytes."""
        total = 0
        while True:
            size = self.read(silence)
            if not size:
                return total
            total += size

    def first_frame(self):
        """Wait for it: {"first_byte_ms", "first_frame_ms", "first_frame_bytes"}."""
        count = 0
        while count < FRAME_BYTES:
            if self.now() > PATIENCE:
                raise RuntimeError(f"{self.name} draws nothing within {PATIENCE:g} s")
            count += self.read_burst()
        return {"first_byte_ms": self.events[0][0] * 1e3,
                "first_frame_ms": self.events[-1][0] * 1e3, "first_frame_bytes": count}

    def cpu_seconds(self):
        """Of all threads, from the scheduler's nanoseconds; clock ticks would be too coarse."""
        tasks = f"/proc/{self.pid}/task"
        total = 0
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        return total / 1e9

    def resident_kib(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        return None

    def press(self, key):
        """Milliseconds from the key to the last byte of what it changed, None: nothing came."""
        while self.read_burst(2 * BURST):
            pass  # what comes then is not the key's
        os.write(self.terminal, key)
        pressed = self.now()
        if not self.read(KEY_PATIENCE):
            return None
        self.read_burst(BURST)
        return (self.events[-1][0] - pressed) * 1e3

    def stop_output(self, stop):
        """Stop the terminal as Ctrl-S does, or start it again."""
        other_end = fcntl.ioctl(self.terminal, OPEN_OTHER_END, os.O_RDWR | os.O_NOCTTY)
        try:
            termios.tcflow(other_end, termios.TCOOFF if stop else termios.TCOON)
        finally:
            os.close(other_end)

    def leave(self):
        """The program's exit status after SIGTERM; killed when it does not go. Call it once."""
        try:
            return self._leave() if self.pid else None
        finally:
            os.close(self.terminal)

    def _leave(self):
        os.kill(self.pid, signal.SIGTERM)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.02)[0]:
                try:
                    os.read(self.terminal, 65536)  # one that waits for its terminal cannot leave
                except OSError:
                    pass
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def take(viewers, seconds):
    """Read all of them for so long."""
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return
        ready = select.select([viewer.terminal for viewer in viewers], [], [], left)[0]
        for viewer in viewers:
            if viewer.terminal in ready:
                viewer.read()


def watch(viewers, seconds):
    """What each of them does in the same window of time; a list of dicts."""
    begun = [(viewer.now(), viewer.cpu_seconds()) for viewer in viewers]
    take(viewers, seconds)
    results = []
    for viewer, (begin, cpu) in zip(viewers, begun):
        took = viewer.now() - begin
        inside = [event for event in viewer.events if event[0] >= begin]
        bursts = sum(1 for i, (at, _) in enumerate(inside)
                     if i == 0 or at - inside[i - 1][0] > BURST)
        results.append({"bytes_per_s": sum(size for _, size in inside) / took,
                        "updates_per_s": bursts / took,
                        "cpu_percent": (viewer.cpu_seconds() - cpu) / took * 100,
                        "resident_kib": viewer.resident_kib()})
    return results


def measure(command, columns=80, rows=24, warm=3.0, seconds=10.0, environment=None):
    viewer = Viewer(command, columns, rows, environment)
    try:
        result = {"size": f"{columns}x{rows}", **viewer.first_frame()}
        take([viewer], warm)
        result.update(watch([viewer], seconds)[0])
    finally:
        status = viewer.leave()
    return {**result, "exit_status": status}


def main():
    parser = argparse.ArgumentParser(description="Measure a full-screen program on a pty.")
    parser.add_argument("--size", default="80x24")
    parser.add_argument("--warm", type=float, default=3.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if not args.command:
        parser.error("no command")
    columns, rows = map(int, args.size.split("x"))
    try:
        result = measure(args.command, columns, rows, args.warm, args.seconds)
    except (RuntimeError, OSError) as error:
        sys.exit(f"ptymeter.py: {error}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
