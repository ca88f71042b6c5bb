#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parity with PyTorch: the same weights, the same rows, the same steps, the same result.

    python3 tests/programs/parity.py [--devices LIST] [--dtype TYPE] [--plain] [CASE...]

Trains every case of parity_data.py with the real program, on one device and on several (or on those
named), and compares with what PyTorch did in f64 (tests/fixtures/parity-CASE.json, made by
make_parity.py). DPARTUI_PROGRAM names another program with the same options, as tests/gpu/run has.

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

With --dtype tf32 come beside them 4 times what TF32, imitated in PyTorch on a CPU, strayed from f32
(tests/fixtures/parity-tf32.json, made by make_rounding.py; 12 times for sums, whose errors may
add up), and one row in 16 that is called otherwise.
"""

import argparse
import glob
import gzip
import json
import math
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

import parity_data  # noqa: E402
import program  # noqa: E402

SPREADS = 10
UNIT_IN_CHANGE = 1e-3
UNIT_IN_LOSS = 5e-6
ELEMENT_ROUNDING = 2e-8
ROUGH_SPREADS, ROUGH_ROWS = 4, 16
SHOWN = 12  # messages of one run

ONE = {"devices": "cpu:0"}
TWO = {"devices": "cpu:0-1", "sync-bn": True}
THREE = {"devices": "cpu:0-2", "sync-bn": True, "split": "balanced", "sync": "central"}
OWN = {"deterministic": True}  # the program's own convolutions, without measuring others first
DEVICES = {
    "resnet18": ({**TWO, **OWN},),
    "resnet18-decay": (ONE, {**THREE, **OWN}),
    "cifar-cnn": (ONE, TWO, THREE),
    "cifar-cnn-decay": (ONE, TWO),
    "sgd": (ONE, TWO),
    "nesterov": (ONE, TWO),
    "adam": (ONE, TWO, THREE),
    "adamw": (ONE, TWO),
    "rmsprop": (ONE, TWO),
    "clip": (ONE, TWO, THREE),
    "no-decay": (ONE, TWO),
    "ema": (ONE, TWO, THREE),
}


class Exact:
    """What another number type may add to the tolerances: nothing."""

    def step(self, count):
        return 0.0

    def epoch(self, count):
        return 0.0

    def rows(self, rows):
        return 0

    def apart(self, name):
        return 0.0


class Rough(Exact):
    """What TF32 may add in a case; steps and epochs are counted from 1."""

    def __init__(self, record):
        self.record = record

    def step(self, count):
        return ROUGH_SPREADS * max(self.record["steps"][:count])

    def epoch(self, count):
        return ROUGH_SPREADS * max(self.record["epochs"][:count])

    def rows(self, rows):
        return max(1, rows // ROUGH_ROWS)

    def apart(self, name):
        return ROUGH_SPREADS * self.record["entries"][name]


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


def check_steps(found, events, fixture, rough):
    steps = fixture["steps"]
    found.equal("steps", len(events["step"]), len(steps))
    for count, (event, step) in enumerate(zip(events["step"], steps), start=1):
        at = f"step {count}"
        found.equal(f"{at}, its number", event.get("step"), count)
        found.equal(f"{at}, rows", event.get("rows"), step["rows"])
        found.equal(f"{at}, sum of the shards", sum(event.get("shards", [])), step["rows"])
        found.close(f"{at}, loss", event.get("loss"), step["loss"],
                    loss_tolerance(steps, count) + rough.step(count))
        found.close(f"{at}, rows right", event.get("correct"), step["correct"],
                    step["close"] + rough.rows(step["rows"]))


def check_epochs(found, events, fixture, rough):
    case, steps = fixture["case"], fixture["steps"]
    found.equal("epochs", len(events["epoch"]), case["epochs"])
    per_epoch = len(steps) // case["epochs"]
    for epoch, (event, want) in enumerate(zip(events["epoch"], fixture["epochs"]), start=1):
        at, last = f"epoch {epoch}", epoch * per_epoch
        train = steps[last - per_epoch:last]
        rows = sum(step["rows"] for step in train)
        tolerance = loss_tolerance(steps, last) + rough.step(last)
        found.close(f"{at}, test_loss", event.get("test_loss"), want["loss"],
                    tolerance + SPREADS * want["spread"] + 1e-6 * want["loss"] + rough.epoch(epoch))
        found.close(f"{at}, test_acc", event.get("test_acc"), want["correct"] / want["rows"],
                    (want["close"] + rough.rows(want["rows"]) + 1e-6) / want["rows"])
        found.close(f"{at}, train_loss", event.get("train_loss"),
                    sum(step["loss"] * step["rows"] for step in train) / rows, tolerance)
        found.close(f"{at}, train_acc", event.get("train_acc"),
                    sum(step["correct"] for step in train) / rows,
                    (sum(step["close"] for step in train) + rough.rows(rows) + 1e-6) / rows)


def check_norms(found, events, fixture):
    """Of the gradients, before they are clipped: an epoch's event has that of its last step."""
    steps, count = fixture["steps"], len(fixture["epochs"])
    for epoch, event in enumerate(events["epoch"], start=1):
        want = steps[epoch * len(steps) // count - 1].get("grad_norm")
        if want is None:
            found.equal(f"epoch {epoch}, grad_norm", "grad_norm" in event, False)
        else:
            found.close(f"epoch {epoch}, grad_norm", event.get("grad_norm"), want, 1e-3 * want)


def check_entry(found, name, values, initial, want, more):
    root = math.sqrt(want["count"])
    apart, unit = max(want["apart"], ELEMENT_ROUNDING * root), UNIT_IN_CHANGE * want["norm"]
    found.close(f"change of {name}, norm", math.dist(values, initial), want["norm"],
                SPREADS * apart + unit + more)
    found.close(f"change of {name}, sum", math.fsum(values) - math.fsum(initial), want["sum"],
                SPREADS * (want["sum_spread"] + apart) + 3 * unit + 3 * more)
    for place, value in want["samples"].items():
        found.close(f"change of {name}[{place}]", values[int(place)] - initial[int(place)], value,
                    (30 * (apart + unit) + 3 * SPREADS * more) / root)


def check_weights(found, path, initial_weights, fixture, rough):
    saved = parity_data.read_safetensors(path)
    found.equal("names in the saved file", sorted(saved), sorted(fixture["entries"]))
    for name, shape, initial in initial_weights:
        if name not in saved:
            continue
        got_shape, values = saved[name]
        want = fixture["entries"][name]
        found.equal(f"{name}, shape", got_shape, shape)
        if "value" in want:
            found.equal(name, list(values), [want["value"]])
        elif got_shape == shape:
            check_entry(found, name, values, initial, want, rough.apart(name))


def run(name, fixture, initial, devices, folder, dtype, rough):
    case = fixture["case"]
    saved = os.path.join(folder, "final.safetensors")
    events = program.train({
        "model": case["model"], "data": os.path.join(folder, "rows"),
        "init": os.path.join(folder, "initial.safetensors"), "order": "sequential",
        "dtype": dtype, "batch": case["batch"], "epochs": case["epochs"], "lr": case["lr"],
        "momentum": case["momentum"], "weight-decay": case["weight_decay"], "save": saved,
        "recipe": "none", **{key.replace("_", "-"): case[key] for key in parity_data.SETTINGS
                             if key in case}, **devices})
    found = Findings()
    check_steps(found, events, fixture, rough)
    check_epochs(found, events, fixture, rough)
    check_norms(found, events, fixture)
    check_weights(found, saved, initial, fixture, rough)
    os.remove(saved)
    title = f"{name} on {devices['devices']}" + (f" in {dtype}" if dtype != "f32" else "")
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


def read_types(dtype):
    with open(os.path.join(program.HERE, "fixtures", f"parity-{dtype}.json"),
              encoding="utf-8") as file:
        return json.load(file)["cases"]


def read_rough(name, dtype):
    if dtype == "f32":
        return Exact()
    return Rough(read_types(dtype)[name])


def unpack(folder):
    for path in glob.glob(os.path.join(folder, "*.gz")):
        with gzip.open(path) as packed, open(path[:-len(".gz")], "wb") as plain:
            plain.write(packed.read())
        os.remove(path)


def default_cases(dtype):
    """All that the type has tolerances for: optimizers, clipping and averages compute in f32 by any
    type."""
    return list(parity_data.CASES if dtype == "f32" else read_types(dtype))


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--devices", help="train on these alone, such as cuda:0")
    parser.add_argument("--dtype", choices=("f32", "tf32"), default="f32")
    parser.add_argument("--plain", action="store_true",
                        help="for a program without zlib: rows in files that are not compressed")
    parser.add_argument("cases", metavar="CASE", nargs="*", choices=[[], *parity_data.CASES],
                        help=", ".join(parity_data.CASES))
    args = parser.parse_args()
    args.cases = args.cases or default_cases(args.dtype)
    return args


def main():
    args = options()
    good, model, initial = True, None, []
    for name in args.cases:
        fixture, rough = read_fixture(name), read_rough(name, args.dtype)
        case = fixture["case"]
        with tempfile.TemporaryDirectory(prefix="parity.") as folder:
            parity_data.write_rows(case, os.path.join(folder, "rows"))
            if args.plain:
                unpack(os.path.join(folder, "rows"))
            if case["model"] != model:
                model, initial = case["model"], list(parity_data.initial_weights(case["model"]))
            parity_data.write_safetensors(os.path.join(folder, "initial.safetensors"), initial)
            for devices in [{"devices": args.devices}] if args.devices else DEVICES[name]:
                good = run(name, fixture, initial, devices, folder, args.dtype, rough) and good
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except program.Failure as failure:
        sys.exit(f"FAIL  {failure}")
