#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where a run's time went: --profile of train and show, its event, and what the store keeps of it."""

import json
import os
import re
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402

PARTS = ("operations", "input", "loss", "optimizer", "sync", "wait", "split", "metrics", "rest")
OUTSIDE = ["all operations", *PARTS[1:]]
DIRECTIONS = ["forward", "statistics", "forward again", "backward", "data gradient", "weight gradient",
              "relu gradient", "gradient sum"]
# What is part of the operation before it, or only another name for the same numbers.
WITHOUT_WORK = ("relu", "add", "flatten")


def settings(model, *extra):
    """4 steps of an epoch, the last one short."""
    return ["--model", model, "--data", "glyphs", "--batch", "24", "--train-rows", "80",
            "--test-rows", "24", "--epochs", "1", "--cpu-threads", "1", "--init", "default", "--lr",
            "0.01", *extra]


def tables(text):
    """The rows of each table of a profile, as lists of cells."""
    found = []
    for line in text.splitlines():
        if line.startswith("LAYER "):
            found.append([])
        elif found and line.count("%") == 1:
            found[-1].append(re.split(r"  +", line.strip()))
    return found


class Profile(cli.Case):
    def profile(self, *arguments):
        out = self.good("train", *arguments, "--profile", "--json", "--foreground")
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([event["event"] for event in events[-2:]], ["profile", "end"])
        return events[-2]

    def check(self, event, devices):
        """What holds of any profile."""
        self.assertEqual([device["device"] for device in event["devices"]], devices)
        self.assertGreater(event["seconds"], 0)
        exact = 1e-6 * event["seconds"]
        for i, device in enumerate(event["devices"]):
            times = [device[f"{part}_s"] for part in PARTS]
            self.assertGreaterEqual(min(times), 0)
            self.assertAlmostEqual(sum(times), event["seconds"], delta=exact)
            operations = sum(operation["seconds"][i] for operation in event["operations"])
            self.assertAlmostEqual(operations, device["operations_s"], delta=exact)
            self.assertGreater(operations, 0)
            self.assertLess(operations, event["seconds"])
            self.assertIs(device["passes_only"], False)
        for operation in event["operations"]:
            self.assertEqual(len(operation["calls"]), len(devices))
            self.assertEqual(len(operation["seconds"]), len(devices))
            self.assertIn(operation["direction"], DIRECTIONS)
            self.assertGreater(max(operation["calls"]), 0)

    def test_the_parts_make_up_the_steps(self):
        event = self.profile(*settings("smallnet"), "--devices", "cpu:0")
        self.check(event, ["cpu:0"])
        self.assertEqual((event["steps"], event["left_out"]), (3, 1))
        self.assertEqual((event["epoch"], event["step"]), (1, 4))
        device, = event["devices"]
        self.assertEqual(device["rows"], 24 + 24 + 8)
        self.assertEqual((device["sync_s"], device["wait_s"]), (0, 0))
        for part in ("input", "loss", "optimizer", "split", "metrics"):
            self.assertGreater(device[f"{part}_s"], 0)

    def test_a_single_step_counts(self):
        event = self.profile(*settings("linear"), "--max-steps", "1", "--devices", "cpu:0")
        self.check(event, ["cpu:0"])
        self.assertEqual((event["steps"], event["left_out"]), (1, 0))

    def test_several_devices(self):
        event = self.profile(*settings("smallnet"), "--devices", "cpu:0-2", "--sync-bn")
        self.check(event, ["cpu:0", "cpu:1", "cpu:2"])
        self.assertEqual([device["rows"] for device in event["devices"]], [19, 19, 18])
        for device in event["devices"]:
            self.assertGreater(device["sync_s"], 0)
        self.assertTrue(all(calls == 3 for operation in event["operations"]
                            for calls in operation["calls"]))

    def test_devices_without_rows(self):
        event = self.profile("--model", "linear", "--data", "random:5x10", "--batch", "2",
                             "--test-rows", "1", "--epochs", "1", "--devices", "cpu:0-3")
        self.assertEqual([device["rows"] for device in event["devices"]], [2, 1, 0, 0])
        self.assertEqual(event["devices"][3]["operations_s"], 0)
        self.assertTrue(all(operation["calls"][3] == 0 for operation in event["operations"]))

    def test_other_shares_on_the_way(self):
        """Plans come and go; what they measured stays."""
        event = self.profile(*settings("smallnet"), "--epochs", "40", "--devices", "cpu:0-1",
                             "--split", "auto")
        self.check(event, ["cpu:0", "cpu:1"])
        self.assertEqual(event["steps"], 159)
        self.assertEqual(sum(device["rows"] for device in event["devices"]), 40 * 80 - 24)
        for direction in ("forward", "weight gradient"):
            calls = [operation["calls"] for operation in event["operations"]
                     if operation["layer"] == "0" and operation["direction"] == direction]
            self.assertEqual([sum(device) for device in zip(*calls)], [159, 159])

    def test_every_layer_is_there(self):
        for model in ("smallnet", "lenet", "cifar-cnn", "resnet18"):
            layers = self.good_json("model", model, "--data", "glyphs")["layers"]
            event = self.profile(*settings(model), "--batch", "4", "--test-rows", "4", "--devices",
                                 "cpu:0", "--max-steps", "2")
            self.check(event, ["cpu:0"])
            rows = event["devices"][0]["rows"]
            parts = {}
            for operation in event["operations"]:
                parts.setdefault(operation["layer"], {})[operation["direction"]] = operation
            places = [layer["name"] for layer in layers if layer["name"] in parts]
            self.assertEqual(places, list(parts), "not in the network's order")
            for layer in layers:
                if layer["kind"] in WITHOUT_WORK:
                    continue
                own = parts[layer["name"]]
                trained = layer["flops"] > 0
                self.assertEqual(own["forward"]["kind"].split(" + ")[0], layer["kind"])
                self.assertEqual(own["forward"]["flops"], rows * layer["flops"])
                self.assertIn("weight gradient" if trained else "backward", own)
                if trained:
                    self.assertEqual(own["weight gradient"]["flops"], rows * layer["flops"])
                else:
                    self.assertEqual(own["forward"]["bytes"] > 0,
                                     own["forward"]["method"] != "fused")
            self.assertNotIn("data gradient", parts[layers[0]["name"]])
            self.assertTrue(all(operation["method"] for operation in event["operations"]
                                if operation["kind"].startswith("conv") and operation["flops"] > 0))

    def test_a_long_chain_that_trains_rows_side_by_side(self):
        """As many operations as fill the table of steps to its end."""
        with open(self.path("chain.conf"), "w", encoding="utf8") as file:
            file.write('default_input = [ 1, 28, 28 ]; default_classes = 10; ' +
                       'layers = ( "flatten", ' +
                       '{ type = "linear"; outputs = 64; }, "tanh", ' * 10 +
                       '{ type = "linear"; outputs = "classes"; } );\n')
        event = self.profile(*settings(self.path("chain.conf")), "--devices", "cpu:0")
        self.check(event, ["cpu:0"])
        self.assertEqual(sum(operation["direction"] == "forward"
                             for operation in event["operations"]), 21)

    def test_tables(self):
        text = self.good("train", *settings("smallnet"), "--devices", "cpu:0", "--profile",
                         "--foreground")
        rows, = tables(text)
        self.assertEqual([row[1] for row in rows[-len(OUTSIDE):]], OUTSIDE)
        times = [float(row[4]) for row in rows[:-len(OUTSIDE)]]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertRegex(text, r"\nprofile of 3 steps, [\d.]+ ms each\n")
        self.assertRegex(text.splitlines()[-1], r"^test acc .* on \[cpu:0\]$")
        ordered = self.good("train", *settings("smallnet"), "--devices", "cpu:0-1",
                            "--profile=order", "--foreground")
        every = tables(ordered)
        self.assertEqual(len(every), 3)
        for rows in every:
            self.assertEqual([row[0] for row in rows[:3]], ["0", "0", "1"])
        self.assertIn("all 2 devices", ordered)
        plain = self.good("train", *settings("smallnet"), "--devices", "cpu:0", "--foreground")
        self.assertNotIn("profile", plain)

    def test_it_is_kept(self):
        out = self.good("train", *settings("smallnet"), "--devices", "cpu:0-1", "--profile",
                        "--json")
        event = [json.loads(line) for line in out.splitlines()][-2]
        self.check(event, ["cpu:0", "cpu:1"])
        self.good("train", *settings("linear"))
        for engine in (True, False):
            if not engine:
                self.good("engine", "stop")
            shown = self.good_json("show", "1")
            self.assertEqual(shown["profile"], event)
            self.assertIs(shown["spec"]["profile"], True)
            self.assertEqual(json.loads(self.good("show", "1", "--profile", "--json")), event)
            self.assertEqual(len(tables(self.good("show", "1", "--profile=order"))), 3)
            self.assertNotIn("profile", self.good_json("show", "2"))
            self.assertIn("no profile", self.bad(1, "show", "2", "--profile"))

    def test_a_run_that_goes_on_has_another(self):
        self.good("train", *settings("smallnet"), "--devices", "cpu:0", "--profile")
        self.good("train", "--resume", "1", "--epochs", "3", "--profile")
        event = self.good_json("show", "1")["profile"]
        self.check(event, ["cpu:0"])
        self.assertEqual((event["steps"], event["left_out"], event["step"]), (7, 1, 12))

    def test_limits_and_steps_without_it(self):
        """A profile as GPUs have it, read from the store."""
        self.good("train", *settings("linear"), "--devices", "cpu:0", "--profile")
        self.good("engine", "stop")
        with sqlite3.connect(self.path("data/dpartui/runs.db")) as store:
            event, = store.execute("SELECT event FROM events WHERE name = 'profile'").fetchone()
            event = json.loads(event)
            event.update(steps=10, seconds=0.04, unprofiled_steps=3, unprofiled_s=0.0105)
            event["devices"][0].update(device="cuda:0", rows=100, flops_limit=1e15,
                                       bytes_limit=None)
            event["operations"] = [
                {"layer": "a", "kind": "conv", "direction": "forward", "method": "cuDNN eng7",
                 "calls": [10], "seconds": [0.01], "flops": 4e12, "bytes": 2e10},
                {"layer": "b", "kind": "batchnorm", "direction": "statistics",
                 "method": "own kernel", "calls": [10], "seconds": [0.005], "flops": 0,
                 "bytes": 5e8}]
            store.execute("UPDATE events SET event = ? WHERE name = 'profile'",
                          (json.dumps(event),))
        text = self.good("show", "1", "--profile=order")
        self.assertIn("profile of 10 steps, 4.000 ms each; 3 steps without it took 3.500 ms each\n",
                      text)
        self.assertIn("cuda:0, 100 rows; limits by its units and clocks: 1000.0 TFLOP/s, -\n", text)
        cells = [re.split(r"  +", line.strip()) for line in text.splitlines()]
        self.assertIn(["LAYER", "KIND", "PART", "CALLS", "MS/STEP", "OF STEP", "WORK", "OF LIMIT",
                       "MEMORY", "OF LIMIT", "METHOD"], cells)
        self.assertIn(["a", "conv", "forward", "10", "1.000", "25.00 %", "400.0 TFLOP/s", "40.0 %",
                       "2.0 TB/s", "-", "cuDNN eng7"], cells)
        self.assertIn(["b", "batchnorm", "statistics", "10", "0.500", "12.50 %", "-", "-",
                       "100.0 GB/s", "-", "own kernel"], cells)

    def test_mistakes(self):
        self.assertIn("time|order", self.bad(2, "train", "--profile=speed"))
        self.assertIn("time|order", self.bad(2, "show", "1", "--profile=speed"))
        self.assertIn("'order'", self.bad(2, "train", "--profile", "order"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
