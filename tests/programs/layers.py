#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small networks of every layer train as in PyTorch: losses, gradients by way of the weights.

    python3 tests/programs/layers.py [CASE...]

The networks are in tests/harness/layer_cases.py, what PyTorch did in f64 with the same weights and
rows in tests/fixtures/layers.json. The program computes in f32: losses may differ by 1e-5 of
themselves, an entry's change by 1e-4 of its norm and by roundings of its numbers.
"""

import array
import json
import math
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

import layer_cases  # noqa: E402
import parity_data  # noqa: E402
import program  # noqa: E402

LOSS, CHANGE, ROUNDING = 1e-5, 1e-4, 5e-7


def near(what, got, want, tolerance):
    if not abs(got - want) <= tolerance:
        raise program.Failure(f"{what}: {got}, PyTorch has {want} (allowed {tolerance:.3g})")


def write_start(case, entries, path):
    """The initial weights, with the count of batches after each running variance."""
    out = []
    for name, entry in entries.items():
        out.append((name, entry["shape"], layer_cases.initial(case, name, entry["shape"])))
        if name.endswith(".running_var"):
            tracked = name.replace("running_var", "num_batches_tracked")
            out.append((tracked, (), array.array("q", [0])))
    parity_data.write_safetensors(path, out)


def check_entry(what, name, entry, saved):
    shape, values = saved[name]
    if list(shape) != entry["shape"]:
        raise program.Failure(f"{what}, {name}: shape {shape}, PyTorch has {entry['shape']}")
    start = layer_cases.initial(what, name, shape)
    change = [after - before for before, after in zip(start, values)]
    slack = CHANGE * entry["norm"]
    near(f"{what}, change of {name}, norm", math.hypot(*change), entry["norm"],
         slack + ROUNDING * math.sqrt(len(change)))
    for place, want in entry["samples"].items():
        near(f"{what}, change of {name}[{place}]", change[int(place)], want, slack + ROUNDING)


def check(what, folder, fixture):
    case = layer_cases.CASES[what]
    if fixture["layers"] != case["layers"]:
        raise program.Failure(f"the fixture has other layers of '{what}': run make_layers.py again")
    model, start, saved = (os.path.join(folder, what + ending)
                           for ending in (".conf", "-start.safetensors", "-end.safetensors"))
    with open(model, "w", encoding="utf-8") as file:
        file.write(layer_cases.model_text(what))
    write_start(what, fixture["entries"], start)
    events = program.train({
        "model": model, "data": os.path.join(folder, "rows"), "init": start,
        "order": "sequential", "dtype": "f32", "devices": "cpu:0", "batch": layer_cases.BATCH,
        "epochs": 1, "lr": layer_cases.LR, "momentum": 0, "weight-decay": 0,
        "save": saved, **case.get("options", {})})
    losses = [event["loss"] for event in events["step"]]
    for got, want in zip(losses + [events["epoch"][0]["test_loss"]],
                         fixture["losses"] + [fixture["test_loss"]], strict=True):
        near(f"{what}, loss", got, want, LOSS * want)
    ends = parity_data.read_safetensors(saved)
    for name, entry in fixture["entries"].items():
        check_entry(what, name, entry, ends)
    print(f"ok    {what}: {len(losses)} steps, {len(fixture['entries'])} entries", flush=True)


def main():
    with open(layer_cases.fixture_path(), encoding="utf-8") as file:
        fixtures = json.load(file)
    with tempfile.TemporaryDirectory(prefix="layers.") as folder:
        parity_data.write_rows(layer_cases.ROWS, os.path.join(folder, "rows"))
        for name in sys.argv[1:] or layer_cases.CASES:
            check(name, folder, fixtures[name])


if __name__ == "__main__":
    try:
        main()
    except program.Failure as failure:
        sys.exit(f"FAIL  {failure}")
