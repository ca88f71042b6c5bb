#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs with rows for validation, as commands show them."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

DATA = ["--model", "linear", "--data", "glyphs", "--train-rows", "500", "--test-rows", "200",
        "--batch", "100", "--lr", "1"]
CHOOSING = [*DATA, "--validation", "0.2", "--epochs", "40", "--patience", "2"]


class Validation(cli.Case):
    def test_all_say_what_the_accuracy_is_of(self):
        text = self.good("train", *CHOOSING, "--save-best",
                         self.path("best.safetensors"))
        lines = text.splitlines()
        epochs = [line for line in lines if line.startswith("epoch ")]
        self.assertLess(len(epochs), 40)
        for line in epochs:
            self.assertRegex(line, r" val acc 0\.\d{3}  ")
            self.assertNotIn("test acc", line)
        best = len(epochs) - 2
        self.assertRegex(text, "ended early: no better validation accuracy for 2 epochs: the best "
                               rf"is 0\.\d{{4}}, of epoch {best}\n")
        self.assertRegex(lines[-1], r"^validation acc 0\.\d{3}, test acc 0\.\d{3} with the best "
                                    rf"weights, of epoch {best}, ")
        run, = self.good_json("runs")
        self.assertEqual(run["status"], "done")
        self.assertIsNone(run["best_test_acc"])
        self.assertIn("no better validation accuracy", run["reason"])
        shown = self.good_json("show", "1")
        accuracies = [epoch["val_acc"] for epoch in shown["epochs"]]
        self.assertEqual(run["val_acc"], accuracies[-1])
        self.assertEqual(run["best_val_acc"], max(accuracies))
        self.assertTrue(all(epoch["test_acc"] is None for epoch in shown["epochs"]))
        saved = self.good_json("eval", self.path("best.safetensors"), *DATA[:4], "--test-rows",
                               "200")
        self.assertEqual(saved["test_acc"], run["test_acc"])
        best_run = self.good_json("eval", "--run", "1", "--best")
        self.assertEqual(best_run["test_acc"], run["test_acc"])
        text = self.good("show", "1")
        self.assertRegex(text, r"\nvalidation acc 0\.\d{3} \(best 0\.\d{3}\), test acc 0\.\d{3}, ")
        self.assertIn("\nended early: ", text)
        self.assertRegex(text, r"\n *EPOCH +TRAIN LOSS +TRAIN ACC +VAL LOSS +VAL ACC ")

    def test_lists_and_exports(self):
        self.good("train", *DATA, "--epochs", "2")
        self.assertNotIn("VAL ACC", self.good("runs"))
        self.good("train", *DATA, "--epochs", "2", "--validation", "0.1")
        table = self.good("runs")
        self.assertIn("  VAL ACC  TEST ACC  ", table)
        for figure, title in ((None, "Validation accuracy"), ("test_acc", "Test accuracy"),
                              ("val_loss", "Validation loss")):
            svg = self.good("export", "2", "--svg", *(["--figure", figure] if figure else []))
            self.assertIn(title, svg)
        header, first, *_ = self.good("export", "2", "--csv").splitlines()
        row = dict(zip(header.split(","), first.split(",")))
        self.assertEqual(row["test_acc"], "")
        self.assertGreater(float(row["val_acc"]), 0)
        self.assertEqual(self.good_json("runs", "--sort", "-best")[0]["run"],
                         max(self.good_json("runs"),
                             key=lambda run: run.get("best_val_acc", run["best_test_acc"]))["run"])

    def test_the_log_has_it_all(self):
        self.good("train", *DATA, "--epochs", "2", "--validation", "0.1", "--log", self.path("log.jsonl"),
                  "--foreground")
        with open(self.path("log.jsonl"), encoding="utf8") as file:
            events = [json.loads(line) for line in file]
        run, = (event for event in events if event["event"] == "run")
        self.assertEqual((run["train_rows"], run["validation_rows"], run["validation"]),
                         (450, 50, 0.1))
        end = events[-1]
        self.assertEqual((end["tested"], end["tested_epoch"]), ("last", 2))
        self.assertNotIn("reason", end)

    def test_mistakes(self):
        for arguments, says in (
                (["--validation", "1"], "validation '1' must be a number from 0 to 0.9"),
                (["--validation", "0.001"], "none would be left for validation"),
                (["--patience", "2", "--epochs", "0"], "has no accuracy to improve"),
                (["--stop-at-acc", "0.5", "--epochs", "0"], "stop-at-acc: a run of 0 epochs"),
                (["--save-best", "/nowhere/x.safetensors"], "save-best /nowhere/x.safetensors")):
            result = self.run_program("train", *DATA, "--foreground", *arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(says, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_a_run_resumes_with_its_own_rows_only(self):
        self.good("train", *DATA, "--epochs", "1", "--validation", "0.2")
        result = self.run_program("train", "--resume", "1", "--validation", "0.1")
        self.assertIn("'validation'", result.stderr)
        self.assertNotEqual(result.returncode, 0)


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
