#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that normalise pixels by the mean and std of their training rows, which checkpoints and saved
weights keep."""

import json
import math
import os
import random
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cli  # noqa: E402
from eval import write_idx  # noqa: E402

ROWS, SIDE = 20, 4
OF_DATA = 'mean = "data"; std = "data";'
SETTINGS = ["--batch", "10", "--lr", "0.1", "--cpu-threads", "1"]


def f32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def statistics(pixels):
    """Population mean and deviation, as numbers of single precision."""
    mean = math.fsum(pixels) / len(pixels)
    variance = math.fsum((p - mean) ** 2 for p in pixels) / len(pixels)
    return f32(mean / 255), f32(math.sqrt(variance) / 255)


class Normalization(cli.Case):
    def write_model(self, settings):
        path = self.path("model.conf")
        with open(path, "w", encoding="utf8") as file:
            file.write(f'default_input = [1, {SIDE}, {SIDE}]; default_classes = 10; {settings}\n'
                       'layers = ( "flatten", { type = "linear"; outputs = "classes"; } );\n')
        return path

    def write_data(self, seed, pixel=None):
        """Rows of random pixels, darker in test rows; the labels are in turns. Returns those of
        the training rows."""
        folder = self.path("few")
        os.makedirs(folder, exist_ok=True)
        rng = random.Random(seed)
        rows = {}
        for part, most in ("train", 255), ("t10k", 40):
            rows[part] = [[rng.randint(0, most) if pixel is None else pixel
                           for _ in range(SIDE * SIDE)] for _ in range(ROWS)]
            self.write_pixels(part, rows[part])
            write_idx(os.path.join(folder, part + "-labels-idx1-ubyte"), (ROWS,),
                      [i % 10 for i in range(ROWS)])
        return rows["train"]

    def write_pixels(self, part, rows):
        write_idx(os.path.join(self.path("few"), part + "-images-idx3-ubyte"), (ROWS, SIDE, SIDE),
                  [p for row in rows for p in row])

    def train(self, *arguments):
        """The numbers that the run says it has, as those of single precision that they are."""
        self.good("train", *arguments, "--log", self.path("log.jsonl"))
        with open(self.path("log.jsonl"), encoding="utf8") as file:
            run, = (event for event in map(json.loads, file) if event["event"] == "run")
        os.remove(self.path("log.jsonl"))
        return tuple([f32(x) for x in run[key]] if key in run else None for key in ("mean", "std"))

    def note(self, path):
        """The same of a file of weights."""
        with open(path, "rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            metadata = json.loads(file.read(length))["__metadata__"]
        if "dpartui_normalization" not in metadata:
            return None
        note = json.loads(metadata["dpartui_normalization"])
        return note["mean"], note["std"]

    def test_they_are_of_the_training_rows(self):
        rows = self.write_data(1)
        start = ["--model", self.write_model(OF_DATA), "--data", self.path("few"), *SETTINGS,
                 "--epochs", "1"]
        mean, std = statistics([p for row in rows for p in row])
        for devices in "cpu:0", "cpu:0-2":
            for split in "chunk", "balanced":
                self.assertEqual(self.train(*start, "--devices", devices, "--split", split),
                                 ([mean], [std]))
        mean, std = statistics([p for row in rows[:10] for p in row])
        self.assertEqual(self.train(*start, "--train-rows", "10"), ([mean], [std]))

    def test_validation_rows_do_not_count(self):
        """Rows that are trained on are those that change the weights of a network without
        normalization."""
        rows = self.write_data(1)
        folder, saved = self.path("few"), self.path("w.safetensors")
        start = ["--data", folder, *SETTINGS, "--epochs", "1", "--validation", "0.5"]

        def weights():
            self.train("--model", self.write_model(""), *start, "--save", saved)
            return self.tensors(saved)

        before, trained = weights(), []
        for i in range(ROWS):
            changed = [[255 - p for p in row] if k == i else row for k, row in enumerate(rows)]
            self.write_pixels("train", changed)
            if weights() != before:
                trained += rows[i]
        self.assertEqual(len(trained), ROWS // 2 * SIDE * SIDE)
        self.write_pixels("train", rows)
        mean, std = statistics(trained)
        self.assertEqual(self.train("--model", self.write_model(OF_DATA), *start), ([mean], [std]))

    def test_resumed_and_evaluated_runs_have_the_same(self):
        rows = self.write_data(1)
        model = self.write_model(OF_DATA)
        saved = self.path("w.safetensors")
        start = ["--model", model, "--data", self.path("few"), *SETTINGS]
        mean, std = statistics([p for row in rows for p in row])
        self.assertEqual(self.train(*start, "--epochs", "2", "--save", saved), ([mean], [std]))
        run = self.good_json("show", "1")
        folder = self.path("data/dpartui/checkpoints/1")
        newest = os.path.join(folder, sorted(name for name in os.listdir(folder)
                                             if "momentum" not in name)[-1])
        self.assertEqual(self.note(saved), ([mean], [std]))
        self.assertEqual(self.note(newest), ([mean], [std]))
        # Other training rows, the same test rows: whoever computed the numbers again would differ.
        self.write_other_training_rows()
        for arguments in (["--run", "1"], [newest], [saved, *start[:4]]):
            found = self.good_json("eval", *arguments)
            self.assertEqual(found["test_acc"], run["test_acc"])
            self.assertAlmostEqual(found["test_loss"], run["epochs"][-1]["test_loss"], places=12)
        self.assertEqual(self.train("--resume", "1", "--epochs", "3"), ([mean], [std]))
        # Weights to begin with bring theirs. New ones do not.
        self.assertEqual(self.train(*start, "--epochs", "1", "--init", saved), ([mean], [std]))
        others = self.train(*start, "--epochs", "1")
        self.assertNotEqual(others, ([mean], [std]))

    def write_other_training_rows(self):
        name = os.path.join(self.path("few"), "t10k-images-idx3-ubyte")
        os.rename(name, name + ".kept")
        self.write_data(2)
        os.replace(name + ".kept", name)

    def test_a_resumed_run_ends_as_one_that_was_not_stopped(self):
        self.write_data(1)
        start = ["--model", self.write_model(OF_DATA), "--data", self.path("few"), *SETTINGS,
                 "--momentum", "0.9"]
        whole, parts = self.path("whole.safetensors"), self.path("parts.safetensors")
        self.train(*start, "--epochs", "4", "--save", whole)
        self.train(*start, "--epochs", "2", "--save", parts)
        self.train("--resume", "2", "--epochs", "4")
        with open(whole, "rb") as first, open(parts, "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_they_are_what_the_network_sees(self):
        """The same numbers in the model file train the same weights."""
        self.write_data(1)
        start = ["--data", self.path("few"), *SETTINGS, "--epochs", "2"]
        of_data, fixed = self.path("a.safetensors"), self.path("b.safetensors")
        (mean,), (std,) = self.train("--model", self.write_model(OF_DATA), *start, "--save", of_data)
        self.assertEqual(self.train("--model", self.write_model(f"mean = {mean!r}; std = {std!r};"),
                                    *start, "--save", fixed), (None, None))
        self.assertEqual(self.tensors(of_data), self.tensors(fixed))
        self.assertIsNone(self.note(fixed))
        self.train("--model", self.write_model(""), *start, "--save", fixed)
        self.assertNotEqual(self.tensors(of_data), self.tensors(fixed))

    def tensors(self, path):
        with open(path, "rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            file.seek(8 + length)
            return file.read()

    def test_a_channel_without_deviation_is_divided_by_one(self):
        self.write_data(1, pixel=51)
        start = ["--model", self.write_model(OF_DATA), "--data", self.path("few"), *SETTINGS]
        self.assertEqual(self.train(*start, "--epochs", "1"), ([f32(0.2)], [1.0]))
        self.assertTrue(math.isfinite(self.good_json("show", "1")["epochs"][-1]["test_loss"]))

    def test_numbers_are_used_as_they_are(self):
        with open(self.path("vectors.conf"), "w", encoding="utf8") as file:
            file.write(f'default_input = [5, 1, 1]; default_classes = 2; {OF_DATA}\n'
                       'layers = ( { type = "linear"; outputs = "classes"; } );\n')
        self.assertEqual(self.train("--model", self.path("vectors.conf"), "--data", "random:40x5",
                                    *SETTINGS, "--epochs", "1"), (None, None))

    def test_mistakes(self):
        self.write_data(1)
        says = self.bad(2, "train", "--model", self.write_model('mean = "dat";'), "--data",
                        self.path("few"))
        self.assertIn('\'mean\' must be a number, an array of numbers, or "data"', says)


if __name__ == "__main__":
    if not os.path.exists(cli.PROGRAM):
        sys.exit("build the programs first")
    unittest.main()
