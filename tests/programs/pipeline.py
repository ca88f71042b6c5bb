#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs whose devices are the stages of a pipeline, from the outside."""

import json
import os
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import divided_case  # noqa: E402
from divided_case import DATA  # noqa: E402

STAGES = ["--strategy", "pipeline", "--devices", "cpu:0-1"]
UNITS = """default_input = [ 1, 20, 20 ];
default_classes = 10;
layers = (
    { type = "conv"; channels = 6; kernel = 3; stride = 2; pad = 1; }, "relu",
    { type = "residual"; name = "unit"; layers = (
          { type = "conv"; channels = 4; kernel = 1; }, "relu",
          { type = "conv"; channels = 4; kernel = 3; pad = 1; }, "relu",
          { type = "conv"; channels = 6; kernel = 1; }); after = ("relu"); },
    "global_avgpool", "flatten", { type = "linear"; name = "fc"; outputs = "classes"; });
"""


def filled_up():
    """Bytes of lenet's gradients that are no parameters: its 6 channels, filled up to a block."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = file.read()
    block = 16 if "avx512f" in flags else 8 if "avx2" in flags else 6
    return 4 * (block - 6) * (25 * 1 + 25 * 16 + 1)


class Pipeline(divided_case.Case):
    def test_it_trains_as_one_device_does(self):
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "2")
        for options in ([], ["--micro-batches", "5", "--devices", "cpu:0-2"],
                        ["--stages", "4"], ["--devices", "cpu:0-3", "--replicas", "2"]):
            self.good("train", *DATA, *STAGES, *options, "--epochs", "2")
        for run in "2", "3", "4", "5":
            self.same_losses(run, "1")

    def test_stages_within_a_unit_train_as_one_device_does(self):
        path = self.path("units.conf")
        with open(path, "w", encoding="utf8") as file:
            file.write(UNITS)
        units = [*DATA, "--model", path, "--epochs", "2"]
        self.good("train", *units, "--devices", "cpu:0")
        for options in (["--stages", "unit.0"], ["--stages", "unit.2"],
                        ["--devices", "cpu:0-2", "--stages", "unit.0,unit.2"],
                        ["--devices", "cpu:0-3", "--stages", "1,unit.0,unit.2"]):
            self.good("train", *units, *STAGES, *options)
        for run in "2", "3", "4", "5":
            self.same_losses(run, "1")
        self.assertNotEqual(*self.losses("1"))
        self.assertIn("cut after 'unit.4', but after 'unit.2' or 'unit'",
                      self.bad(2, "train", *units, *STAGES, "--stages", "unit.4"))

    def test_runs_tell_their_stages(self):
        text = self.good("train", *DATA, *STAGES, "--epochs", "1", "--stages", "4", "--json")
        event = json.loads(text.splitlines()[0])
        self.assertEqual((event["strategy"], event["stages"], event["micro_batches"]),
                         ("pipeline", "4", 8))
        self.assertGreater(event["sync_bytes_per_step"], 0)
        self.assertEqual(len(event["memory"]), 2)

    def test_on_its_own_devices_a_run_keeps_its_stages(self):
        self.good("train", *DATA, *STAGES, "--epochs", "1", "--stages", "4", "--micro-batches", "3")
        self.good("train", "--resume", "1", "--epochs", "2", "--devices", "cpu:0,cpu:1")
        spec = self.good_json("show", "1")["spec"]
        self.assertEqual((spec["micro_batches"], spec["stages"]), (3, "4"))
        self.good("train", "--resume", "1", "--epochs", "3", "--devices", "cpu:0-2")
        self.assertNotEqual(self.good_json("show", "1")["spec"]["micro_batches"], 3)

    def test_chosen_stages_are_told_too(self):
        text = self.good("train", *DATA, *STAGES, "--epochs", "1", "--json")
        self.assertRegex(json.loads(text.splitlines()[0])["stages"], r"^\w+$")

    def test_a_run_goes_on_with_another_strategy(self):
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "4")
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "2")
        self.good("train", "--resume", "2", *STAGES, "--epochs", "3")
        self.good("train", "--resume", "2", "--strategy", "data", "--devices", "cpu:0", "--epochs",
                  "4")
        self.assertEqual(self.good_json("show", "2")["warnings"], [])
        self.same_losses("2", "1")

    def test_validation_rows_are_evaluated_by_stages(self):
        self.expect_evaluations_of_one_device(*STAGES, "--devices", "cpu:0-2")

    def test_a_killed_run_resumes_with_the_same_bits(self):
        # Bits of a clipped step depend on the stages, which are measured again unless they are kept.
        self.expect_same_bits_after_a_kill(*STAGES, "--stages", "2")

    def test_pipelines_in_parallel_resume_with_the_same_bits(self):
        self.expect_same_bits_after_a_kill(*STAGES, "--devices", "cpu:0-3", "--replicas", "2",
                                           "--stages", "2")

    def test_pipelines_in_parallel_stay_where_devices_allow_it(self):
        self.good("train", *DATA, *STAGES, "--devices", "cpu:0-3", "--replicas", "2", "--epochs",
                  "1")
        for epochs, devices, replicas in ("2", "cpu:0-1", 2), ("3", "cpu:0-2", None):
            self.good("train", "--resume", "1", "--devices", devices, "--epochs", epochs)
            self.assertEqual(self.good_json("show", "1").get("replicas"), replicas)

    def test_pipelines_in_parallel_are_laid_out(self):
        replicas = [*STAGES, "--devices", "cpu:0-3", "--replicas", "2", "--stages", "4",
                    "--deterministic"]
        model = self.good_json("model", "lenet", "--data", "glyphs", "--batch", "64",
                               "--cpu-threads", "1", *replicas)
        text = self.good("train", *DATA, *replicas, "--epochs", "1", "--momentum", "0", "--json")
        event = json.loads(text.splitlines()[0])
        self.assertEqual([device["total"] for device in model["memory"]], event["memory"])
        pipeline = model["pipeline"]
        self.assertEqual((pipeline["replicas"], pipeline["rows"]), (2, 4))
        self.assertAlmostEqual(pipeline["bytes"] + filled_up(), event["sync_bytes_per_step"],
                               delta=1000)
        self.assertAlmostEqual(sum(stage["share"] for stage in pipeline["stages"]), 1)
        self.assertEqual([stage["last_layer"] for stage in pipeline["stages"]],
                         ["4", "11", "4", "11"])
        self.assertEqual(self.good_json("show", "1")["replicas"], 2)
        self.assertEqual(len(self.good_json("show", "1")["timeline"]["stages"]), 2)
        self.assertRegex(self.good("show", "1"),
                         r"\npipeline, step \d+ of the first of 2 pipelines: \S+ s, ")
        self.assertIn("pipeline: mini-batches of 64 rows over 2 pipelines, each in 8 micro-batches "
                      "of 4\n", self.good("model", "lenet", "--data", "glyphs", "--batch", "64",
                                          *replicas))

    def test_a_pipeline_without_rows_is_planned(self):
        # Of the last mini-batch, of one row, the second pipeline has none.
        rows = ["--train-rows", "31", "--batch", "10", *STAGES, "--devices", "cpu:0-3", "--replicas",
                "2"]
        for split in "chunk", "balanced":
            self.good("model", "lenet", "--data", "glyphs", *rows, "--split", split)
        self.good("train", *DATA, *rows, "--epochs", "2", "--memory-limit", "1G")

    def test_counts_of_devices_that_are_no_multiple_are_refused(self):
        replicas = ["--strategy", "pipeline", "--replicas", "2", "--epochs", "1"]
        self.assertIn("replicas 2: 3 devices cannot be divided equally", self.bad(
            2, "compare", *DATA, *replicas, "--devices", "cpu:0-2"))
        text = self.good("compare", *DATA, *replicas, "--devices", "cpu:0-1")
        self.assertRegex(text, r"\n1 device ")

    def test_replicas_are_of_pipelines_alone(self):
        self.good("train", *DATA, "--strategy", "tensor", "--devices", "cpu:0-1", "--replicas", "2",
                  "--epochs", "1")
        self.assertNotIn("replicas", self.good_json("show", "1").keys() - {"settings"})

    def test_resumed_stages_are_those_of_before(self):
        text = self.good("train", *DATA, *STAGES, "--epochs", "1", "--json")
        first = json.loads(text.splitlines()[0])["stages"]
        text = self.good("train", "--resume", "1", "--epochs", "2", "--json")
        events = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([event["stages"] for event in events if event["event"] == "run"],
                         [first, first])

    def test_a_profile_has_the_operations_of_all_stages(self):
        self.good("train", *DATA, *STAGES, "--epochs", "1", "--stages", "4", "--profile")
        profile = self.good_json("show", "1")["profile"]
        calls = {entry["layer"]: entry["calls"] for entry in profile["operations"]
                 if entry["direction"] == "forward"}
        self.assertEqual({layer: [count > 0 for count in of] for layer, of in calls.items()
                          if layer in ("0", "3", "7")},
                         {"0": [True, False], "3": [True, False], "7": [False, True]})

    def test_settings_without_a_use_are_told(self):
        self.good("train", *DATA, "--devices", "cpu:0-1", "--epochs", "1", "--micro-batches", "4",
                  "--stages", "4")
        warnings = " ".join(self.good_json("show", "1")["warnings"])
        self.assertIn("not used: micro-batches, stages: only a pipeline has them", warnings)
        self.assertIn("one device has one stage", self.bad(
            2, "train", *DATA, *STAGES, "--devices", "cpu:0", "--stages", "4"))

    def test_a_model_is_laid_out_as_a_run_has_it(self):
        options = ["--data", "glyphs", "--batch", "64", "--cpu-threads", "1", *STAGES,
                   "--micro-batches", "8", "--stages", "4"]
        model = self.good_json("model", "lenet", *options)
        text = self.good("train", *DATA, *STAGES, "--stages", "4", "--epochs", "1", "--momentum",
                         "0", "--json")
        event = json.loads(text.splitlines()[0])
        for device, memory in zip(model["memory"], event["memory"], strict=True):
            self.assertAlmostEqual(device["total"], memory, delta=0.1 * memory)
        pipeline = model["pipeline"]
        self.assertEqual([stage["last_layer"] for stage in pipeline["stages"]], ["4", "11"])
        self.assertAlmostEqual(sum(stage["share"] for stage in pipeline["stages"]), 1)
        self.assertGreater(pipeline["bubble"], pipeline["fill_drain"])
        self.assertEqual((pipeline["micro_batches"], pipeline["rows"]), (8, 8))

    def test_a_step_is_drawn(self):
        self.good("train", *DATA, *STAGES, "--stages", "4", "--epochs", "3")
        run = self.good_json("show", "1")
        self.assertEqual((run["timeline"]["epoch"], run["timeline"]["micro_batches"]), (3, 8))
        stages = run["timeline"]["stages"]
        self.assertEqual([stage["last_layer"] for stage in stages], ["4", "11"])
        for stage in stages:
            for passes in stage["forward"], stage["backward"], stage["update"]:
                self.assertEqual(passes, sorted(passes))
            self.assertEqual((len(stage["forward"]), len(stage["backward"])), (16, 16))
        # Of the second stage gradients of linear layers, too, for two micro-batches at a time.
        self.assertEqual([len(stage["update"]) for stage in stages], [2, 10])
        # The second stage cannot begin before the first has handed over.
        for i in range(8):
            self.assertLessEqual(stages[0]["forward"][2 * i + 1], stages[1]["forward"][2 * i] + 1)
            self.assertLessEqual(stages[1]["backward"][2 * i + 1],
                                 stages[0]["backward"][2 * i] + 1)
        text = self.good("show", "1")
        self.assertRegex(text, r"\npipeline, step \d+: \S+ s, \d+% bubble \(predicted \d+%\)")
        self.assertRegex(text, r"\n  cpu:0   [0-9a-j+.]{60} +\d+% 4\n")
        path = self.path("step.svg")
        self.good("show", "1", "--svg-step", path)
        root = xml.etree.ElementTree.parse(path).getroot()
        boxes = root.findall(".//{http://www.w3.org/2000/svg}rect")
        self.assertEqual(len(boxes), 1 + (8 + 8 + 1) + (8 + 8 + 5) + 3)
        # What the store and a running engine know is the same.
        self.good("engine", "stop")
        self.assertEqual(self.good_json("show", "1")["timeline"]["stages"], stages)
        self.good("train", *DATA, "--devices", "cpu:0", "--epochs", "1")
        self.assertIn("run 2 has no step to draw", self.bad(1, "show", "2", "--svg-step", path))
        for other in "--json", "--profile":
            self.assertIn(f"--svg-step and {other} exclude each other",
                          self.bad(2, "show", "1", "--svg-step", path, other))

    def test_what_stages_hand_over_is_counted_as_it_lies(self):
        """The six channels of lenet's first layers lie in blocks of more."""
        cut = [*STAGES, "--devices", "cpu:0-1", "--stages", "2"]
        model = self.good_json("model", "lenet", "--data", "glyphs", "--batch", "64", *cut)
        text = self.good("train", *DATA, *cut, "--epochs", "1", "--max-steps", "2", "--json")
        self.assertEqual(model["pipeline"]["bytes"],
                         json.loads(text.splitlines()[0])["sync_bytes_per_step"])

    def test_the_stages_of_resnet18(self):
        pipeline = self.good_json("model", "resnet18", *STAGES, "--micro-batches", "8")["pipeline"]
        self.assertEqual([stage["last_layer"] for stage in pipeline["stages"]],
                         ["resnet_block3.0.bn1", "fc"])
        self.assertEqual(pipeline["bytes"], 2 * 256 * (128 * 14 * 14 + 256 * 7 * 7) * 4)
        # Equal stages would be 16/9 times one device; here the first, which takes longer, need not
        # wait for the second until the end.
        self.assertAlmostEqual(pipeline["speedup"], 1.810, delta=0.01)
        text = self.good("model", "resnet18", *STAGES, "--micro-batches", "8")
        self.assertIn("pipeline: mini-batches of 256 rows in 8 micro-batches of 32\n", text)
        self.assertIn("by FLOPs 1.81 times one device", text)

    def test_mistakes_are_told(self):
        for options, text in (
                (["--stages", "nobody"], "stages: lenet has no layer or unit 'nobody'"),
                (["--devices", "cpu:0-9"], "lenet can be cut into"),
                (["--replicas", "3"], "replicas 3: 2 devices cannot be divided equally over 3"),
                (["--replicas", "0"], "replicas"),
                (["--micro-batches", "65"], "micro-batches 65: a mini-batch has 64 rows"),
                (["--split", "auto"], "split auto: the stages of a pipeline"),
                (["--sync", "central"], "sync central: the stages of a pipeline"),
                (["--sync-bn"], "sync-bn: statistics of the whole mini-batch"),
                (["--strategy", "sideways"], "sideways")):
            self.assertIn(text, self.bad(2, "train", *DATA, *STAGES, *options))


if __name__ == "__main__":
    unittest.main()
