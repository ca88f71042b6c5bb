#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure a full-screen program on a pseudo terminal. Standard library only.

    ptymeter.py [--size 80x24] [--warm 3] [--seconds 10] COMMAND [ARGUMENT...]

The first frame is what came before the first silence of 80 ms, once 200 bytes were there; its time
runs from the fork to its last byte. After `warm` seconds from the fork a window of `seconds` is
counted: bytes and updates (bursts 30 ms apart) to the terminal, and CPU time of the program (its
own, without its children). Memory is its resident set at the end. The program is then asked to
leave by SIGTERM.
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
PATIENCE = 5.0  # seconds to leave


def cpu_seconds(pid):
    """Of all threads, from the scheduler's nanoseconds; clock ticks would be too coarse."""
    tasks = f"/proc/{pid}/task"
    total = 0
    for task in os.listdir(tasks):
        with open(f"{tasks}/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return None


def start(command, columns, rows, environment):
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            # The size is there before the program looks.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvpe(command[0], command, environment)
        finally:
            os._exit(127)
    return pid, terminal


def read(terminal, seconds):
    """Bytes that came within `seconds`, b"" for none, None when the program has gone."""
    if not select.select([terminal], [], [], max(0.0, seconds))[0]:
        return b""
    try:
        return os.read(terminal, 65536) or None
    except OSError:
        return None


def leave(pid, terminal):
    """The program's exit status after SIGTERM; killed when it does not go."""
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        read(terminal, 0.02)  # a program that waits for its terminal cannot leave
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def first_frame(events):
    """(seconds, bytes) of the first frame in [(seconds, bytes)...], or (None, None)."""
    count = 0
    for i, (at, size) in enumerate(events):
        count += size
        silent = i + 1 == len(events) or events[i + 1][0] - at >= SILENCE
        if silent and count >= FRAME_BYTES:
            return at, count
    return None, None


def measure(command, columns=80, rows=24, warm=3.0, seconds=10.0, environment=None):
    environment = dict(os.environ if environment is None else environment)
    environment.setdefault("TERM", "xterm-256color")
    begin = time.monotonic()
    pid, terminal = start(command, columns, rows, environment)
    events, cpu, window = [], None, None
    try:
        while True:
            now = time.monotonic() - begin
            if cpu is None and now >= warm:
                cpu, window = cpu_seconds(pid), now
            if now >= warm + seconds:
                break
            data = read(terminal, min(0.02, warm + seconds - now))
            if data is None:
                status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                raise RuntimeError(f"{command[0]} ended after {now:.2f} s with status {status}")
            if data:
                events.append((time.monotonic() - begin, len(data)))
        took = time.monotonic() - begin - window
        used, memory = cpu_seconds(pid) - cpu, resident_kib(pid)
        status = leave(pid, terminal)
    finally:
        os.close(terminal)
    inside = [(at, size) for at, size in events if at >= window]
    bursts = sum(1 for i, (at, _) in enumerate(inside) if i == 0 or at - inside[i - 1][0] > BURST)
    frame_at, frame_bytes = first_frame(events)
    return {
        "size": f"{columns}x{rows}",
        "first_byte_ms": events[0][0] * 1e3 if events else None,
        "first_frame_ms": None if frame_at is None else frame_at * 1e3,
        "first_frame_bytes": frame_bytes,
        "bytes_per_s": sum(size for _, size in inside) / took,
        "updates_per_s": bursts / took,
        "cpu_percent": used / took * 100,
        "resident_kib": memory,
        "exit_status": status,
    }


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
