#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A short training on the real Fashion-MNIST reaches the accuracy that it should.

    DPARTUI_DATA_DIR=DIR python3 tests/programs/realdata.py

DIR holds the four files, or a folder fashion-mnist with them; elsewhere the test is skipped. One
epoch of smallnet, batch 256, learning rate 0.01, momentum 0.9, on two devices. PyTorch with the
same settings on one device reached 0.868, 0.868, 0.875 and 0.878 with four seeds: mean 0.872, spread
0.005. The bound is six spreads below, and above what a linear network reaches.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

import program  # noqa: E402

BOUND = 0.84
STEPS = 235  # 234 of 256 rows and one of 96
FILES = tuple(f"{part}-{what}-ubyte" for part in ("train", "t10k")
              for what in ("images-idx3", "labels-idx1"))


def data_folder():
    base = os.environ.get("DPARTUI_DATA_DIR")
    if not base:
        program.skip("DPARTUI_DATA_DIR does not say where the four Fashion-MNIST files are")
    for folder in (os.path.join(base, "fashion-mnist"), base):
        if all(any(os.path.exists(os.path.join(folder, name + end)) for end in ("", ".gz"))
               for name in FILES):
            return folder
    return program.skip(f"the four Fashion-MNIST files are not in {base}")


def main():
    events = program.train({
        "data": data_folder(), "model": "smallnet", "devices": "cpu:0-1", "batch": 256,
        "epochs": 1, "lr": 0.01, "momentum": 0.9, "seed": 1})
    epoch, steps = events["epoch"][0], events["step"]
    accuracy = epoch["test_acc"]
    print(f"smallnet after one epoch on two devices: test accuracy {accuracy:.4f}, "
          f"loss {steps[0]['loss']:.3f} to {steps[-1]['loss']:.3f}")
    shards = [step["shards"] for step in (steps[0], steps[-1])]
    if len(steps) != STEPS or shards != [[128, 128], [48, 48]]:
        raise program.Failure(f"{len(steps)} steps, first and last shards {shards}: expected "
                              f"{STEPS} steps, [[128, 128], [48, 48]]")
    if not accuracy > BOUND:
        raise program.Failure(f"test accuracy {accuracy} after one epoch, expected over {BOUND}")


if __name__ == "__main__":
    try:
        main()
    except program.Failure as failure:
        sys.exit(f"FAIL  {failure}")
