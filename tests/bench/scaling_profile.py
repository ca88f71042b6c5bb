# SPDX-License-Identifier: MIT
"""What one device computes in a step, for scaling_model.py: estimated, or as it was profiled."""

import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Operation:
    """In the order of the pass; `gradients` are complete after it, in numbers."""
    name: str
    seconds: float
    gradients: int = 0


@dataclasses.dataclass(frozen=True)
class Profile:
    source: str
    rows: int
    operations: tuple
    update_s: float

    @property
    def gradients(self):
        return sum(operation.gradients for operation in self.operations)

    @property
    def seconds(self):
        return sum(operation.seconds for operation in self.operations) + self.update_s


def resnet18_layers():
    """(name, side, channels in, channels out, kernel, whether a BatchNorm follows)."""
    yield "stem", 28, 1, 64, 3, True
    for stage, (side, width) in enumerate(((28, 64), (14, 128), (7, 256), (4, 512)), 1):
        before = width // 2
        for unit in range(2):
            first = before if stage > 1 and unit == 0 else width
            yield f"block{stage}.{unit}.conv1", side, first, width, 3, True
            yield f"block{stage}.{unit}.conv2", side, width, width, 3, True
            if first != width:
                yield f"block{stage}.{unit}.shortcut", side, first, width, 1, False


def measured_h200():
    """Totals by kind at 1024 rows, as profiled (docs/gpu-results.md) and scaled to the 7.97 ms of a
    step without a profile, spread over the layers by their operations (convolutions) and by the
    size of their result (BatchNorms)."""
    total_ms = {"forward": 1.85, "weights": 1.77, "data": 1.84, "statistics": 0.20, "apply": 0.56,
                "sums": 0.89, "gradient": 0.63, "widen": 0.01, "ends": 0.12, "update": 0.10}
    layers = list(resnet18_layers())
    flops = [side * side * kernel * kernel * given * made
             for _, side, given, made, kernel, _ in layers]
    sizes = [side * side * made if norm else 0 for _, side, _, made, _, norm in layers]
    weights = [kernel * kernel * given * made for _, _, given, made, kernel, _ in layers]

    def spread(kind, by):
        return [total_ms[kind] * 1e-3 * part / sum(by) for part in by]

    first = [0] + flops[1:]  # the rows get no gradient
    times = {kind: spread(kind, by) for kind, by in
             (("forward", flops), ("weights", flops), ("data", first), ("widen", weights),
              ("statistics", sizes), ("apply", sizes), ("sums", sizes), ("gradient", sizes))}
    ends = total_ms["ends"] * 1e-3 / 3
    forward, backward = [Operation("input", ends)], []
    for i, (name, _, _, made, _, norm) in enumerate(layers):
        forward.append(Operation(f"{name} forward", times["forward"][i]))
        part = [Operation(f"{name} weight gradient", times["weights"][i] + times["widen"][i],
                          weights[i] + made)]
        if norm:
            forward += [Operation(f"{name} statistics", times["statistics"][i]),
                        Operation(f"{name} normalised", times["apply"][i])]
            part = [Operation(f"{name} sums", times["sums"][i], 2 * made),
                    Operation(f"{name} BatchNorm", times["gradient"][i]), *part]
        if i > 0:
            part.append(Operation(f"{name} data gradient", times["data"][i]))
        backward.append(part)
    head = [Operation("pool, linear, loss", ends),
            Operation("their gradients", ends, 512 * 10 + 10)]
    return Profile("resnet18 on an H200 in bf16, as measured at 1024 rows", 1024,
                   (*forward, *head, *(one for part in reversed(backward) for one in part)),
                   total_ms["update"] * 1e-3)


class BadInput(Exception):
    """One line: what, where, what to do."""


def read_json(path):
    try:
        with open(path, encoding="utf8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {path}: {error}") from None


BACKWARD = ("gradient sum", "forward again", "backward", "relu gradient", "weight gradient",
            "data gradient")


def read_layers(path):
    """How many gradients each layer has."""
    model = read_json(path)
    try:
        layers = {str(layer["name"]): int(layer["params"]) for layer in model["layers"]}
        if any(params < 0 for params in layers.values()):
            raise ValueError
        return layers
    except (KeyError, TypeError, ValueError, OverflowError):
        raise BadInput(f"{path} is not the output of dpartui model NAME --json") from None


def seconds_of(value, steps):
    seconds = value / steps
    if not 0 <= seconds < 1e6:
        raise ValueError(f"{value} seconds")
    return seconds


def read_profile(path, layers_path):
    """The first device's operations; in the backward pass from the last layer to the first."""
    event = read_json(path)
    gradients = read_layers(layers_path)
    try:
        device, steps = event["devices"][0], event["steps"]
        name = device["device"]
        rows = round(device["rows"] / steps)
        forward = [Operation("input", seconds_of(device["input_s"], steps))]
        backward = {}
        for row in event["operations"]:
            what = f"{row['layer']} {row['kind']} {row['direction']}"
            seconds = seconds_of(row["seconds"][0], steps)
            if row["direction"] in BACKWARD:
                backward.setdefault(row["layer"], []).append((row["direction"], what, seconds))
            else:
                forward.append(Operation(what, seconds))
        forward.append(Operation("loss", seconds_of(device["loss_s"], steps)))
        update_s = seconds_of(device["optimizer_s"], steps)
        passes_only = device["passes_only"]
    except (KeyError, TypeError, IndexError, ValueError, ArithmeticError):
        raise BadInput(f"{path} is not a profile, the output of dpartui show N --profile "
                       "--json") from None
    if not str(name).startswith("cuda:"):
        raise BadInput(f"{path} is a profile of {name}: this predicts GPUs, from a profile of one")
    if passes_only or not backward or rows < 1:
        raise BadInput(f"{path} does not tell operations of the backward pass apart: profile "
                       "with a program that does")
    unknown = set(backward) - set(gradients) - {""}
    if unknown:
        raise BadInput(f"{layers_path} has no layer {sorted(unknown)[0]!r} of {path}: give the "
                       "model that was trained")
    operations = forward
    for layer in reversed(list(backward)):
        parts = sorted(backward[layer], key=lambda part: BACKWARD.index(part[0]))
        writes = [i for i, part in enumerate(parts) if part[0] in ("weight gradient", "backward")]
        done = writes[-1] if writes else len(parts) - 1
        operations += [Operation(what, seconds, gradients.get(layer, 0) if i == done else 0)
                       for i, (_, what, seconds) in enumerate(parts)]
    return Profile(f"measured on {name}: {path}", rows, tuple(operations), update_s)


def at_rows(profile, rows, floor_s):
    """An operation takes as long as its rows, but no less than a kernel takes to start and end."""
    scale = rows / profile.rows
    shorter = tuple(dataclasses.replace(one, seconds=min(one.seconds, floor_s) +
                                        max(0.0, one.seconds - floor_s) * scale)
                    for one in profile.operations)
    return dataclasses.replace(profile, rows=rows, operations=shorter)
