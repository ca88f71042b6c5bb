# SPDX-License-Identifier: MIT
"""Costs of training and evaluation against PyTorch: the benchmark's parts with a line of PyTorch.

Of PyTorch every release that was named takes part, each in several settings. As most of these are
slower on a given machine, one short round is run first, and only the fastest of each release and
one close to it go into the rounds that count.
"""

import statistics

import measure
import report

from measure import CORES

OURS = f"1 device x {CORES} threads"
SEVERAL = f"{CORES} devices x 1 thread"
ONE = "1 device x 1 thread"
OURS_BF16 = f"{OURS}, bf16"
CLOSE = 0.95  # of the fastest setting: such a one may turn out to be the fastest
RESNET = {256: (5, 2), 64: (10, 4)}  # batch: steps of a process, of which do not count
SMALL = {"lenet": 200, "cifar-cnn": 200}  # steps of a process: no more rows than there are
SHORT = 50
SMALL_BATCHES = (128, 256)
EVALUATED = 5  # batches


def rounds(count, things, say):
    """{name: [what each call of things[name] returned]}, `count` rounds, interleaved."""
    names, measured = list(things), {}
    for i in range(count):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            value = things[name]()
            measured.setdefault(name, []).append(value)
            say(f"  round {i + 1} of {count}, {', '.join(name)}: {value:.4g}")
    return measured


def ours(data):
    out = {OURS: measure.Program(data, "cpu:0", CORES)}
    if measure.has_bf16():
        out[OURS_BF16] = measure.Program(data, "cpu:0", CORES, "bf16")
    if CORES > 1:
        out[SEVERAL] = measure.Program(data, f"cpu:0-{min(CORES, 64) - 1}", 1)
    return out


def settings_of(versions, threads=(CORES,), frozen=False, bf16=None):
    """{name: Torch} of every release in every setting; those of `bf16` by default where the processor
    has it."""
    out = {}
    bf16 = measure.has_bf16() if bf16 is None else bf16

    def add(version, layout, environment, count=CORES, is_frozen=False, is_bf16=False):
        words = [f"{version.name} {layout}"]
        words += ["bf16"] if is_bf16 else []
        words += ["frozen"] if is_frozen else []
        words += [] if environment else ["malloc as it comes"]
        words += [] if count == CORES else [f"{count} thread" + "s" * (count > 1)]
        out[", ".join(words)] = measure.Torch(version, layout == "channels_last", environment,
                                              count, is_frozen, is_bf16)
    for version in versions:
        for layout in ("channels_last", "contiguous"):
            for count in sorted(set(threads), reverse=True):
                add(version, layout, measure.KEEP_MEMORY, count)
                if bf16:
                    add(version, layout, measure.KEEP_MEMORY, count, is_bf16=True)
            if frozen:
                add(version, layout, measure.KEEP_MEMORY, is_frozen=True)
        add(version, "channels_last", {})
    return out


class Part:
    """A table: columns of cells, each measured for all of its lines in the same rounds."""

    def __init__(self, args, title, digits, more_is_better=True):
        self.args, self.title, self.digits = args, title, digits
        self.more_is_better = more_is_better
        self.results, self.columns, self.left_out = {}, [], []

    def best(self, values):
        return max(values) if self.more_is_better else min(values)

    def times(self, value, other):
        """How many times as good as the other."""
        return value / other if self.more_is_better else other / value

    def column(self, name, mine, theirs, take, seek=None):
        """Measure `name` as take(runner) says; `seek` is a short form of it."""
        self.args.say(f"{self.title}, {name}")
        if self.args.quick:
            theirs = {key: torch for key, torch in theirs.items() if torch.is_plain()}
        else:
            theirs = self.choose(name, theirs, seek or take)
        things = {(key, name): lambda runner=runner: take(runner)
                  for key, runner in {**mine, **theirs}.items()}
        self.columns.append(name)
        for (row, _), values in rounds(self.args.rounds, things, self.args.say).items():
            self.results.setdefault(row, {})[name] = values

    def choose(self, column, settings, seek):
        """Those for the rounds: see the head of this file."""
        shown, kept = {}, {}
        for name, torch in settings.items():
            shown[name] = seek(torch)
            self.args.say(f"  sought, {name}: {shown[name]:.4g}")
        for release in dict.fromkeys(torch.version.name for torch in settings.values()):
            names = sorted((name for name in shown if settings[name].version.name == release),
                           key=shown.get, reverse=self.more_is_better)
            kept.update((name, settings[name]) for name in names[:2]
                        if self.times(shown[name], shown[names[0]]) >= CLOSE)
        self.left_out += [f"{name} ({column}: {shown[name]:.{self.digits}f})"
                          for name in shown if name not in kept]
        return kept

    def median(self, row, column):
        values = self.results.get(row, {}).get(column)
        return statistics.median(values) if values else None

    def best_of_torch(self, column):
        """(its median, its name), or None."""
        medians = [(self.median(row, column), row) for row, by in self.results.items()
                   if row.startswith("PyTorch") and column in by]
        return self.best(medians) if medians else None

    def figure(self, column, row=OURS):
        """A line of the summary."""
        mine, best = self.median(row, column), self.best_of_torch(column)
        shown = f"{mine:.{self.digits}f}"
        if not best:
            return report.Figure(shown, "-", "-", "-")
        return report.Figure(shown, f"{best[0]:.{self.digits}f}", best[1],
                             f"{self.times(mine, best[0]):.2f}")

    def bf16_figures(self, column, what, unit):
        """Lines of the summary about bf16, where it was measured: against the best of PyTorch, and
        against the same in f32."""
        if OURS_BF16 not in self.results:
            return {}
        bf16, f32 = self.median(OURS_BF16, column), self.median(OURS, column)
        return {f"{what} in bf16, {column}, {unit}": self.figure(column, OURS_BF16),
                f"{what} in bf16 beside f32, {column}, {unit}": report.Figure(
                    f"{bf16:.{self.digits}f}", f"{f32:.{self.digits}f}", f"dpartui, {OURS}",
                    f"{self.times(bf16, f32):.2f}")}

    def table(self):
        rows = [[name] + [report.spread(by.get(column, []), self.digits)
                          for column in self.columns] for name, by in self.results.items()]
        if any(self.best_of_torch(column) for column in self.columns):
            rows.append(["first line, times the best of PyTorch"] +
                        [self.figure(column).times for column in self.columns])
        text = report.table([self.title] + self.columns, rows)
        if self.left_out:
            text += ("\n\nLeft out after one short round, whose figures do not compare with the "
                     "table's: " + "; ".join(self.left_out) + ".")
        return text


def resnet18(args):
    def stepping(batch, quick):
        steps, warm = RESNET[batch]
        return lambda runner: runner.step_rate("resnet18", batch, warm + 2 if quick else steps,
                                               warm)
    part = Part(args, "resnet18 training, samples/s", 0)
    summary = {}
    for batch in RESNET:
        mine = ours(args.data)
        if batch == 256 and CORES > 1:
            mine[ONE] = measure.Program(args.data, "cpu:0", 1)
        part.column(f"batch {batch}", mine, settings_of(args.torch), stepping(batch, args.quick),
                    stepping(batch, True))
        summary[f"resnet18 training, batch {batch}, samples/s"] = part.figure(f"batch {batch}")
        summary.update(part.bf16_figures(f"batch {batch}", "resnet18 training", "samples/s"))
    text = part.table()
    if CORES > 1:
        several, one = part.median(SEVERAL, "batch 256"), part.median(ONE, "batch 256")
        text += f"\n\n{SEVERAL} at batch 256: {several / one:.2f} times {ONE}."
        summary[f"resnet18 training, batch 256, {SEVERAL}, samples/s"] = report.Figure(
            f"{several:.0f}", f"{one:.0f}", f"dpartui, {ONE}", f"{several / one:.2f}")
    return text, summary


def inference(args):
    part = Part(args, "resnet18 evaluation, samples/s", 0)
    part.column("batch 256", ours(args.data), settings_of(args.torch, frozen=True),
                lambda runner: runner.evaluation_rate("resnet18", 256,
                                                      2 if args.quick else EVALUATED),
                lambda runner: runner.evaluation_rate("resnet18", 256, 2))
    return part.table(), {"resnet18 evaluation, batch 256, samples/s": part.figure("batch 256"),
                          **part.bf16_figures("batch 256", "resnet18 evaluation", "samples/s")}


def small(args):
    part = Part(args, "training of small networks, samples/s", 0)
    summary = {}
    for model, steps in SMALL.items():
        for batch in SMALL_BATCHES:
            def stepping(count, model=model, batch=batch):
                return lambda runner: runner.step_rate(model, batch, count, 2)
            name = f"{model}, batch {batch}"
            mine = {OURS: measure.Step(CORES), ONE: measure.Step(1)}
            if model == "lenet" and args.data_name == "Fashion-MNIST":
                mine[f"{OURS}, in the engine"] = measure.Program(args.data, "cpu:0", CORES)
            part.column(name, mine, settings_of(args.torch, threads=(CORES, 1)),
                        stepping(SHORT if args.quick else steps), stepping(SHORT))
            summary[f"{model} training, batch {batch}, samples/s"] = part.figure(name)
    return part.table(), summary


def memory(args):
    part = Part(args, "resnet18 training, most memory in MiB", 0, more_is_better=False)
    part.column("batch 256", ours(args.data), settings_of(args.torch),
                lambda runner: runner.step_memory("resnet18", 256, 2))
    figure = part.figure("batch 256")
    return part.table(), {"resnet18 training, batch 256, most memory, MiB": figure,
                          **part.bf16_figures("batch 256", "resnet18 training",
                                               "most memory, MiB")}


def smallnet(args):
    rows = 12800 if args.quick else 60000
    if args.data_name == "glyphs":
        rows = min(rows, 10000)
    part = Part(args, f"smallnet on {args.data_name}, s/epoch", 2, more_is_better=False)
    part.column(f"{rows} rows", ours(args.data), settings_of(args.torch),
                lambda runner: runner.epoch_seconds("smallnet", rows),
                lambda runner: runner.epoch_seconds("smallnet", rows // 4))
    return part.table(), {}
