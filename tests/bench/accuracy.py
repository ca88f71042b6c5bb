# SPDX-License-Identifier: MIT
"""Does a whole training reach what PyTorch's reaches? Both from the same initial weights.

A seed is one pair of trainings: PyTorch makes the initial weights, and both begin with them and take
the rows in the program's order, so that they differ in roundings alone. As results take hours, each
is kept in a file as soon as it is there, and a later call continues after those.
"""

import json
import math
import os
import statistics
import subprocess
import tempfile

import measure
import report

import program  # (measure put tests/harness on the path)

BATCH = 256
RECIPES = {
    "lenet": {"epochs": 10, "lr": 0.9, "init": "xavier"},
    "resnet18": {"epochs": 2, "lr": 0.1, "init": "normal:0.01"},
}
SEEDS = {"lenet": 5, "resnet18": 3}
ALL_ROWS, QUICK_ROWS = 60000, 2560


def write_orders(folder, rows, seed, epochs):
    """The orders in which the program takes its rows, as torch_train.py reads them."""
    for epoch in range(1, 1 + epochs):
        with open(os.path.join(folder, str(epoch)), "wb") as file:
            subprocess.run([measure.built("order"), str(rows), str(seed), str(epoch)], stdout=file,
                           check=True, timeout=measure.SECONDS)


def train_torch(torch, model, seed, folder, rows):
    recipe = RECIPES[model]
    with tempfile.TemporaryDirectory(prefix="dpb.") as orders:
        write_orders(orders, rows or ALL_ROWS, seed, recipe["epochs"])
        done = torch.call("torch_train.py", "--model", model, "--data", folder, "--batch", BATCH,
                          "--epochs", recipe["epochs"], "--lr", recipe["lr"], "--seed", seed,
                          "--init", recipe["init"], "--train-rows", rows, "--orders", orders)
    return done["epochs"][-1]


def train_program(ours, torch, model, seed, rows):
    recipe = RECIPES[model]
    with tempfile.TemporaryDirectory(prefix="dpb.") as scratch:
        initial = os.path.join(scratch, "initial.safetensors")
        torch.call("torch_train.py", "--model", model, "--init", recipe["init"], "--seed", seed,
                   "--write-initial", initial)
        events = ours.train(**{"model": model, "batch": BATCH, "epochs": recipe["epochs"],
                               "lr": recipe["lr"], "init": initial, "seed": seed,
                               "train-rows": rows})
    return events["epoch"][-1]


class Results:
    """(model, by, seed) -> result, in a file of one JSON object a line."""

    def __init__(self, path):
        self.path, self.found = path, {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    self.take(json.loads(line))

    def take(self, result):
        self.found[result["model"], result["by"], result["seed"]] = result

    def add(self, model, seed, by, epoch):
        result = {"model": model, "seed": seed, "by": by, "test_acc": epoch["test_acc"],
                  "test_loss": epoch["test_loss"], "train_loss": epoch["train_loss"]}
        self.take(result)
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


def measured(args):
    """The table; it needs PyTorch (its first release of those named) and Fashion-MNIST."""
    if not args.torch or args.data_name != "Fashion-MNIST":
        raise program.Failure("the accuracy needs PyTorch, and DPARTUI_DATA_DIR with fashion-mnist")
    torch = measure.Torch(args.torch[0], True, measure.KEEP_MEMORY)
    ours = measure.Program(args.data, "cpu:0", measure.CORES)
    rows = QUICK_ROWS if args.quick else 0
    sides = {
        "dpartui": lambda model, seed: train_program(ours, torch, model, seed, rows),
        torch.version.name:
            lambda model, seed: train_torch(torch, model, seed, args.data["data"], rows)}
    results = Results(args.results)
    for model in RECIPES:
        for seed in range(1, 1 + (args.seeds or (1 if args.quick else SEEDS[model]))):
            for by, train in sides.items():
                if (model, by, seed) not in results.found:
                    results.add(model, seed, by, train(model, seed))
                accuracy = results.found[model, by, seed]["test_acc"]
                args.say(f"  {model}, seed {seed}, {by}: {accuracy:.4f}")
    return table(results.found)


def paired(one, other):
    """The mean of the differences of pairs, and its standard error: NAN for a single pair."""
    differences = [one[seed] - other[seed] for seed in one if seed in other]
    if not differences:
        return None
    error = (statistics.stdev(differences) / math.sqrt(len(differences))
             if len(differences) > 1 else math.nan)
    return statistics.mean(differences), error


def mean_of(results, key):
    """Over the results that have it; older ones lack the loss in training."""
    values = [result[key] for result in results if key in result]
    return f"{statistics.mean(values):.4f}" if values else "-"


def table(found):
    """Mean and spread of each side, and how far the pairs are apart."""
    rows = []
    for model in report.list_of(found, 0):
        sides = {}
        for (of, by, seed), result in found.items():
            if of == model:
                sides.setdefault(by, {})[seed] = result
        for by, results in sorted(sides.items(), key=lambda side: side[0] != "dpartui"):
            accuracy = [result["test_acc"] for result in results.values()]
            deviation = f"{statistics.stdev(accuracy):.4f}" if len(accuracy) > 1 else "-"
            rows.append([f"{model}, {RECIPES[model]['epochs']} epochs", by, len(accuracy),
                         f"{statistics.mean(accuracy):.4f}", deviation, f"{min(accuracy):.4f}",
                         f"{max(accuracy):.4f}", mean_of(results.values(), "test_loss"),
                         mean_of(results.values(), "train_loss")])
        accuracies = {by: {seed: result["test_acc"] for seed, result in results.items()}
                      for by, results in sides.items()}
        ours = accuracies.pop("dpartui", {})
        for by, theirs in accuracies.items():
            apart = paired(ours, theirs)
            if apart:
                rows.append(["", f"pairs' difference from {by}", "", f"{apart[0]:+.4f}",
                             "-" if math.isnan(apart[1]) else f"{apart[1]:.4f}", "", "", "", ""])
    return report.table(["test accuracy on Fashion-MNIST", "by", "seeds", "mean",
                         "standard deviation", "least", "most", "test loss", "train loss"],
                        rows)
