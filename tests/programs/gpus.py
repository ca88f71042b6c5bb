#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the two programs report of GPUs, with a made-up NVIDIA library in place of the driver's."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
PROGRAM = os.path.join(BUILD, "dpartui")
ENGINE = os.path.join(BUILD, "dpartui-engine")
LIBRARY = os.path.join(BUILD, "tests", "fakes", "fake_nvml.so")
SIMULATED = os.path.join(BUILD, "tests", "simgpu", "engine")
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../etc/models")
PATIENCE = 60.0
OLD_DRIVER = os.path.join(BUILD, "tests", "fakes", "fake_driver.so")
SHORT = ["--model", "linear", "--data", "random:200x10", "--batch", "20", "--epochs", "1"]
# Of tests/fakes/fake_nvml.h: kinds of calls.
FAKE_INIT, FAKE_POWER = 0, 8


def configured():
    """What config.h defines, by name."""
    with open(os.path.join(BUILD, "config.h"), encoding="utf8") as file:
        return dict(re.findall(r"^#define (\w+) (.*)$", file.read(), re.M))


CONFIG = configured()
HAS_CUDA = "HAVE_CUDA_TOOLKIT" in CONFIG
# What keeps every GPU from training: the driver of these tests, or the build.
NO_TRAINING = "the NVIDIA driver is too old" if HAS_CUDA else "this build has no CUDA backend"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        XDG_DATA_HOME=os.path.join(self.folder, "data"), LC_ALL="C",
                        DPARTUI_NVML=LIBRARY)
        self.env.pop("CUDA_VISIBLE_DEVICES", None)
        self.use_driver(OLD_DRIVER)

    def tearDown(self):
        self.run_program("engine", "stop", "--now")
        shutil.rmtree(self.folder)

    def fake(self, **settings):
        for key, value in settings.items():
            self.env[f"FAKE_NVML_{key.upper()}"] = str(value)

    def use_driver(self, library):
        """Programs find this in place of the machine's driver; None: a file that is no library."""
        folder = tempfile.mkdtemp(dir=self.folder)
        path = os.path.join(folder, "libcuda.so.1")
        if library:
            os.symlink(library, path)
        else:
            with open(path, "wb"):
                pass
        self.env["LD_LIBRARY_PATH"] = folder

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def good(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def devices(self):
        return json.loads(self.good("devices", "--json"))


def gpus_of(devices):
    return [device for device in devices if device["device"].startswith("cuda:")]


class Listed(Case):
    def test_gpus_come_first_and_cannot_train(self):
        for count in (1, 8, 16):
            self.fake(gpus=count)
            devices = self.devices()
            self.assertEqual([device["device"] for device in devices[:count + 1]],
                             [f"cuda:{i}" for i in range(count)] + ["cpu:0"])
            self.assertEqual(len(gpus_of(devices)), count)
            for i, device in enumerate(gpus_of(devices)):
                self.assertEqual(device["name"], "NVIDIA Made-up 80GB")
                self.assertTrue(device["uuid"].startswith(f"GPU-{i:02}"))
                self.assertEqual(device["memory_total"], 80 << 30)
                self.assertFalse(device["available"])
                self.assertIn(NO_TRAINING, device["reason"])
            self.assertTrue(devices[-1]["available"])
            self.assertIsNone(devices[-1]["uuid"])
        text = self.good("devices")
        self.assertRegex(text, r"cuda:15 +- +80\.0 GiB +NVIDIA Made-up 80GB +" + NO_TRAINING)
        self.assertNotIn("No GPUs", text)

    def test_no_choice_takes_them(self):
        self.fake(gpus=16)
        for chosen in ([], ["--devices", "default"], ["--devices", "cpu:0-1"]):
            run = json.loads(self.good("train", "--json", *SHORT, *chosen).split("\n")[0])
            self.assertTrue(all(name.startswith("cpu:") for name in run["devices"]), run)
        for chosen in ("cuda:0", "all", "0"):
            done = self.run_program("train", *SHORT, "--devices", chosen)
            self.assertEqual(done.returncode, 2)
            self.assertIn(NO_TRAINING, done.stderr)

    def test_free_ones_need_gpus_that_train(self):
        self.fake(gpus=2, processes="")
        for command in ("train", "compare"):
            done = self.run_program(command, *SHORT, "--devices", "free:2")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("free:2: no GPU to train on (", done.stderr)
            self.assertIn("free:N is of GPUs; use --devices cpu:0", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        done = self.run_program("model", "linear", "--devices", "free:1")
        self.assertIn("free:1: no GPU to train on (", done.stderr)
        done = self.run_program("train", *SHORT, "--devices", "free:all")
        self.assertIn("'free:all': the number of GPUs must be 1 to 64; or give all", done.stderr)

    def test_cuda_visible_devices(self):
        self.fake(gpus=4)
        self.env["CUDA_VISIBLE_DEVICES"] = "2,GPU-00"
        self.assertEqual([device["uuid"][:6] for device in gpus_of(self.devices())],
                         ["GPU-02", "GPU-00"])

    def test_mig_instances(self):
        self.fake(gpus=2, mig=2)
        devices = gpus_of(self.devices())
        self.assertEqual(len(devices), 4)
        self.assertTrue(devices[3]["uuid"].startswith("MIG-0101"))
        self.assertEqual(devices[3]["cores"], 16)

    def test_a_lost_gpu(self):
        self.fake(gpus=2, lost=1)
        self.assertIn("the GPU is lost", self.devices()[1]["reason"])

    def test_what_uses_them(self):
        self.fake(gpus=2, processes=f"1:{os.getpid()}:61:97,1:4194305:1:0")
        first, second = gpus_of(self.devices())
        self.assertEqual((first["processes"], first["process_count"], first["load"]), ([], 0, 0))
        self.assertEqual(second["process_count"], 2)
        self.assertEqual(second["memory_used"], (62 << 30) + (400 << 20))
        mine, hidden = second["processes"]
        self.assertEqual((mine["pid"], mine["memory"], mine["load"], mine["own"], mine["reason"]),
                         (os.getpid(), 61 << 30, 0.97, False, None))
        self.assertIn("gpus.py", mine["command"])
        self.assertEqual((hidden["user"], hidden["command"], hidden["load"]), (None, None, 0))
        self.assertIn("hidden here", hidden["reason"])
        text = self.good("devices")
        self.assertRegex(text, rf"\ncuda:1 +{os.getpid()} +\S+ +61\.0 GiB +97% +\S+.*gpus.py")
        self.assertRegex(text, r"\ncuda:1 +4194305 +- +1\.0 GiB +0% +- \(hidden here: ")
        self.fake(processes="0:0:2:5")
        self.assertRegex(self.good("devices"), r"\ncuda:0 .* 5% .*dpartui-engine.* \(this engine\)")
        self.fake(processes="")
        self.assertNotIn("PID", self.good("devices"))

    def test_why_there_are_none(self):
        for settings, words in (({"gpus": 0}, "has found no GPU"),
                                ({"init": 9}, "driver is not loaded"),
                                ({"init": 18}, "of different versions: reboot")):
            self.fake(**settings)
            text = self.good("devices")
            self.assertRegex(text, r"\ncpu:0 ")
            self.assertRegex(text, f"\nNo GPUs: .*{words}")
        self.env["DPARTUI_NVML"] = os.path.join(self.folder, "none.so")
        self.assertIn("No GPUs: no NVIDIA driver is installed", self.good("devices"))
        self.env["DPARTUI_NVML"] = "none"
        self.assertRegex(self.good("devices"), f"\nNo GPUs: {NO_TRAINING}")


@unittest.skipUnless(os.path.exists(SIMULATED), "there is no engine with simulated GPUs")
class Free(Case):
    """Runs on free GPUs, in an engine whose GPUs are simulated; the made-up library tells their
    load."""

    def setUp(self):
        super().setUp()
        folder = os.path.join(self.folder, "bin")
        os.mkdir(folder)
        self.program = os.path.join(folder, "dpartui")
        shutil.copy(PROGRAM, self.program)
        shutil.copy(SIMULATED, os.path.join(folder, "dpartui-engine"))
        self.env["DPARTUI_MODEL_PATH"] = MODELS
        self.fake(gpus=3)

    def run_program(self, *arguments):
        return subprocess.run([self.program, *arguments], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def test_the_free_ones_are_trained_on(self):
        self.fake(processes=f"0:{os.getpid()}:61:97")
        text = self.good("train", *SHORT, "--devices", "free:2")
        self.assertRegex(text, r"(?m)^free:2: cuda:1 \(.*, cuda:2 \(.*; left out: cuda:0 \(97%, ")
        self.assertRegex(text, r"(?m) on \[cuda:1, cuda:2\]$")
        run = json.loads(self.good("show", "1", "--json"))
        self.assertEqual((run["status"], run["spec"]["devices"]), ("done", "free:2=cuda:1-2"))
        # What the engine itself has of them does not count.
        self.good("engine", "stop")
        self.fake(processes=f"2:0:61:5,1:{os.getpid()}:2:5")
        self.assertIn(" on [cuda:0, cuda:2]\n", self.good("train", *SHORT, "--devices", "free:2"))

    def test_there_are_too_few(self):
        done = self.run_program("train", *SHORT, "--devices", "free:4")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("free:4: 4 GPUs asked for, 3 can be used here", done.stderr)

    def test_nobody_reports_them(self):
        self.env["DPARTUI_NVML"] = os.path.join(self.folder, "none.so")
        engine = Private(self.env, SIMULATED)
        self.addCleanup(engine.process.kill)
        engine.call("watch", interval=0.05)
        state = engine.state_where(lambda state: gpus_of(state["devices"]) and
                                   "none.so" in str(state["devices"][0]["missing"]))
        gpu = state["devices"][0]
        self.assertTrue(gpu["available"])
        self.assertIsNone(state["no_gpus"])
        for name in ("load", "memory_used", "power_w", "temperature_c"):
            self.assertIsNone(gpu[name], name)
            self.assertRegex(gpu["missing"][name], r"or not all of it: .*none\.so was not found")
        self.assertEqual(engine.end(), 0)


class Private:
    """A private engine on a socket."""

    def __init__(self, env, program=ENGINE):
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(PATIENCE)
        self.process = subprocess.Popen([program, "--private", str(theirs.fileno())], env=env,
                                        pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self.lines = self.socket.makefile("r", encoding="utf8")

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            answer = json.loads(self.lines.readline())
            if answer.get("id") == method:
                return answer["result"]

    def state_where(self, question):
        """The first state of which the question is true."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            note = json.loads(self.lines.readline())
            if note.get("method") == "state" and question(note["params"]):
                return note["params"]
        raise AssertionError("no such state came")

    def end(self):
        self.lines.close()
        self.socket.close()
        return self.process.wait(PATIENCE)


class States(Case):
    def begin(self):
        engine = Private(self.env)
        self.addCleanup(engine.process.kill)
        engine.call("watch", interval=0.05)
        return engine

    def test_figures(self):
        self.fake(gpus=8)
        engine = self.begin()
        state = engine.state_where(lambda state: len(gpus_of(state["devices"])) == 8 and
                                   state["devices"][7]["pcie_rx"] is not None and
                                   NO_TRAINING in state["devices"][7]["reason"])
        gpu = state["devices"][7]
        for key, value in {"device": "cuda:7", "available": False,
                           "load": 0.38, "tensor_load": 0.12, "memory_load": 0.25,
                           "memory_used": 10 << 30, "memory_total": 80 << 30,
                           "temperature_c": 50, "power_w": 407, "power_limit_w": 700,
                           "clock_mhz": 1755, "clock_max_mhz": 1980, "throttle": "",
                           "pcie_rx": 0, "pcie_tx": 0, "state": "idle", "rows": None,
                           "missing": {}}.items():
            self.assertEqual(gpu[key], value, key)
        self.assertIsNone(state["no_gpus"])
        self.assertNotIn("tensor_load", state["devices"][8])
        self.assertEqual(engine.end(), 0)

    def test_a_driver_that_hangs_holds_nothing_up(self):
        self.fake(gpus=8, stall=FAKE_POWER)
        engine = self.begin()
        begin = time.monotonic()
        engine.call("hello", version="0")
        state = engine.state_where(lambda state: state["no_gpus"] == "the NVIDIA driver does not answer")
        self.assertEqual(gpus_of(state["devices"]), [])
        # A run continues as if there were nothing, and so does the end of the engine.
        spec = {"model": "linear", "data": "random:200x10", "batch": 20, "epochs": 1}
        number = engine.call("submit", **spec)["run"]
        while engine.call("show", run=number)["status"] != "done":
            self.assertLess(time.monotonic() - begin, PATIENCE)
            time.sleep(0.05)
        self.assertEqual(engine.end(), 0)

    def test_a_driver_that_does_not_begin(self):
        self.fake(gpus=8, stall=FAKE_INIT)
        self.assertEqual(gpus_of(self.devices()), [])


if __name__ == "__main__":
    if not os.path.exists(LIBRARY) or os.path.getsize(LIBRARY) == 0:
        print(f"skipped: {LIBRARY} could not be built")
        sys.exit(77)
    unittest.main()
