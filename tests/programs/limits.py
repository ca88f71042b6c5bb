#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an engine leaves to others by its configuration: niceness and CPUs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401

PROGRAM = os.path.join(os.path.abspath(os.environ.get("top_builddir", ".")), "dpartui")
PATIENCE = 60.0
CPUS = sorted(os.sched_getaffinity(0))


class Limits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        XDG_DATA_HOME=os.path.join(self.folder, "data"), LC_ALL="C",
                        XDG_CONFIG_HOME=os.path.join(self.folder, "config"), DPARTUI_NVML="none")
        self.path = os.path.join(self.folder, "config", "dpartui", "dpartui.conf")
        os.makedirs(os.path.dirname(self.path))

    def tearDown(self):
        self.configure("")
        for variable in ("DPARTUI_NICE", "DPARTUI_CPUS"):
            self.env.pop(variable, None)
        self.run_program("engine", "stop", "--now")
        shutil.rmtree(self.folder)

    def configure(self, text):
        with open(self.path, "w", encoding="utf8") as file:
            file.write(text)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def status(self, *arguments):
        done = self.run_program("engine", "status", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def start(self):
        done = self.run_program("engine", "start")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.status("--json"))

    def refused(self, text):
        self.configure(text)
        done = self.run_program("engine", "start")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_without_limits(self):
        status = self.start()
        self.assertEqual((status["nice"], status["limited"]), (os.nice(0), False))
        self.assertRegex(self.status(), r"process \d+, idle(, nice \d+)?\n$")

    def test_niceness_and_a_cpu(self):
        self.configure(f'engine = {{ nice = 19; cpus = "{CPUS[-1]}-{CPUS[-1]}"; }};')
        status = self.start()
        self.assertEqual((status["nice"], status["cpus"], status["limited"]),
                         (19, str(CPUS[-1]), True))
        self.assertEqual(os.sched_getaffinity(status["pid"]), {CPUS[-1]})
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, status["pid"]), 19)
        self.assertRegex(self.status(), rf", idle, nice 19, on CPUs {CPUS[-1]}\n$")
        # A CPU device has that CPU only.
        devices = json.loads(self.run_program("devices", "--json").stdout)
        self.assertEqual([device["device"] for device in devices], ["cpu:0"])

    def test_as_many_cpus(self):
        self.configure("engine = { cpus = 1; };")
        self.assertEqual(os.sched_getaffinity(self.start()["pid"]), {CPUS[0]})

    def test_what_the_engine_starts_is_not_told(self):
        """Its CPUs are inherited; on other hosts the numbers mean others."""
        self.configure(f'engine = {{ nice = 19; cpus = "{CPUS[0]}-{CPUS[0]}"; }};')
        told = os.path.join(self.folder, "told")
        command = f"echo ${{DPARTUI_NICE-none}} ${{DPARTUI_CPUS-none}} $(nproc) >'{told}'"
        done = self.run_program("train", "--foreground", "--model", "linear", "--data", "random:200x10",
                                "--epochs", "1", "--notify", command)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(told, encoding="ascii") as file:
            self.assertEqual(file.read(), "none none 1\n")

    def test_more_than_there_are(self):
        self.configure('engine = { cpus = "0-9999"; };')
        self.assertEqual(sorted(os.sched_getaffinity(self.start()["pid"])), CPUS)

    def test_the_environment_comes_first(self):
        self.configure("engine = { nice = 19; };")
        self.env["DPARTUI_NICE"] = "18"
        self.assertEqual(self.start()["nice"], 18)

    def test_private_engines_too(self):
        self.configure("engine = { cpus = 1; };")
        self.assertEqual(len(json.loads(self.run_program("devices", "--json").stdout)), 1)

    def test_wrong_values(self):
        for value in ("20", "-1", '"low"'):
            self.assertIn("dpartui.conf:1: engine.nice: ", self.refused(f"engine = {{ nice = {value}; }};"))
        for value in ("0", '"3-1"', '"0-"', '"0,"', '"all"', "1.5"):
            self.assertIn("dpartui.conf:1: engine.cpus: ", self.refused(f"engine = {{ cpus = {value}; }};"))
        self.assertIn("none of them may be used here", self.refused('engine = { cpus = "9998-9999"; };'))
        self.assertIn("engine.cpu: unknown key (there are nice and cpus)",
                      self.refused("engine = { cpu = 3; };"))
        self.assertIn("engine: wants a group", self.refused("engine = 3;"))
        self.env["DPARTUI_CPUS"] = "x"
        self.assertIn("environment variable DPARTUI_CPUS: cpus 'x' must be how many", self.refused(""))


if __name__ == "__main__":
    unittest.main()
