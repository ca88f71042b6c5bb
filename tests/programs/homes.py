#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where things are kept when HOME or the XDG variables are of no use: what runs and the log say."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

DATA = ["--model", "linear", "--data", "random:200x10", "--batch", "20", "--epochs", "1"]
NOBODY = 65534


class Homes(cli.Case):
    def setUp(self):
        if os.geteuid() == 0:
            tempfile.tempdir = "/tmp"  # which others can enter, unlike the one of `make check`
        super().setUp()
        self.home = self.path("home")
        os.mkdir(self.home)
        self.env["HOME"] = self.home
        for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            self.env.pop(variable, None)

    def log(self):
        with open(self.path("dpartui/engine.log"), encoding="utf8") as file:
            return file.read()

    def train(self, count):
        """The warnings of a run, which its record has too."""
        out = self.good("train", *DATA)
        warnings = [line.removeprefix("warning: ") for line in out.splitlines()
                    if line.startswith("warning: ")]
        self.assertEqual(len(warnings), count, out)
        number = len(self.good_json("runs"))
        self.assertEqual(self.good_json("show", str(number))["warnings"], warnings)
        return warnings

    def test_usual_places_need_no_warning(self):
        for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            self.env[variable] = ""
            self.train(0)
        self.assertTrue(os.path.exists(self.path("home/.local/share/dpartui/runs.db")))
        self.good("engine", "stop")

    def test_relative_paths_are_ignored(self):
        for variable, instead in (("XDG_DATA_HOME", "/home/.local/share/dpartui"),
                                  ("XDG_CONFIG_HOME", "/home/.config/dpartui"),
                                  ("XDG_CACHE_HOME", "/home/.cache/dpartui")):
            kept = self.env.get(variable)
            self.env[variable] = "some/where"
            for _ in range(2):
                warning, = self.train(1)
                self.assertIn(f"{variable} 'some/where' is not an absolute path", warning)
                self.assertIn(self.folder + instead, warning)
                self.assertIn(warning, self.log())
            self.good("engine", "stop")
            self.env.pop(variable)
            if kept:
                self.env[variable] = kept
        self.assertTrue(os.path.exists(self.path("home/.local/share/dpartui/runs.db")))
        self.assertFalse(os.path.exists("some"))

    def test_a_relative_state_home(self):
        self.env["XDG_STATE_HOME"] = "here"
        warning, = self.train(1)
        self.assertIn("the engine's log are in " + self.path("home/.local/state/dpartui"), warning)
        with open(self.path("home/.local/state/dpartui/engine.log"), encoding="utf8") as file:
            self.assertIn(warning, file.read())

    def test_a_runtime_folder_of_no_use(self):
        # As a separate user, so that the engine of nobody else is met.
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")
        place = f"/tmp/dpartui-{NOBODY}"
        if os.path.exists(place):
            self.skipTest(place + " is in use")
        for value in ("run", self.path("absent")):
            self.env["XDG_RUNTIME_DIR"] = value
            try:
                out = self.as_nobody("train", *DATA)
                self.assertIn(f"XDG_RUNTIME_DIR '{value}' is not an absolute path of a folder and "
                              f"is ignored: the engine's socket is in {place}", out)
                self.assertEqual(out.count("warning"), 1, out)
            finally:
                self.as_nobody("engine", "stop")
                shutil.rmtree(place, ignore_errors=True)

    def test_a_second_engine_with_the_same_runs(self):
        """Neither it nor a command that would start it; two of them would give the same numbers."""
        first = dict(self.env)
        self.good("engine", "start")
        pid = self.good_json("engine", "status")["pid"]
        self.env["XDG_RUNTIME_DIR"] = self.path("other")
        os.mkdir(self.env["XDG_RUNTIME_DIR"], 0o700)
        said = self.bad(2, "train", *DATA)
        self.assertRegex(said, f"process {pid}, keeps its runs there; it listens on .*/engine.sock: ")
        done = subprocess.run([cli.ENGINE], env=self.env, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=cli.PATIENCE, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"process {pid}, keeps its runs there", done.stderr)
        self.env = first
        self.good("engine", "stop")
        self.env = dict(first, XDG_RUNTIME_DIR=self.path("other"))
        self.good("engine", "start")
        self.good("engine", "stop")
        self.env = first

    def test_without_a_home_but_with_a_place_for_runs(self):
        for value, said in ((None, "HOME is not"), ("", "HOME '' is not"), ("us", "HOME 'us' is")):
            self.env.pop("HOME", None)
            if value is not None:
                self.env["HOME"] = value
            warning, = self.train(1)
            self.assertTrue(warning.startswith(said), warning)
            self.assertIn("no place for settings and models, the autotune cache", warning)
            self.assertIn(warning, self.log())
            self.good("engine", "stop")
        self.assertEqual(len(self.good_json("runs")), 3)

    def as_nobody(self, *arguments):
        """By a user who is bound by modes; the program lies where he can read it."""
        programs = self.path("bin")
        if not os.path.isdir(programs):
            os.mkdir(programs)
            for name in ("dpartui", "dpartui-engine"):
                shutil.copy(os.path.join(cli.BUILD, name), programs)
            shutil.copytree(os.path.join(os.environ.get("top_srcdir", "."), "etc"),
                            os.path.join(programs, "etc"))
            for folder, folders, files in os.walk(self.folder):
                for name in [".", *folders, *files]:
                    os.chown(os.path.join(folder, name), NOBODY, NOBODY)
        command = [os.path.join(programs, "dpartui"), *arguments]
        done = subprocess.run(command, env=self.env, user=NOBODY, group=NOBODY, extra_groups=[],
                              cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=cli.PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_home_that_cannot_be_written(self):
        for variable in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
            del self.env[variable]
        if os.geteuid() == 0:
            run = self.as_nobody
            os.chmod(self.folder, 0o755)
            os.mkdir(self.path("run"), 0o700)
            os.chown(self.path("run"), NOBODY, NOBODY)
            self.env["XDG_RUNTIME_DIR"] = self.path("run")
        else:
            run = self.good
        os.chmod(self.home, stat.S_IRUSR | stat.S_IXUSR)
        try:
            for _ in range(2):
                out = run("train", *DATA)
                self.assertEqual(out.count("warning"), 1, out)
                self.assertIn(f"warning: this run is not kept, nor are checkpoints: {self.home}/",
                              out)
                self.assertIn("test acc", out)
            self.assertRegex(run("engine", "status", "--json"),
                             f'"store": "{self.home}/.*; the runs of this engine are lost when it ends"')
        finally:
            run("engine", "stop")
            os.chmod(self.home, 0o700)
        self.assertEqual(os.listdir(self.home), [])


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
