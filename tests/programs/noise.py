#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gradient noise scale beside PyTorch's gradients of single rows, on the same weights and rows.

200 batches at rate 0; the program's estimate of their noise has to lie within a tenth of what PyTorch
finds (tests/fixtures/noise.json, made by make_noise.py).
"""

import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

import parity_data  # noqa: E402
import program  # noqa: E402

with open(os.path.join(program.HERE, "fixtures", "noise.json"), encoding="utf-8") as fixtures:
    FIXTURES = json.load(fixtures)


class Noise(unittest.TestCase):
    def check(self, model, *ways):
        case, expected = parity_data.NOISE[model], FIXTURES[model]
        self.assertEqual(expected["case"], case, "run make_noise.py again")
        with tempfile.TemporaryDirectory(prefix="noise.") as folder:
            initial = os.path.join(folder, "initial.safetensors")
            parity_data.write_rows(case, os.path.join(folder, "rows"))
            parity_data.write_safetensors(initial, list(parity_data.initial_weights(model)))
            for way in ways:
                events = program.train({
                    "model": model, "data": os.path.join(folder, "rows"), "init": initial,
                    "order": "sequential", "batch": case["batch"], "epochs": 1, "lr": 0,
                    "recipe": "none", "cpu-threads": 1, **way})
                with self.subTest(way=way):
                    found = events["epoch"][-1]["noise_scale"]
                    print(f"{model} {way}: {found:.4g} rows, PyTorch {expected['rows']:.4g}")
                    self.assertAlmostEqual(found / expected["rows"], 1, delta=0.1)

    def test_of_single_rows(self):
        self.check("lenet", {"devices": "cpu:0-1"}, {"devices": "cpu:0", "noise-every": 1},
                   {"devices": "cpu:0-2", "split": "weighted:1,5,2"})

    def test_with_batchnorm(self):
        self.check("smallnet", {"devices": "cpu:0-1"}, {"devices": "cpu:0", "noise-every": 1})


if __name__ == "__main__":
    unittest.main()
