#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The script tests/gpu/bench with a made-up program and a made-up PyTorch."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

import program  # noqa: E402
from gpu_run import write  # noqa: E402

# Steps of 10 ms; settings of PyTorch of 40, 20 and 30 ms, and one that fails.
BENCHED = """#!/bin/sh
test -z "${FAKE_NO_GPU-}" || { echo "gpu-train: no device cuda:0" >&2; exit 2; }
for i in $(seq 120); do echo '{"event": "step", "seconds": 0.01}'; done
"""
FAKE_TORCH = """#!/bin/sh
case "$*" in
*--list*) printf 'eager\ngraph\ncompile\nmax-autotune\n'; exit ;;
*"--setting eager"*) seconds=0.04 ;;
*"--setting graph"*) seconds=0.02 ;;
*"--setting compile"*) seconds=0.03 ;;
*) echo "no Triton" >&2; exit 1 ;;
esac
echo '{"version": "9", "cuda": "13", "cudnn": 1, "seconds_per_step": '$seconds'}'
"""


class Bench(unittest.TestCase):
    def run_it(self, *arguments, **environment):
        with tempfile.TemporaryDirectory(prefix="gpu-bench.") as folder:
            path, python = os.path.join(folder, "gpu-train"), os.path.join(folder, "python")
            write(path, BENCHED)
            write(python, FAKE_TORCH)
            return subprocess.run(
                [os.path.join(program.HERE, "gpu", "bench"), "--program", path, *arguments],
                env={**os.environ, "PYTHON": python, **environment}, text=True, timeout=120,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def test_ratio_is_to_the_fastest(self):
        done = self.run_it("--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("| 1024 | bf16 | 102400 (102400-102400) | 51200 (51200-51200) | graph | 2.00 |",
                     "| 256 | bf16 | 25600 (25600-25600) | 12800 (12800-12800) | graph | 2.00 |",
                     "| 1024 | f32 |"):
            self.assertIn(line, done.stdout)
        self.assertIn("max-autotune: no Triton", done.stderr)
        self.assertNotIn("round 1 of 2, batch 1024, bf16, PyTorch eager", done.stderr)

    def test_glance(self):
        done = self.run_it("--glance")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| 1024 | bf16 | 102400 (102400-102400) | 34133 (34133-34133) | compile | "
                      "3.00 |", done.stdout)
        self.assertIn("| 256 | bf16 | 25600 ", done.stdout)
        self.assertNotIn("4096", done.stdout)
        self.assertIn("PyTorch eager: 25600 samples/s", done.stderr)

    def test_without_a_gpu(self):
        done = self.run_it(FAKE_NO_GPU="1")
        self.assertEqual(done.returncode, program.SKIP)
        self.assertIn("no device cuda:0", done.stdout)


if __name__ == "__main__":
    unittest.main()
