#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predicts the time of a training step on several GPUs from the profile of one.

A step is played as events: each device has a thread on the host that queues work, a stream that
computes, and all have one stream that sums gradients. Gradients are summed bucket by bucket, as the
backward pass completes them; a bucket's all-reduce begins when all devices have it and the one
before is done; the update waits for the last. Two ways to drive the devices are compared: steps
queued ahead of the devices, and three waits of the host in every step.

Without --profile the operations are those of resnet18 as measured on one H200 (bf16, 1024 rows).
With it, they are those of `dpartui show N --profile --json`, and --layers says what gradients each
layer has, from `dpartui model NAME --json`.
"""

import argparse
import dataclasses
import json
import math
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from scaling_profile import BadInput, at_rows, measured_h200, read_profile  # noqa: E402

MICRO = 1e-6


# --- gradients ----------------------------------------------------------------------------------

def buckets(count):
    """Where the buckets of `count` gradients end, as engine/train/sync/sync.c cuts them."""
    most, least, limit = 25 * (1 << 20) // 4, (1 << 20) // 4, 32
    end, ends = 0, []
    while end < count:
        left = count - end
        size = least if not ends and count >= 4 * least else left // 2
        size = (min(size, most) + 15) // 16 * 16
        if size < least or left - size < least or len(ends) == limit - 1:
            size = left if left <= most or len(ends) == limit - 1 else most
        end += size
        ends.append(end)
    return ends


def segments(profile):
    """[(seconds, bytes of each bucket complete after it)]: what lies between completed buckets."""
    ends, cut, seconds, done, told = buckets(profile.gradients), [], 0.0, 0, 0
    for operation in profile.operations:
        seconds += operation.seconds
        done += operation.gradients
        ready = []
        while told < len(ends) and ends[told] <= done:
            ready.append(4 * (ends[told] - (ends[told - 1] if told else 0)))
            told += 1
        if ready:
            cut.append((seconds, ready))
            seconds = 0.0
    return cut + [(seconds, [])] if seconds > 0 or not cut else cut


@dataclasses.dataclass(frozen=True)
class Links:
    bus: float            # bytes per second that an all-reduce reaches inside a host
    hop_s: float          # from GPU to GPU
    network: float        # bytes per second of each GPU's way to other hosts
    network_hop_s: float  # from host to host
    start_s: float        # of an all-reduce's kernel
    algorithm: str        # "ring", "tree" or "best"

    def hops(self, count):
        ring, tree = 2 * (count - 1), 2 * math.ceil(math.log2(count))
        return {"ring": ring, "tree": tree, "best": min(ring, tree)}[self.algorithm]

    def all_reduce_s(self, size, gpus, hosts):
        """`gpus` on each of the hosts, each of which sums its part of its host's between hosts."""
        if gpus * hosts == 1:
            return 0.0
        inside = 2 * (gpus - 1) / gpus * size / self.bus + self.hops(gpus) * self.hop_s
        between = (2 * (hosts - 1) / hosts * size / gpus / self.network +
                   self.hops(hosts) * self.network_hop_s)
        return self.start_s + inside + between


# --- the step -----------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Host:
    """What a step costs the thread that drives a device."""
    name: str
    input_s: float   # to queue the rows
    graph_s: float   # to start the graph of a segment
    reduce_s: float  # to start an all-reduce
    update_s: float
    late_s: float    # from an event on the device to when the waiting host continues
    owner_s: float   # from the last device's end to the next step, through the run's own thread
    ahead: int       # steps that are queued ahead; 0: three waits in each step


def run_until(begin, seconds, busy, slower):
    """The end of work that runs `slower` (0.1: takes 10 % longer) while gradients are summed."""
    at, left = begin, seconds
    for start, end in busy:
        if end <= at or slower == 0:
            continue
        free = max(0.0, start - at)
        if left <= free:
            break
        at, left = at + free, left - free
        under_way = (end - at) / (1 + slower)
        if left <= under_way:
            return at + left * (1 + slower)
        at, left = end, left - under_way
    return at + left


def step_s(profile, host, links, gpus=1, hosts=1, slower=0.0, spread=0.0, steps=24):
    """Seconds of a step in the steady state; `spread`: devices' speeds differ by this deviation."""
    count, cut = gpus * hosts, segments(profile)
    speed = [1 + spread * statistics.NormalDist().inv_cdf((i + 0.5) / count) for i in range(count)]
    thread, stream, ends = [0.0] * count, [0.0] * count, []
    summed, devices = 0.0, range(count)
    for step in range(steps):
        busy = []
        for i in devices:
            if host.ahead and step >= host.ahead:
                thread[i] = max(thread[i], ends[step - host.ahead][i] + host.late_s)
            thread[i] += host.input_s
        for seconds, ready in cut:
            for i in devices:
                thread[i] += host.graph_s
                stream[i] = run_until(max(stream[i], thread[i]), seconds * speed[i], busy, slower)
            for size in ready if count > 1 else ():
                thread = [at + host.reduce_s for at in thread]
                begin = max(summed, *thread, *stream)
                summed = begin + links.all_reduce_s(size, gpus, hosts)
                busy.append((begin, summed))
        if not host.ahead:
            thread = [max(thread[i], stream[i]) + host.late_s for i in devices]
            if count > 1:
                thread = [max(max(thread) + host.late_s, summed) + host.late_s] * count
        for i in devices:
            thread[i] += host.update_s
            stream[i] = max(stream[i], thread[i], summed) + profile.update_s * speed[i]
        ends.append(list(stream))
        if not host.ahead:
            thread = [max(thread) + host.owner_s] * count
    half = steps // 2
    return (max(ends[-1]) - max(ends[-1 - half])) / half


FREE_HOST = Host("none", 0, 0, 0, 0, 0, 0, 2)


def predict(profile, hosts_by_name, links, rows, gpus, hosts, options):
    """A line of the table. Efficiency: samples/s against as many single GPUs, steps queued ahead."""
    own = at_rows(profile, rows, options.floor * MICRO)
    extra = {"slower": options.contention / 100, "spread": options.straggler / 100}
    alone = step_s(own, hosts_by_name["queued"], links)
    bare = step_s(own, FREE_HOST, links, gpus, hosts, **extra)
    line = {"rows": rows, "gpus": gpus, "hosts": hosts, "compute_ms": 1e3 * own.seconds,
            "sync_ms": 1e3 * max(0.0, bare - own.seconds)}
    for name, host in hosts_by_name.items():
        seconds = step_s(own, host, links, gpus, hosts, **extra)
        line[name] = {"step_ms": 1e3 * seconds, "host_ms": 1e3 * max(0.0, seconds - bare),
                      "samples_per_s": rows * gpus * hosts / seconds,
                      "efficiency": alone / seconds}
    return line


# --- the command --------------------------------------------------------------------------------

def number(least_is_allowed):
    def read(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0 or (value == 0 and not least_is_allowed):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number "
                                             f"{'from' if least_is_allowed else 'above'} 0")
        return value
    return read


def row_counts(text):
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list like 256,512")
    return [int(part) for part in parts]


def lines_of_hosts(text):
    return [number(False)(part) for part in text.split(",")]


def devices(text):
    """"8" or "2x8": GPUs, or hosts x GPUs."""
    found = []
    for part in text.split(","):
        numbers = part.split("x")
        if len(numbers) > 2 or not all(each.isdecimal() for each in numbers):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list like 1,8,2x8")
        found.append((int(numbers[0]) if len(numbers) == 2 else 1, int(numbers[-1])))
        if not 1 <= math.prod(found[-1]) <= 1024:
            raise argparse.ArgumentTypeError(f"{part!r}: 1 to 1024 GPUs in all")
    return found


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(message)


def parser():
    made = Parser(prog="scaling_model.py", description=__doc__.split("\n\n", maxsplit=1)[0],
                  epilog=__doc__.split("\n\n", maxsplit=1)[1],
                  formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    add = made.add_argument
    add("--profile", metavar="FILE", help="output of dpartui show N --profile --json")
    add("--layers", metavar="FILE", help="output of dpartui model NAME --json, with --profile")
    add("--rows", type=row_counts, default="128,256,512,1024", help="rows per GPU (%(default)s)")
    add("--devices", type=devices, default="1,2,4,8,2x8", help="GPUs, HOSTSxGPUS (%(default)s)")
    add("--line", type=lines_of_hosts, metavar="N,...",
        help="Gbit/s of each host's line, which its GPUs share, in place of --network")
    figures = (("bus", 360, number(False), "GB/s of an all-reduce in a host: NVLink 360, PCIe 20"),
               ("hop", 2, number(True), "microseconds from GPU to GPU"),
               ("network", 45, number(False), "GB/s of each GPU's way to other hosts"),
               ("network-hop", 12, number(True), "microseconds from host to host"),
               ("start", 12, number(True), "microseconds to start an all-reduce on the GPUs"),
               ("contention", 10, number(True), "%% that computing slows down meanwhile"),
               ("straggler", 0, number(True), "%% by which GPUs' speeds differ (deviation)"),
               ("floor", 2.5, number(True), "microseconds that any kernel takes"),
               ("input", 20, number(True), "host: microseconds to queue a batch"),
               ("graph", 8, number(True), "host: to start a graph"),
               ("reduce", 12, number(True), "host: to start an all-reduce, queued ahead"),
               ("settle", 90, number(True), "host: the same, awaited (communicator polled)"),
               ("update", 6, number(True), "host: to queue the update"),
               ("late", 85, number(True), "host: from a device's event until its thread runs again"),
               ("owner", 100, number(True), "host: round trip to the run's thread, per step"))
    for name, usual, kind, text in figures:
        add(f"--{name}", type=kind, default=usual, metavar="N", help=f"{text} (%(default)s)")
    add("--ahead", type=int, choices=range(1, 9), default=2, help="steps queued ahead (2)")
    add("--algorithm", choices=("ring", "tree", "best"), default="best", help="latency of (best)")
    form = made.add_mutually_exclusive_group().add_argument
    form("--json", action="store_true", help="print inputs and lines as an object")
    form("--markdown", action="store_true", help="print the table for docs/gpu-results.md")
    return made


def ways(options):
    shared = {"input_s": options.input * MICRO, "graph_s": options.graph * MICRO,
              "update_s": options.update * MICRO, "late_s": options.late * MICRO}
    return {"queued": Host("queued", reduce_s=options.reduce * MICRO, owner_s=0,
                           ahead=options.ahead, **shared),
            "waiting": Host("waiting", reduce_s=options.settle * MICRO,
                            owner_s=options.owner * MICRO, ahead=0, **shared)}


def between_hosts(options, gpus):
    """(Gbit/s of a host's line or None, bytes per second of each GPU's way) to predict for."""
    if not options.line:
        return [(None, options.network * 1e9)]
    return [(line, line / 8 * 1e9 / gpus) for line in options.line]


def table(lines, markdown):
    head = ["Gbit/s"] if lines[0]["line"] else []
    head += ["rows/GPU", "GPUs", "compute ms", "+ sync", "+ host", "step ms", "samples/s",
            "efficiency", "waiting: step ms", "efficiency"]
    head += ["measured samples/s", "efficiency"] if markdown else []
    rows = [head]
    for line in lines:
        queued, waiting = line["queued"], line["waiting"]
        gpus = str(line["gpus"]) if line["hosts"] == 1 else f"{line['hosts']} x {line['gpus']}"
        rows.append(([f"{line['line']:g}"] if line["line"] else []) +
                    [str(line["rows"]), gpus, f"{line['compute_ms']:.2f}", f"{line['sync_ms']:.2f}",
                     f"{queued['host_ms']:.2f}", f"{queued['step_ms']:.2f}",
                     f"{queued['samples_per_s']:,.0f}", f"{100 * queued['efficiency']:.0f} %",
                     f"{waiting['step_ms']:.2f}", f"{100 * waiting['efficiency']:.0f} %"] +
                    (["", ""] if markdown else []))
    width = [max(len(row[i]) for row in rows) for i in range(len(head))]
    if markdown:
        rows.insert(1, ["-" * (each - 1) + ":" for each in width])
    for row in rows:
        cells = [cell.rjust(each) for cell, each in zip(row, width)]
        print("| " + " | ".join(cells) + " |" if markdown else "  ".join(cells))


def main(arguments):
    options = parser().parse_args(arguments)
    if bool(options.profile) != bool(options.layers):
        raise BadInput("--profile and --layers go together: what gradients a layer has is in the "
                       "output of dpartui model NAME --json")
    profile = (read_profile(options.profile, options.layers) if options.profile
               else measured_h200())
    links = Links(options.bus * 1e9, options.hop * MICRO, options.network * 1e9,
                  options.network_hop * MICRO, options.start * MICRO, options.algorithm)
    hosts = ways(options)
    lines = [{"line": line, **predict(profile, hosts, dataclasses.replace(links, network=network),
                                      rows, gpus, count, options)}
             for rows in options.rows for count, gpus in options.devices
             for line, network in between_hosts(options, gpus)]
    lines.sort(key=lambda one: (one["line"] or 0))
    inputs = {name: value for name, value in vars(options).items()
              if name not in ("json", "markdown", "rows", "devices", "profile", "layers") and
              value is not None}
    ends = buckets(profile.gradients)
    sizes = [4 * (end - begin) / 1e6 for begin, end in zip([0] + ends, ends)]
    if options.json:
        print(json.dumps({"source": profile.source, "profile_rows": profile.rows,
                          "profile_ms": 1e3 * profile.seconds, "gradients": profile.gradients,
                          "bucket_mb": sizes, "inputs": inputs, "lines": lines}, indent=1))
        return
    print("PREDICTION, computed and not measured.")
    print(f"Profile: {profile.source}; {1e3 * profile.seconds:.2f} ms at {profile.rows} rows")
    print(f"Gradients: {4 * profile.gradients / 1e6:.1f} MB in buckets of",
          " ".join(f"{size:.1f}" for size in sizes))
    print("Inputs:", ", ".join(f"{name.replace('_', '-')} {value}"
                               for name, value in inputs.items()))
    print("Step: compute, + gradients that computing does not hide, + host, steps queued ahead;\n"
          "waiting: three waits of the host in each step. Efficiency: against single GPUs, queued "
          "ahead.\n")
    table(lines, options.markdown)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
        sys.stdout.flush()
    except OSError as problem:
        # Nobody reads any more, or the disk is full; nothing is left to be flushed at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(problem, BrokenPipeError):
            print(f"scaling_model.py: cannot write: {problem.strerror}", file=sys.stderr)
        sys.exit(1)
    except (ArithmeticError, RecursionError) as problem:
        print(f"scaling_model.py: these inputs cannot be computed with: {problem}", file=sys.stderr)
        sys.exit(2)
    except BadInput as problem:
        print(f"scaling_model.py: {problem}", file=sys.stderr)
        sys.exit(2)
