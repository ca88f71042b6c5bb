# SPDX-License-Identifier: MIT
"""An engine with its own home, for tests that make it fail, kill it or storm it."""

import hashlib
import json
import mmap
import os
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401
import program  # noqa: E402

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
ENGINE = os.path.join(BUILD, "dpartui-engine")
SHIM = os.path.join(BUILD, "tests", "faults", "shim.so")
MODELS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                      "etc", "models")
DEADLINE = 60.0  # seconds in which anything asked for must have happened
SKIP = 77
ENDED = program.ENDED
# Some hundredths of a second, with momentum, so that a checkpoint is two files.
SHORT = {"model": "linear", "data": "random:80x10", "devices": "cpu:0-1", "cpu_threads": 1, "batch": 20,
         "train_rows": 60, "test_rows": 20, "epochs": 2, "momentum": 0.9}
# As enum fault_kind.
KINDS = ("open", "read", "write", "fsync", "rename", "socket", "connect", "accept", "recv",
         "send", "mmap", "thread", "close", "truncate", "unlink", "mkdir")


class Fault(Exception):
    """The engine did something that it must not do; the text says what."""


class Lost(Exception):
    """The engine or its connection went away, which a fault may do."""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def run_test(main):
    """Exit with what main() returns, or say which fault it met."""
    try:
        sys.exit(main())
    except (Fault, Lost) as fault:
        print(f"FAILED: {fault}")
        sys.exit(1)


def is_sanitized():
    """Sanitizers replace the allocator and look at every call themselves."""
    return program.is_sanitized(ENGINE)


class Page:
    """What the shim and the test share: struct fault_page of shim.h."""

    LAYOUT = struct.Struct(f"dQQ{len(KINDS)}Q8QQQQQ")
    STACKS = 16384
    SIZE = LAYOUT.size + 16 * STACKS
    FIRED, PHASE, TARGET, LEFT_OUT = 16, LAYOUT.size - 32, LAYOUT.size - 16, LAYOUT.size - 8

    def __init__(self, folder):
        handle, self.path = tempfile.mkstemp(dir=folder)
        os.ftruncate(handle, self.SIZE)
        self.memory = mmap.mmap(handle, self.SIZE)
        os.close(handle)

    def clear(self):
        self.memory[:] = bytes(self.SIZE)

    def set_clock_shift(self, seconds):
        self.memory[0:8] = struct.pack("d", seconds)

    def set_active(self, active):
        self.memory[8:16] = struct.pack("Q", active)

    def number(self, place):
        return struct.unpack_from("Q", self.memory, place)[0]

    def set_number(self, place, number):
        self.memory[place:place + 8] = struct.pack("Q", number)

    def fired(self):
        return self.number(self.FIRED)

    def counts(self):
        return dict(zip(KINDS, self.LAYOUT.unpack_from(self.memory)[3:]))

    def callers(self):
        """Where the first call failed, for addr2line."""
        callers = self.LAYOUT.unpack_from(self.memory)[3 + len(KINDS):][:8]
        return [hex(one) for one in callers if one]

    def set_phase(self, bit):
        """Stacks of allocations are noted with this bit; 0: they are not looked at."""
        self.set_number(self.PHASE, bit)

    def set_target(self, stack):
        """The next allocation with this stack fails; 0: none."""
        self.set_number(self.FIRED, 0)
        self.set_number(self.TARGET, stack)

    def stacks(self):
        """The phases of each stack that came by."""
        if self.number(self.LEFT_OUT):
            raise Fault("there are more stacks than the page has room for")
        numbers = struct.unpack_from(f"{2 * self.STACKS}Q", self.memory, self.LAYOUT.size)
        return dict(pair for pair in zip(numbers[::2], numbers[1::2]) if pair[0])

    def close(self):
        self.memory.close()
        os.unlink(self.path)


class Home:
    """A user's folders, in one that is removed at the end."""

    def __init__(self, root=None):
        self.owned = root is None
        self.root = root or tempfile.mkdtemp(prefix="faults.")
        for name in ("run", "state", "config", "cache", "tmp"):
            os.makedirs(os.path.join(self.root, name), mode=0o700, exist_ok=True)
        self.data = os.path.join(self.root, "data")

    def environment(self, **more):
        out = {name: os.environ[name] for name in ("PATH", "ASAN_OPTIONS", "LSAN_OPTIONS",
                                                   "UBSAN_OPTIONS", "TSAN_OPTIONS", "LANG")
               if name in os.environ}
        out.update(HOME=self.root, XDG_RUNTIME_DIR=os.path.join(self.root, "run"),
                   XDG_STATE_HOME=os.path.join(self.root, "state"),
                   XDG_CONFIG_HOME=os.path.join(self.root, "config"),
                   XDG_CACHE_HOME=os.path.join(self.root, "cache"), XDG_DATA_HOME=self.data,
                   TMPDIR=os.path.join(self.root, "tmp"), DPARTUI_MODEL_PATH=MODELS,
                   DPARTUI_NVML="none", CUDA_VISIBLE_DEVICES="-1", OMP_WAIT_POLICY="passive")
        out.update({name: str(value) for name, value in more.items()})
        return out

    def store_path(self):
        return os.path.join(self.data, "dpartui", "runs.db")

    def checkpoints(self, run):
        return os.path.join(self.data, "dpartui", "checkpoints", str(run))

    def files(self):
        """All files of the data folder, without those that belong to SQLite."""
        out = []
        for folder, _, names in os.walk(self.data):
            out += [os.path.join(folder, name) for name in names if "runs.db" not in name]
        return sorted(out)

    def temporary_files(self):
        """Of file_writer: NAME.PID-NUMBER."""
        return [path for path in self.files() if not path.endswith(".safetensors")]

    def digests(self, run):
        """Of a run's checkpoints, by the file's name."""
        out = {}
        folder = self.checkpoints(run)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            with open(os.path.join(folder, name), "rb") as file:
                out[name] = hashlib.sha256(file.read()).hexdigest()
        return out

    def kept(self, run):
        """All that the store has of a run, once it was found to be whole."""
        store = sqlite3.connect(f"file:{self.store_path()}?mode=ro", uri=True)
        try:
            check = store.execute("PRAGMA integrity_check").fetchall()
            if check != [("ok",)]:
                raise Fault(f"the store is damaged: {check}")
            return [store.execute(f"SELECT * FROM {table} WHERE {key} = ? ORDER BY 1, 2",
                                  (run,)).fetchall()
                    for table, key in (("runs", "number"), ("events", "run"), ("points", "run"),
                                       ("tags", "run"))]
        except sqlite3.Error as error:
            raise Fault(f"the store cannot be read: {error}") from None
        finally:
            store.close()

    def copy_data(self, source):
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.copytree(source.data, self.data)

    def remove(self):
        if self.owned:
            shutil.rmtree(self.root)


class Engine:
    """A running engine with one viewer. Ended, with its exit status checked, by `stop`."""

    def __init__(self, home, **more):
        self.home = home
        self.log_path = os.path.join(home.root, "engine.log")
        self.socket = self.reader = None
        self.number = 0
        self.notes = []
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([ENGINE, "--foreground"], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log,
                                            env=home.environment(**more))
        try:
            self.connect()
        except Fault:
            self.kill()
            raise

    def log(self):
        with open(self.log_path, encoding="utf8", errors="replace") as file:
            return file.read()

    def new_socket(self):
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.settimeout(DEADLINE)
        try:
            made.connect(os.path.join(self.home.root, "run", "dpartui", "engine.sock"))
        except OSError:
            made.close()
            raise
        return made

    def connect(self):
        """Lost: the engine ended instead. Fault: it does neither."""
        self.disconnect()
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            try:
                self.socket = self.new_socket()
                self.reader = self.socket.makefile("rb")
                return
            except OSError:
                if self.process.poll() is not None:
                    raise Lost("it ended") from None
                time.sleep(0.005)
        raise Fault(f"the engine does not listen after {DEADLINE} s: {self.log()}")

    def disconnect(self):
        if self.socket:
            self.reader.close()
            self.socket.close()
        self.socket = self.reader = None

    def ask(self, method, **params):
        """The answer: {"result": ...} or {"error": ...}. Notifications are put aside."""
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        try:
            self.socket.sendall(json.dumps(request).encode() + b"\n")
            while True:
                line = self.reader.readline()
                if not line.endswith(b"\n"):
                    raise Lost("the connection was closed")
                answer = json.loads(line)
                # Without an id: the request could not even be read: memory ran out.
                if answer.get("id", 0) in (self.number, None):
                    return answer
                self.notes.append(answer)
        except ValueError:
            raise Fault(f"not JSON in answer to {method}: {line!r}") from None
        except socket.timeout:
            raise Fault(f"no answer to {method} in {DEADLINE} s: {self.log()}") from None
        except OSError as error:
            raise Lost(str(error)) from None

    def must(self, method, **params):
        answer = self.ask(method, **params)
        if "result" not in answer:
            raise Fault(f"{method} {params}: {answer}")
        return answer["result"]

    def submit(self, **settings):
        return self.must("submit", **settings)["run"]

    def wait(self, run, statuses=ENDED, seconds=DEADLINE):
        """The run object, once it has one of the statuses."""
        end = time.monotonic() + seconds
        while True:
            found = self.must("show", run=run)
            if found["status"] in statuses:
                return found
            if time.monotonic() > end:
                raise Fault(f"run {run} is {found['status']} after {seconds} s: {self.log()}")
            time.sleep(0.004)

    def kill(self):
        self.disconnect()
        self.process.kill()
        self.process.wait()

    def finish(self):
        """The exit status of an engine that is on its way out."""
        self.disconnect()
        try:
            status = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Fault(f"the engine does not end in {DEADLINE} s: {self.log()}") from None
        log = self.log()
        if status < 0:
            raise Fault(f"the engine was ended by signal {-status}: {log}")
        if "Sanitizer" in log or "runtime error" in log or "terminate called" in log:
            raise Fault(log)
        if status > 0 and "dpartui-engine: " not in log:
            raise Fault(f"exit status {status} without a reason: {log!r}")
        return status

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.finish()

    def memory(self):
        """Resident, in bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
