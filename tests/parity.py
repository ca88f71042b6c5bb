#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parity with PyTorch: the same weights, the same rows, the same steps, the same result.

    python3 tests/parity.py [CASE...]

Trains every case of parity_data.py with the real program, on one device and on several, and
compares with what PyTorch did in f64 (tests/fixtures/parity-CASE.json, made by make_parity.py).

Tolerances. The fixtures record how far PyTorch in f32 strays from PyTorch in f64 in eight
variants; here "spread" is the most that any of them strayed up to that step.
    loss of step n    10 spreads + 1e-6 of the loss + (n - 1) * 5e-6
    loss of a test    as that of the last step before it
    rows right        exact, except for rows whose two best logits are within roundings
    change of an entry (final - initial weights), "apart" being the largest distance of a variant
    from f64 over the whole entry, or 2e-8 per element where that is more:
        norm          10 apart + 1e-3 of the norm
        sum           10 spreads of the sum + 10 apart + 3e-3 of the norm
        an element    (30 apart + 3e-2 of the norm) / sqrt(elements)
The terms beside the spreads are for a ReLU or a maximum that stands so close to its corner that
another summation moves it over, where it did not happen to PyTorch: one such unit moves the change
of an entry by up to 1e-3 and later losses by some 1e-5.
"""

import json
import math
import operator
import os
import sys
import tempfile

sys.dont_write_bytecode = True

import parity_data  # noqa: E402
import program  # noqa: E402

SPREADS = 10
UNIT_IN_CHANGE = 1e-3
UNIT_IN_LOSS = 5e-6
ELEMENT_ROUNDING = 2e-8
SHOWN = 12  # messages of one run

ONE = {"devices": "cpu:0"}
TWO = {"devices": "cpu:0-1", "sync-bn": True}
THREE = {"devices": "cpu:0-2", "sync-bn": True, "split": "balanced", "sync": "central"}
DEVICES = {
    "resnet18": (ONE, TWO),
    "resnet18-decay": (ONE, THREE),
    "cifar-cnn": (ONE, TWO, THREE),
    "cifar-cnn-decay": (ONE, TWO),
}


class Findings:
    """What is out of tolerance, and how near to it the rest came."""

    def __init__(self):
        self.messages, self.checks, self.worst, self.worst_at = [], 0, 0.0, "-"

    def close(self, what, got, want, tolerance):
        self.checks += 1
        away = abs(got - want) if isinstance(got, (int, float)) else math.nan
        if not away <= tolerance:
            self.messages.append(
                f"{what}: {got}, PyTorch has {want} (apart {away:.3g}, allowed {tolerance:.3g})")
        elif tolerance and away / tolerance > self.worst:
            self.worst, self.worst_at = away / tolerance, what

    def equal(self, what, got, want):
        self.checks += 1
        if got != want:
            self.messages.append(f"{what}: {got}, expected {want}")


def loss_tolerance(steps, count):
    """Of the loss of step `count`, counted from 1."""
    spread = max(step["spread"] for step in steps[:count])
    return SPREADS * spread + 1e-6 * abs(steps[count - 1]["loss"]) + (count - 1) * UNIT_IN_LOSS


def check_steps(found, events, fixture):
    steps = fixture["steps"]
    found.equal("steps", len(events["step"]), len(steps))
    for count, (event, step) in enumerate(zip(events["step"], steps), start=1):
        at = f"step {count}"
        found.equal(f"{at}, its number", event.get("step"), count)
        found.equal(f"{at}, rows", event.get("rows"), step["rows"])
        found.equal(f"{at}, sum of the shards", sum(event.get("shards", [])), step["rows"])
        found.close(f"{at}, loss", event.get("loss"), step["loss"], loss_tolerance(steps, count))
        found.close(f"{at}, rows right", event.get("correct"), step["correct"], step["close"])


def check_epochs(found, events, fixture):
    case, steps = fixture["case"], fixture["steps"]
    found.equal("epochs", len(events["epoch"]), case["epochs"])
    per_epoch = len(steps) // case["epochs"]
    for epoch, (event, want) in enumerate(zip(events["epoch"], fixture["epochs"]), start=1):
        at, last = f"epoch {epoch}", epoch * per_epoch
        train = steps[last - per_epoch:last]
        rows = sum(step["rows"] for step in train)
        tolerance = loss_tolerance(steps, last)
        found.close(f"{at}, test_loss", event.get("test_loss"), want["loss"],
                    tolerance + SPREADS * want["spread"] + 1e-6 * want["loss"])
        found.close(f"{at}, test_acc", event.get("test_acc"), want["correct"] / want["rows"],
                    (want["close"] + 1e-6) / want["rows"])
        found.close(f"{at}, train_loss", event.get("train_loss"),
                    sum(step["loss"] * step["rows"] for step in train) / rows, tolerance)
        found.close(f"{at}, train_acc", event.get("train_acc"),
                    sum(step["correct"] for step in train) / rows,
                    (sum(step["close"] for step in train) + 1e-6) / rows)


def check_entry(found, name, change, want):
    root = math.sqrt(want["count"])
    apart, unit = max(want["apart"], ELEMENT_ROUNDING * root), UNIT_IN_CHANGE * want["norm"]
    norm = math.sqrt(math.fsum(map(operator.mul, change, change)))
    found.close(f"change of {name}, norm", norm, want["norm"], SPREADS * apart + unit)
    found.close(f"change of {name}, sum", math.fsum(change), want["sum"],
                SPREADS * (want["sum_spread"] + apart) + 3 * unit)
    for place, value in want["samples"].items():
        found.close(f"change of {name}[{place}]", change[int(place)], value,
                    30 * (apart + unit) / root)


def check_weights(found, path, fixture):
    saved = parity_data.read_safetensors(path)
    model = fixture["case"]["model"]
    found.equal("names in the saved file", sorted(saved), sorted(fixture["entries"]))
    for name, shape, initial in parity_data.initial_weights(model):
        if name not in saved:
            continue
        got_shape, values = saved[name]
        want = fixture["entries"][name]
        found.equal(f"{name}, shape", got_shape, shape)
        if "value" in want:
            found.equal(name, list(values), [want["value"]])
        elif got_shape == shape:
            check_entry(found, name, list(map(operator.sub, values, initial)), want)


def run(name, fixture, devices, folder):
    case = fixture["case"]
    saved = os.path.join(folder, "final.safetensors")
    events = program.train({
        "model": case["model"], "data": os.path.join(folder, "rows"),
        "init": os.path.join(folder, "initial.safetensors"), "order": "sequential",
        "dtype": "f32", "batch": case["batch"], "epochs": case["epochs"], "lr": case["lr"],
        "momentum": case["momentum"], "weight-decay": case["weight_decay"], "save": saved,
        **devices})
    found = Findings()
    check_steps(found, events, fixture)
    check_epochs(found, events, fixture)
    check_weights(found, saved, fixture)
    os.remove(saved)
    title = f"{name} on {devices['devices']}"
    if not found.messages:
        print(f"ok    {title}: {found.checks} checks, nearest to its tolerance ({found.worst:.1%}):"
              f" {found.worst_at}", flush=True)
        return True
    print(f"FAIL  {title}: {len(found.messages)} of {found.checks} checks:")
    for message in found.messages[:SHOWN]:
        print(f"      {message}")
    if len(found.messages) > SHOWN:
        print(f"      ... and {len(found.messages) - SHOWN} more", flush=True)
    return False


def read_fixture(name):
    path = os.path.join(program.HERE, "fixtures", f"parity-{name}.json")
    with open(path, encoding="utf-8") as file:
        fixture = json.load(file)
    if fixture["case"] != parity_data.CASES[name]:
        raise program.Failure(f"{path} was made with other settings: run make_parity.py again")
    return fixture


def main():
    names = sys.argv[1:] or list(parity_data.CASES)
    good = True
    for name in names:
        if name not in parity_data.CASES:
            sys.exit(f"parity.py: no case '{name}': {', '.join(parity_data.CASES)}")
        fixture = read_fixture(name)
        case = fixture["case"]
        with tempfile.TemporaryDirectory(prefix="parity.") as folder:
            parity_data.write_rows(case, os.path.join(folder, "rows"))
            parity_data.write_safetensors(os.path.join(folder, "initial.safetensors"),
                                          parity_data.initial_weights(case["model"]))
            for devices in DEVICES[name]:
                good = run(name, fixture, devices, folder) and good
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except program.Failure as failure:
        sys.exit(f"FAIL  {failure}")
