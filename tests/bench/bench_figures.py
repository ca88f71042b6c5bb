#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmark's arithmetic, on figures that are made up: choice, medians, ratios, its page.

    python3 tests/bench/bench_figures.py
"""

import argparse
import json
import math
import os
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, "bench"))

import accuracy  # noqa: E402
import measure  # noqa: E402
import report  # noqa: E402
import scaling  # noqa: E402
import strategies  # noqa: E402
import training  # noqa: E402


class MadeUp:
    """A runner whose figures are given: the first for the choice, the others for the rounds."""

    def __init__(self, figures, release=None, plain=True):
        self.figures, self.taken, self.plain = figures, 0, plain
        self.version = argparse.Namespace(name=release)

    def is_plain(self):
        return self.plain

    def take(self):
        self.taken += 1
        return self.figures[self.taken - 1]


def expect(condition, what):
    if not condition:
        sys.exit(f"FAIL  {what}")


def expect_equal(got, want, what):
    expect(got == want, f"{what}: {got!r}, expected {want!r}")


def part_of(mine, theirs, more_is_better=True, quick=False):
    args = argparse.Namespace(rounds=3, quick=quick, say=lambda text: None)
    part = training.Part(args, "speed", 1, more_is_better)
    part.column("a", mine, theirs, MadeUp.take)
    return part


def old_and_new():
    """Three settings of one release, one of another."""
    return {"PyTorch 1 x": MadeUp([100, 90, 110, 300], "PyTorch 1"),
            "PyTorch 1 y": MadeUp([95, 120, 130, 140], "PyTorch 1", plain=False),
            "PyTorch 1 z": MadeUp([89, 80, 75, 70], "PyTorch 1", plain=False),
            "PyTorch 2 x": MadeUp([50, 60, 70, 80], "PyTorch 2")}


def choice_and_ratio():
    runners = old_and_new()
    part = part_of({training.OURS: MadeUp([325, 1000, 10])}, runners)
    expect_equal([runner.taken for runner in runners.values()], [4, 4, 1, 4], "times measured")
    expect_equal(part.best_of_torch("a"), (130, "PyTorch 1 y"), "best of PyTorch")
    expect_equal(part.figure("a"), ("325.0", "130.0", "PyTorch 1 y", "2.50"), "line of the summary")
    expect("table's: PyTorch 1 z (a: 89.0)." in part.table(), "what is left out")
    expect("325.0 (10.0-1000.0)" in part.table(), "median, least and most")


def less_is_better():
    part = part_of({training.OURS: MadeUp([2, 2, 2])}, old_and_new(), more_is_better=False)
    expect("PyTorch 1 x (a: 100.0)" in part.table(), "the slowest is left out")
    expect_equal(part.figure("a").times, "35.00", "times as good, where less is better")


def quick_and_without():
    runners = old_and_new()
    part_of({training.OURS: MadeUp([1, 2, 3])}, runners, quick=True)
    expect_equal([runner.taken for runner in runners.values()], [3, 0, 0, 3], "a quick look")
    part = part_of({training.OURS: MadeUp([1, 2, 3])}, {})
    expect_equal(part.figure("a"), ("2.0", "-", "-", "-"), "without PyTorch")


def bf16_lines():
    part = part_of({training.OURS: MadeUp([325, 1000, 10]), training.OURS_BF16: MadeUp([390, 390, 390])},
                   old_and_new())
    expect_equal(part.bf16_figures("a", "speed", "x/s"),
                 {"speed in bf16, a, x/s": ("390.0", "130.0", "PyTorch 1 y", "3.00"),
                  "speed in bf16 beside f32, a, x/s":
                      ("390.0", "325.0", f"dpartui, {training.OURS}", "1.20")}, "lines about bf16")
    part = part_of({training.OURS: MadeUp([1, 2, 3])}, {})
    expect_equal(part.bf16_figures("a", "speed", "x/s"), {}, "lines about bf16 without it")


def interleaving():
    order = []
    things = {(name,): lambda name=name: order.append(name) or 0.0 for name in "abc"}
    training.rounds(3, things, lambda text: None)
    expect_equal("".join(order), "abcbcacab", "order of the rounds")


def settings():
    version = measure.Version("python3", "2.1+cpu", None)
    expect_equal((version.name, version.long_name),
                 ("PyTorch 2.1", "PyTorch 2.1 with oneDNN missing"), "names of a release")
    counts = len({training.CORES, 1})
    for bf16 in False, True:
        some = training.settings_of([version], threads=(training.CORES, 1), frozen=True, bf16=bf16)
        expect_equal(sum(torch.is_plain() for torch in some.values()), 1 + bf16, "plain settings")
        expect_equal(len(some), 2 * ((1 + bf16) * counts + 1) + 1, "settings")
    expect("PyTorch 2.1 channels_last, bf16" in some, "the name of a setting in bf16")
    expect_equal([torch.precision() for name, torch in some.items() if "bf16" in name],
                 [["--bf16"]] * 2 * counts, "what PyTorch is told")
    expect_equal(measure.rate(64, [9.0, 0.5, 0.25, 1.0], 1), 128.0, "rate of the median step")


def page():
    kept = "resnet18 evaluation, batch 256, samples/s"
    new = "lenet training, batch 128, samples/s"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write("head\n" + report.MARK.format("summary", "begin") + "\n\n" +
                       report.summary("", {}) + "\n\n" +
                       report.MARK.format("summary", "end") + "\ntail\n")
        for figures in ({kept: report.Figure("1", "2", "A", "0.50")},
                        {new: report.Figure("3", "4", "B", "0.75")},
                        {new: report.Figure("6", "4", "B", "1.50")}):
            expect(report.add_to_summary(path, figures), "the page is written")
        text = report.read(path)
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in text.splitlines() if line.startswith("| ")]
    expect_equal(lines[1:], [[kept, "1", "2", "A", "0.50", "3"], [new, "6", "4", "B", "1.50", "6"]],
                 "lines of the summary")
    expect(text.startswith("head\n") and text.endswith("\ntail\n"), "the page around the marks")


def accuracies():
    expect(accuracy.paired({1: 0.5}, {2: 0.5}) is None, "no pair")
    expect(math.isnan(accuracy.paired({1: 0.5}, {1: 0.5, 2: 0.6})[1]), "no error from one pair")
    mean, error = accuracy.paired({1: 1.0, 2: 3.0, 3: 8.0, 4: 9.0}, {3: 5.0, 2: 2.0, 1: 2.0})
    expect(abs(mean - 1) < 1e-12 and abs(error - math.sqrt(4 / 3)) < 1e-12,
           "mean difference of pairs, and its error")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results")
        for seed, value in ((1, 0.75), (2, 0.85)):
            results = accuracy.Results(path)
            results.add("lenet", seed, "dpartui", {
                "test_acc": value, "test_loss": 0.5, "train_loss": value + 1, "more": 1})
            with open(path, "a", encoding="utf-8") as file:  # one of before losses were kept
                print(json.dumps({"model": "lenet", "seed": seed, "by": "PyTorch 1",
                                  "test_acc": 2 * value - 1, "test_loss": 0.5}), file=file)
        table = accuracy.table(accuracy.Results(path).found)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    expect_equal(rows[2], ["lenet, 10 epochs", "dpartui", "2", "0.8000", "0.0707", "0.7500",
                           "0.8500", "0.5000", "1.8000"], "accuracies")
    expect_equal(rows[3][-2:], ["0.5000", "-"], "losses of older results")
    expect_equal(rows[4][1:5], ["pairs' difference from PyTorch 1", "", "+0.2000", "0.0500"],
                 "difference and its error")


def operation(direction, seconds, flops, moved):
    return {"direction": direction, "seconds": seconds, "flops": flops, "bytes": moved}


def profile_figures():
    """Two devices, 2 steps of 4 s: of the 16 s of both, every second is told."""
    parts = ("operations", "input", "loss", "optimizer", "sync", "wait", "split", "metrics", "rest")
    event = {"seconds": 8.0, "steps": 2, "operations": [
        operation("forward", [1.0, 1.0], 6e9, 1e12), operation("data gradient", [2.0, 2.0], 6e9, 0),
        operation("backward", [0.5, 0.5], 0, 2e9)],
        "devices": [{"rows": rows, **{name + "_s": value for name, value in zip(parts, (
            3.5, 0.5, 0.25, 0.75, 0.5, 0.5, 0.25, 0.25, 1.5))}} for rows in (24, 8)]}
    got = scaling.figures(event)
    want = {"ms": 4000.0, "rate": 4.0, "gflops": 4.0, "gigabytes": 4.0, "input": 1 / 16,
            "forward": 2.5 / 16, "backward": 5 / 16, "sync": 2 / 16, "update": 1.5 / 16,
            "rest": 4 / 16}
    expect_equal(set(got), set(want), "figures of a profile")
    for key, value in want.items():
        expect(abs(got[key] - value) < 1e-12, f"{key} of a profile: {got[key]}, expected {value}")
    expect(abs(scaling.outside(event) - 6.5 / 16) < 1e-12, "part outside the operations")
    expect_equal(scaling.line([got], {"sgemm_gflops": 8.0, "triad_gb_s": 40.0})[1:6],
                 ["4", "4", "50", "4.0", "10"], "speeds beside the machine's")


def lost_time():
    """Two stages and 4 micro-batches: busy for 6 s and 3 s of 8."""
    stages = [{"forward_s": 0.5, "backward_s": 0.75, "update": [6e6, 7e6]},
              {"forward_s": 0.25, "backward_s": 0.25, "update": [5e6, 6e6]}]
    event = {"micro_batches": 4, "seconds": 8.0, "stages": stages}
    expect(abs(strategies.bubble(event) - (1 - 4.5 / 8)) < 1e-12, "bubble of a step")


def models():
    text = scaling.resnet((1, 2), 16)
    expect_equal([text.count(word) for word in ("residual", "stride = 2", "kernel = 1;")],
                 [3, 2, 1], "units, strides and shortcuts of a network")


if __name__ == "__main__":
    profile_figures()
    lost_time()
    models()
    choice_and_ratio()
    less_is_better()
    quick_and_without()
    bf16_lines()
    interleaving()
    settings()
    page()
    accuracies()
