#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs whose devices may use so much memory, and no more."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

# Much larger in its layers than in what lies between them.
NETWORK = """
default_input = [ 1, 28, 28 ];
default_classes = 10;
layers = ( "flatten",
    { type = "linear"; name = "one"; outputs = 1024; }, "relu",
    { type = "linear"; name = "two"; outputs = 1024; }, "relu",
    { type = "linear"; name = "three"; outputs = 1024; }, "relu",
    { type = "linear"; name = "four"; outputs = "classes"; } );
"""
PLACE = ["--data", "glyphs", "--train-rows", "64", "--batch", "32", "--cpu-threads", "1"]


class Memory(cli.Case):
    def setUp(self):
        super().setUp()
        self.model = self.path("wide.conf")
        with open(self.model, "w", encoding="utf-8") as file:
            file.write(NETWORK)
        self.options = ["--model", self.model, *PLACE, "--test-rows", "32", "--epochs", "1", "--lr",
                        "0.01"]
        self.described = [self.model, *PLACE]

    def needs(self, *options):
        model = self.good_json("model", *self.described, *options)
        return max(device["total"] for device in model["memory"])

    def test_what_does_not_fit_one_device_fits_two(self):
        one = self.needs("--devices", "cpu:0")
        limit = ["--memory-limit", str(int(0.8 * one))]
        text = self.bad(2, "train", *self.options, "--devices", "cpu:0", *limit)
        self.assertRegex(text, r"memory-limit [0-9.]+ MiB: cpu:0 would need [0-9.]+ MiB: on 2 "
                               r"devices --strategy pipeline \([0-9.]+ MiB\), tensor "
                               r"\([0-9.]+ MiB\) or mixed \([0-9.]+ MiB\) would fit")
        for strategy in "pipeline", "tensor", "mixed":
            text = self.good("train", *self.options, "--devices", "cpu:0-1", "--strategy", strategy,
                             *limit, "--json")
            self.assertLessEqual(max(json.loads(text.splitlines()[0])["memory"]), 0.8 * one)
        # Of divided data each device has the whole network.
        text = self.bad(2, "train", *self.options, "--devices", "cpu:0-1", *limit)
        self.assertRegex(text, r"with --strategy pipeline \([0-9.]+ MiB\), tensor \([0-9.]+ "
                               r"MiB\) or mixed \([0-9.]+ MiB\) it would fit")

    def test_no_more_devices_are_proposed_than_needed(self):
        tensor = ["--strategy", "tensor", "--devices"]
        two, three = (self.needs(*tensor, devices) for devices in ("cpu:0-1", "cpu:0-2"))
        self.assertLess(three, two)
        self.assertRegex(self.good("model", *self.described, "--devices", "cpu:0",
                                   "--memory-limit", str(three)),
                         r"on 3 devices --strategy .*tensor \([0-9.]+ MiB\)")

    def test_a_model_tells_it_beforehand(self):
        limit = ["--memory-limit", "5M", "--devices", "cpu:0"]
        self.assertIn("\nmemory-limit 5.0 MiB: cpu:0 would need ",
                      self.good("model", *self.described, *limit))
        model = self.good_json("model", *self.described, *limit)
        self.assertRegex(model["over_limit"], r"with a batch of one row it would still be [0-9.]+ MiB")
        self.assertNotIn("over_limit", self.good_json("model", *self.described))

    def test_what_fits_is_trained(self):
        one = self.needs("--devices", "cpu:0")
        self.good("train", *self.options, "--devices", "cpu:0", "--memory-limit",
                  str(int(1.2 * one)))

    def test_a_smaller_batch_is_proposed_where_it_helps(self):
        # No pipeline has synchronised BatchNorm.
        options = [*PLACE, "--batch", "2048", "--train-rows", "2048", "--devices", "cpu:0"]
        need = self.good_json("model", "smallnet", *options)["memory"][0]["total"]
        text = self.bad(2, "train", "--model", "smallnet", *options, "--epochs", "1", "--sync-bn",
                        "--memory-limit", str(need // 6))
        self.assertIn("a smaller batch would fit", text)

    def test_rows_of_the_test_after_validation_count(self):
        rows = ["--model", "smallnet", *PLACE, "--batch", "4", "--devices", "cpu:0", "--epochs", "1",
                "--train-rows", "400", "--test-rows", "400", "--memory-limit", "5M"]
        for more in [], ["--validation", "0.1"]:
            self.assertIn("memory-limit 5.0 MiB: cpu:0 would need ",
                          self.bad(2, "train", *rows, *more))

    def test_a_device_that_is_listed_twice_needs_both(self):
        one = self.needs("--devices", "cpu:0")
        self.assertIn("cpu:0 would need", self.bad(
            2, "train", *self.options, "--devices", "cpu:0,cpu:0", "--memory-limit",
            str(int(1.2 * one))))

    def test_shares_that_change_have_no_limit(self):
        self.assertIn("memory-limit: split auto", self.bad(
            2, "train", *self.options, "--devices", "cpu:0-1", "--split", "auto", "--memory-limit",
            "1G"))

    def test_a_refused_resume_leaves_the_run_as_it_was(self):
        self.good("train", *self.options, "--devices", "cpu:0")
        before = self.good_json("show", "1")
        self.assertIn("memory-limit 10.0 KiB: cpu:0 would need",
                      self.bad(2, "train", "--resume", "1", "--epochs", "2", "--memory-limit",
                               "10K"))
        self.assertEqual(self.good_json("show", "1"), before)
        self.good("train", "--resume", "1", "--epochs", "2")

    def test_an_evaluation_has_no_limit_of_training(self):
        weights = self.path("weights.safetensors")
        self.good("train", *self.options, "--devices", "cpu:0", "--save", weights)
        self.env["DPARTUI_MEMORY_LIMIT"] = "1M"
        self.bad(2, "train", *self.options, "--devices", "cpu:0")
        self.good("eval", weights, "--model", self.model, "--data", "glyphs", "--test-rows", "20")

    def test_sizes_are_read(self):
        self.assertIn("a number of bytes, such as 200M",
                      self.bad(2, "train", *self.options, "--memory-limit", "much"))


if __name__ == "__main__":
    unittest.main()
