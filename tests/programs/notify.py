#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands that are run when a run ends: `notify` and --notify."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

DATA = ["--model", "linear", "--data", "random:200x10", "--batch", "20", "--epochs", "1"]
WRITE = 'printf "%s|%s|%s|%s\\n" "$DPARTUI_RUN" "$DPARTUI_STATUS" "$DPARTUI_ACCURACY" "$DPARTUI_TEXT" >> '


class Notify(cli.Case):
    def lines(self):
        try:
            with open(self.path("told"), encoding="utf8") as file:
                return [line.split("|") for line in file.read().splitlines()]
        except FileNotFoundError:
            return []

    def told(self):
        """What the one command has written, once it has."""
        self.wait_for("a notification", self.lines)
        line, = self.lines()
        return line

    def log(self):
        with open(self.path("dpartui/engine.log"), encoding="utf8") as file:
            return file.read()

    def write(self):
        return WRITE + f"'{self.path('told')}'"

    def test_with_nobody_watching(self):
        self.good("train", *DATA, "--detach", "--notify", self.write())
        run, status, accuracy, text = self.told()
        self.assertEqual((run, status), ("1", "done"))
        self.assertAlmostEqual(float(accuracy), self.good_json("show", "1")["test_acc"], 4)
        self.assertRegex(text, r"^run 1 is done: test acc 0\.\d+, \S+ s/epoch, " + cli.RATE + "$")

    def test_a_private_engine_waits_for_it(self):
        self.good("train", *DATA, "--foreground", "--notify", "sleep 4; " + self.write())
        self.assertEqual(len(self.lines()), 1)

    def test_the_next_engine_does_not_wait_for_it(self):
        end = self.path("end")
        self.good("train", *DATA, "--notify",
                  f"touch '{self.path('begun')}'; until [ -e '{end}' ]; do sleep 0.1; done; " + self.write())
        self.wait_for("the command's begin", lambda: os.path.exists(self.path("begun")))
        self.good("engine", "stop")
        self.good("engine", "start")
        self.assertEqual(self.good_json("show", "1")["status"], "done")
        self.assertEqual(self.lines(), [])
        with open(end, "w", encoding="ascii"):
            pass
        self.told()

    def test_a_target_that_is_reached(self):
        self.good("train", *DATA, "--epochs", "5", "--stop-at-acc", "0.001", "--notify", self.write())
        _, status, _, text = self.told()
        self.assertEqual(status, "done")
        self.assertIn("it ended early: ", text)

    def test_the_configuration_and_a_run_that_fails(self):
        self.env["XDG_CONFIG_HOME"] = self.path("config")
        os.makedirs(self.path("config/dpartui"))
        command = self.write().replace("\\", "\\\\").replace('"', '\\"')
        with open(self.path("config/dpartui/dpartui.conf"), "w", encoding="ascii") as file:
            file.write(f'train = {{ notify = "{command}"; }};\n')
        self.bad(1, "train", *DATA, "--lr", "1e6", "--init", "normal:1000")
        run, status, accuracy, text = self.told()
        self.assertEqual((run, status, accuracy), ("1", "failed", ""))
        self.assertRegex(text, "^run 1 failed after step ")

    def test_a_command_that_is_missing_is_noted_in_the_log(self):
        self.good("train", *DATA, "--notify", "/nowhere/notify")
        self.wait_for("a note", lambda: "notify '/nowhere/notify' ended with status 127" in self.log())

    def test_no_evaluation_tells(self):
        self.good("train", *DATA, "--save", self.path("x.safetensors"), "--notify", self.write())
        self.told()
        self.good("eval", self.path("x.safetensors"), *DATA[:4])
        self.assertEqual(len(self.lines()), 1)


if __name__ == "__main__":
    unittest.main()
