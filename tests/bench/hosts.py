# SPDX-License-Identifier: MIT
"""Two hosts of one device each, beside two devices of one process: namespaces of this machine
(tests/hosts), whose line is as fast as it gets, or limited."""

import os
import statistics

import measure
import program
import report
import training

MODEL, BATCH = "resnet18", 256
LIMIT, BITS_PER_S = "1gbit", 1e9
ONE = "1 process, 2 devices"
FAST = "2 hosts"
SLOW = "2 hosts at 1 Gbit/s"


class Hosts(measure.Program):
    def __init__(self, data, rate=None):
        super().__init__(data, "cpu:0", 1)
        self.within = [os.path.join(program.HERE, "hosts", "namespaces.sh"),
                       "--own-cpus"]
        self.within += ["--rate", rate] if rate else []
        self.sync_bytes = 0  # of a step

    def options(self, **options):
        return super().options(hosts="h1,h2", **options)

    def train(self, **options):
        events = program.train(self.options(**options), measure.SECONDS, self.within)
        self.sync_bytes = events["run"][0]["sync_bytes_per_step"]
        return events


def hidden(fast_s, slow_s, line_s):
    """Part of the time that a line takes for a step's gradients, by which the step is not longer
    than with a line that takes next to none."""
    return 1 - (slow_s - fast_s) / line_s


def measured(args):
    """(table, lines of the summary)"""
    steps = 2 if args.quick else 3
    part = training.Part(args, f"{MODEL} training, batch {BATCH}, 1 thread each", 1)
    runners = {ONE: measure.Program(args.data, "cpu:0-1", 1), FAST: Hosts(args.data),
               SLOW: Hosts(args.data, LIMIT)}
    try:
        part.column("samples/s", runners, {},
                    lambda runner: runner.step_rate(MODEL, BATCH, steps + 1, 1))
    except program.Skipped as reason:
        return f"Not measured here: {reason}.", {}
    seconds = {name: BATCH / part.median(name, "samples/s") for name in runners}
    line_s = 8 * runners[SLOW].sync_bytes / BITS_PER_S
    share = 100 * hidden(seconds[FAST], seconds[SLOW], line_s)
    rates = part.results[FAST]["samples/s"], part.results[ONE]["samples/s"]
    ratio = statistics.median(fast / one for fast, one in zip(*rates))
    text = (f"Two hosts: {ratio:.2f} times one process, by the median of the rounds' ratios. At "
            f"1 Gbit/s the {runners[SLOW].sync_bytes / 1e6:.1f} MB of a step's gradients take "
            f"{line_s:.2f} s each way; the step is {seconds[SLOW] - seconds[FAST]:.2f} s longer, so "
            f"{share:.0f} % of the all-reduce are hidden behind the backward pass.")
    return part.table() + "\n\n" + text, {
        f"{MODEL} training, 2 hosts, samples/s": report.Figure(
            f"{BATCH / seconds[FAST]:.0f}", f"{BATCH / seconds[ONE]:.0f}", f"dpartui, {ONE}",
            f"{ratio:.2f}"),
        f"{MODEL} training, 2 hosts at 1 Gbit/s, all-reduce hidden, %": report.Figure(
            f"{share:.0f}", "-", "-", "-")}
