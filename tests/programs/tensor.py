#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs whose devices divide each layer of the network, from the outside."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import divided_case  # noqa: E402
from divided_case import DATA  # noqa: E402

TENSOR = ["--strategy", "tensor", "--devices", "cpu:0-1"]


class Tensor(divided_case.Case):
    def test_it_trains_as_one_device_does(self):
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "2")
        self.good("train", *DATA, *TENSOR, "--epochs", "2")
        self.good("train", *DATA, *TENSOR, "--devices", "cpu:0-2", "--epochs", "2")
        for run in "2", "3":
            self.same_losses(run, "1")

    def test_batchnorm_has_the_statistics_of_one_device(self):
        network = ["--model", "smallnet", "--batch", "60", "--epochs", "2", "--lr", "0.02"]
        self.good("train", *DATA, *network, "--devices", "cpu:0")
        self.good("train", *DATA, *network, *TENSOR)
        one, other = (self.good_json("show", run) for run in ("1", "2"))
        self.assertAlmostEqual(one["epochs"][0]["test_loss"], other["epochs"][0]["test_loss"],
                               delta=1e-3)
        self.assertAlmostEqual(one["epochs"][0]["train_loss"], other["epochs"][0]["train_loss"],
                               delta=1e-3)

    def test_a_run_goes_on_with_another_strategy(self):
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "5")
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "2")
        self.good("train", "--resume", "2", *TENSOR, "--epochs", "3")
        self.good("train", "--resume", "2", "--strategy", "pipeline", "--devices", "cpu:0-1",
                  "--epochs", "4")
        self.good("train", "--resume", "2", "--strategy", "data", "--devices", "cpu:0", "--epochs",
                  "5")
        self.same_losses("2", "1")

    def test_validation_rows_are_evaluated_by_slices(self):
        self.expect_evaluations_of_one_device(*TENSOR)

    def test_a_killed_run_resumes_with_the_same_bits(self):
        self.expect_same_bits_after_a_kill(*TENSOR)

    def test_a_profile_tells_gathers(self):
        self.good("train", *DATA, *TENSOR, "--epochs", "1", "--profile")
        operations = self.good_json("show", "1")["profile"]["operations"]
        kinds = {entry["kind"] for entry in operations}
        self.assertLessEqual({"gather", "conv"}, {kind.split()[0] for kind in kinds}, kinds)
        for entry in operations:
            self.assertEqual([count > 0 for count in entry["calls"]], [True, True], entry)

    def test_a_model_is_laid_out_as_a_run_has_it(self):
        # Deterministic: else both measure which convolutions are fastest, and may choose others.
        for network in "lenet", "smallnet":
            options = ["--data", "glyphs", "--batch", "64", "--cpu-threads", "1", *TENSOR,
                       "--deterministic"]
            model = self.good_json("model", network, *options)
            text = self.good("train", *DATA, *options, "--model", network, "--epochs", "1",
                             "--momentum", "0", "--json")
            event = json.loads(text.splitlines()[0])
            self.assertEqual(event["strategy"], "tensor")
            for device, memory in zip(model["memory"], event["memory"], strict=True):
                self.assertEqual(device["total"], memory)
            self.assertEqual(model["tensor"]["bytes"], event["sync_bytes_per_step"])
            self.assertAlmostEqual(sum(device["share"] for device in model["tensor"]["devices"]), 1)

    def test_the_layers_of_resnet18(self):
        text = self.good("model", "resnet18", *TENSOR)
        self.assertIn("\ntensor: all 256 rows on each device, with a part of every layer's "
                      "channels\nDEVICE  ROWS  FLOPS\ncpu:0    256    50%\ncpu:1    256    50%\n", text)
        self.assertIn("a step all-gathers values in 18 places", text)

    def test_strategies_are_compared(self):
        text = self.good("compare", *DATA, "--devices", "cpu:0-1", "--strategies",
                         "data,pipeline,tensor", "--epochs", "2")
        for strategy in "data", "pipeline", "tensor":
            self.assertRegex(text, rf"\n2 devices  {strategy} ")
        self.assertRegex(text, r"On 2 devices \w+ is [0-9.]+ times as fast as \w+: .*"
                               r"\. On 2 devices \w+ is [0-9.]+ times as fast as \w+: ")

    def test_mistakes_are_told(self):
        for options, text in (
                (["--devices", "cpu:0-11"], "strategy tensor: lenet cannot be divided over 12"),
                (["--split", "auto"], "split auto: devices that divide layers"),
                (["--sync", "central"], "sync central: devices that divide layers")):
            self.assertIn(text, self.bad(2, "train", *DATA, *TENSOR, *options))


if __name__ == "__main__":
    unittest.main()
