#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs whose devices divide rows for convolutions and the outputs of linear layers, from the
outside."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import divided_case  # noqa: E402
from divided_case import DATA  # noqa: E402

MIXED = ["--strategy", "mixed", "--devices", "cpu:0-1"]


class Mixed(divided_case.Case):
    def test_it_trains_as_one_device_does(self):
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "2")
        self.good("train", *DATA, *MIXED, "--epochs", "2")
        self.good("train", *DATA, *MIXED, "--devices", "cpu:0-2", "--epochs", "2")
        for run in "2", "3":
            self.same_losses(run, "1")

    def test_alexnet(self):
        # Deterministic: it takes the program's own convolutions, without measuring others first.
        network = ["--model", "alexnet", "--train-rows", "24", "--test-rows", "8", "--batch",
                   "12", "--lr", "0.01", "--epochs", "1", "--deterministic"]
        self.good("train", *DATA, *network, "--devices", "cpu:0")
        text = self.good("train", *DATA, *network, *MIXED, "--json")
        self.same_losses("2", "1")
        event = json.loads(text.splitlines()[0])
        model = self.good_json("model", "alexnet", "--data", "glyphs", "--batch", "12", *MIXED)
        self.assertAlmostEqual(model["mixed"]["bytes"], event["sync_bytes_per_step"],
                               delta=0.01 * model["mixed"]["bytes"])
        other = json.loads(self.good("train", *DATA, *network, "--devices", "cpu:0-1",
                                     "--json").splitlines()[0])
        self.assertLess(event["sync_bytes_per_step"], 0.8 * other["sync_bytes_per_step"])
        for mixed, data in zip(event["memory"], other["memory"], strict=True):
            self.assertLess(mixed, data)

    def test_a_run_goes_on_with_another_strategy(self):
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "4")
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "2")
        self.good("train", "--resume", "2", *MIXED, "--epochs", "3")
        self.good("train", "--resume", "2", "--strategy", "tensor", "--devices", "cpu:0-1",
                  "--epochs", "4")
        self.same_losses("2", "1")

    def test_validation_rows_are_evaluated_together(self):
        self.expect_evaluations_of_one_device(*MIXED)

    def test_a_killed_run_resumes_with_the_same_bits(self):
        self.expect_same_bits_after_a_kill(*MIXED)

    def test_a_model_is_laid_out_as_a_run_has_it(self):
        # Deterministic: else both measure which convolutions are fastest, and may choose others.
        for network in "lenet", "smallnet":
            options = ["--data", "glyphs", "--batch", "64", "--cpu-threads", "1", *MIXED,
                       "--deterministic"]
            model = self.good_json("model", network, *options)
            text = self.good("train", *DATA, *options, "--model", network, "--epochs", "1",
                             "--momentum", "0", "--json")
            event = json.loads(text.splitlines()[0])
            self.assertEqual(event["strategy"], "mixed")
            for device, memory in zip(model["memory"], event["memory"], strict=True):
                self.assertEqual(device["total"], memory)
            self.assertEqual([device["rows"] for device in model["mixed"]["devices"]], [32, 32])
            self.assertAlmostEqual(sum(device["share"] for device in model["mixed"]["devices"]), 1)

    def test_the_layers_of_alexnet(self):
        text = self.good("model", "alexnet", *MIXED)
        self.assertIn("\nmixed: the 256 rows are divided before the first linear layer; from it on "
                      "each device has all of them, with a part of every linear layer's outputs\n"
                      "DEVICE  ROWS  FLOPS\ncpu:0    128    50%\ncpu:1    128    50%\n", text)
        self.assertIn("a step all-gathers values in 4 places", text)

    def test_strategies_are_compared(self):
        text = self.good("compare", *DATA, "--devices", "cpu:0-1", "--strategies",
                         "data,pipeline,tensor,mixed", "--epochs", "2")
        for strategy in "data", "pipeline", "tensor", "mixed":
            self.assertRegex(text, rf"\n2 devices  {strategy} ")

    def test_mistakes_are_told(self):
        for options, text in (
                (["--devices", "cpu:0-11"], "strategy mixed: lenet cannot be divided over 12"),
                (["--split", "auto"], "split auto: not with strategy mixed"),
                (["--split", "weighted:0,1"],
                 "strategy mixed: cpu:0 would have no row of a mini-batch of 64"),
                (["--sync", "central"], "sync central: devices that divide layers")):
            self.assertIn(text, self.bad(2, "train", *DATA, *MIXED, *options))


if __name__ == "__main__":
    unittest.main()
