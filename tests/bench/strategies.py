# SPDX-License-Identifier: MIT
"""Ways to use two devices with one thread each, beside one such device: the data divided, the
network in stages, or each layer; and, of a network with large linear layers, these alone."""

import statistics

import measure
import report
import training

MODEL, BATCH = "resnet18", 256
LINEAR, LINEAR_BATCH = "alexnet", 128
MICRO_BATCHES = (8, 16)
ONE = "1 device"
DATA = "2 devices, data"
TENSOR = "2 devices, tensor"
MIXED = "2 devices, mixed"


class Divided(measure.Program):
    def __init__(self, data, strategy):
        super().__init__(data, "cpu:0-1", 1)
        self.strategy = strategy

    def options(self, **options):
        return super().options(strategy=self.strategy, **options)


class Pipeline(measure.Program):
    def __init__(self, data, micro_batches):
        super().__init__(data, "cpu:0-1", 1)
        self.micro_batches = micro_batches
        self.steps = []  # the last "timeline" event of each run

    def options(self, **options):
        return super().options(strategy="pipeline", **{"micro-batches": self.micro_batches},
                               **options)

    def train(self, **options):
        events = super().train(**options)
        self.steps.append(events["timeline"][-1])
        return events


def pipeline(micro_batches):
    return f"2 devices, pipeline, {micro_batches} micro-batches"


def bubble(event):
    """Share of the step in which a stage has nothing to do, on the mean over the stages."""
    busy = [event["micro_batches"] * (stage["forward_s"] + stage["backward_s"]) +
            sum(stage["update"][1::2]) / 1e6 - sum(stage["update"][::2]) / 1e6
            for stage in event["stages"]]
    return 1 - sum(busy) / len(busy) / event["seconds"]


def bubbles(runners):
    rows = [[name, report.spread([100 * bubble(step) for step in runner.steps], 1),
             report.spread([100 * step["predicted_bubble"] for step in runner.steps], 1),
             ", ".join(sorted({step["stages"][0]["last_layer"] for step in runner.steps}))]
            for name, runner in runners.items()]
    return report.table(["bubble, % of the step", "measured", "of passes that last their mean",
                         "first stage up to"], rows)


def rates(args, model, batch, runners):
    """(table, lines of the summary)"""
    steps = 2 if args.quick else 4
    part = training.Part(args, f"{model} training, batch {batch}, 1 thread each", 1)
    part.column("samples/s", runners, {},
                lambda runner: runner.step_rate(model, batch, steps + 1, 1))
    rates_of = {name: part.results[name]["samples/s"] for name in runners}
    # Round by round: the speed of a machine that others share drifts.
    times = {name: [rate / one for rate, one in zip(rates_of[name], rates_of[ONE], strict=True)]
             for name in runners if name != ONE}
    summary = {f"{model} training, {name}, samples/s": report.Figure(
        f"{part.median(name, 'samples/s'):.0f}", f"{part.median(ONE, 'samples/s'):.0f}",
        f"dpartui, {ONE} x 1 thread", f"{statistics.median(ratios):.2f}")
        for name, ratios in times.items()}
    return part.table() + "\n\nTimes one device, by the median of the rounds' ratios: " + "; ".join(
        f"{name} {report.spread(ratios, 2)}" for name, ratios in times.items()) + ".", summary


def measured(args):
    """(table, lines of the summary)"""
    stages = {pipeline(count): Pipeline(args.data, count) for count in MICRO_BATCHES}
    alone = {ONE: measure.Program(args.data, "cpu:0", 1),
             DATA: measure.Program(args.data, "cpu:0-1", 1)}
    tensor = {TENSOR: Divided(args.data, "tensor")}
    text, summary = rates(args, MODEL, BATCH, {**alone, **stages, **tensor})
    linear, more = rates(args, LINEAR, LINEAR_BATCH,
                         {**alone, **tensor, MIXED: Divided(args.data, "mixed")})
    return "\n\n".join((text, bubbles(stages), linear)), {**summary, **more}
