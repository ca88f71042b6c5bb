#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Testing saved weights with 'dpartui eval', and resuming a run whose engine was killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401

BUILD = os.environ.get("top_builddir", ".")
PROGRAM = os.path.abspath(os.path.join(BUILD, "dpartui"))
PATIENCE = 120.0
LINEAR = ["--model", "linear", "--data", "glyphs", "--train-rows", "400", "--test-rows", "300",
          "--batch", "50", "--seed", "7"]


class Eval(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        XDG_DATA_HOME=self.folder, LC_ALL="C")

    def tearDown(self):
        self.run_program("engine", "stop", "--now")
        shutil.rmtree(self.folder)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                              timeout=PATIENCE, env=self.env, cwd=self.folder, check=False)

    def good(self, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def good_json(self, *arguments):
        return json.loads(self.good(*arguments, "--json"))

    def refuse(self, status, words, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn(words, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def show(self, run):
        return self.good_json("show", str(run))

    def is_up(self):
        """Also while a killed engine's connections are being closed."""
        result = self.run_program("engine", "status", "--json")
        return result.returncode != 0 or json.loads(result.stdout)["running"]

    def checkpoints(self, run):
        folder = os.path.join(self.folder, "dpartui", "checkpoints", str(run))
        return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                      if "momentum" not in name)

    def test_a_checkpoint_knows_what_it_is_of(self):
        self.good("train", *LINEAR, "--epochs", "3", "--save", "w.safetensors")
        run = self.show(1)
        self.assertEqual(run["checkpoint"]["steps"], 24)
        newest = self.checkpoints(1)[-1]
        for arguments in (["--run", "1"], [newest],
                          ["w.safetensors", *LINEAR[:4], *LINEAR[6:8], "--seed", "7"]):
            found = self.good_json("eval", *arguments)
            self.assertEqual(found["test_acc"], run["test_acc"])
            self.assertAlmostEqual(found["test_loss"], run["epochs"][-1]["test_loss"], places=6)
            self.assertEqual(found["test_rows"], 300)
            self.assertEqual((found["model"], found["data"]), ("linear", "glyphs"))
        self.assertRegex(self.good("eval", newest, "--test-rows", "100", "--devices", "cpu:0-1"),
                         r"^test acc 0\.\d{4}, loss \d\.\d{4}, 100 rows in \S+ s on "
                         r"\[cpu:0, cpu:1\]: linear on glyphs\n$")
        # It leaves no run, and needs no engine in the background.
        self.assertEqual(len(self.good_json("runs")), 1)
        self.good("engine", "stop")
        self.good("eval", "--run", "1")
        self.assertFalse(self.good_json("engine", "status")["running"])

    def test_the_best(self):
        # A rate at which the first epoch is not the best and the last one neither, whatever it is.
        self.good("train", *LINEAR, "--epochs", "12", "--lr", "1.5")
        run = self.show(1)
        best = max(run["epochs"], key=lambda epoch: (epoch["test_acc"], -epoch["epoch"]))
        found = self.good_json("eval", "--run", "1", "--best")
        self.assertEqual(found["test_acc"], best["test_acc"])
        self.assertTrue(found["file"].endswith("step-%08d.safetensors" % best["step"]), found)

    def test_the_learning_rate_of_a_run_that_goes_on(self):
        """As it was at the checkpoint, unless another one is given."""
        self.good("train", *LINEAR, "--epochs", "2", "--lr", "0.1")
        self.good("train", "--resume", "1", "--epochs", "3", "--lr", "0.05")
        self.good("train", "--resume", "1", "--epochs", "4")
        run = self.show(1)
        self.assertEqual([epoch["lr"] for epoch in run["epochs"]], [0.1, 0.1, 0.05, 0.05])
        self.assertEqual(run["lr"], 0.05)

    def test_mistakes(self):
        self.good("train", *LINEAR, "--epochs", "1", "--save", "w.safetensors")
        with open(os.path.join(self.folder, "text"), "w", encoding="utf8") as file:
            file.write("these are no weights at all")
        self.refuse(2, "eval needs a file", "eval")
        self.refuse(2, "eval needs a file", "eval", "w.safetensors", "--run", "1")
        self.refuse(2, "--best", "eval", "w.safetensors", "--best")
        self.refuse(2, "--run needs", "eval", "--run", "one")
        self.refuse(2, "missing.safetensors: No such file", "eval", "missing.safetensors")
        self.refuse(1, "run 9 has no checkpoint", "eval", "--run", "9")
        self.refuse(1, "not a safetensors file", "eval", "text")
        self.refuse(2, "'0.weight' is missing", "eval", "w.safetensors", "--model", "smallnet",
                    "--data", "glyphs")

    def test_an_interrupted_run_goes_on(self):
        self.good("train", *LINEAR, "--epochs", "1000000", "--detach")
        end = time.monotonic() + PATIENCE
        while not self.show(1)["checkpoint"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        os.kill(self.good_json("engine", "status")["pid"], signal.SIGKILL)
        while self.is_up():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.good("engine", "start")
        run = self.show(1)
        self.assertEqual(run["status"], "interrupted")
        self.assertIn("crashed or was killed", run["error"])
        # It may have trained on after the checkpoint.
        epochs = str(max(run["epochs_done"], run["checkpoint"]["steps"] // 8) + 2)
        self.good("eval", "--run", "1")
        self.good("train", "--resume", "1", "--epochs", epochs)
        run = self.show(1)
        self.assertEqual((run["status"], run["epochs_done"], run["error"]),
                         ("done", int(epochs), None))


if __name__ == "__main__":
    unittest.main()
