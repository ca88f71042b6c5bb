#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the program beside PyTorch on this machine, and write the figures down.

    make bench                            everything, some 15 minutes on two cores
    make bench BENCH_ARGS=--quick         a rough look, nothing is written
    make bench BENCH_ARGS='--only screen'

Every figure is the median of as many rounds as --rounds says, with the least and the most. A round
runs each thing once, in a new process, one after the other, so that a change of the machine's
speed meets all of them; which one comes first changes from round to round. Python 3.8 or later;
PyTorch is used when a Python here has it.
"""

import argparse
import datetime
import os
import platform
import signal
import subprocess
import sys

sys.dont_write_bytecode = True

import measure  # noqa: E402
import report  # noqa: E402

from measure import CORES  # noqa: E402  (measure put the folder above on the path)
import program  # noqa: E402

RESNET = {256: (6, 2), 64: (12, 4)}  # batch: steps of a process, of which do not count
SIZES = ((80, 24), (200, 60))
PARTS = ("resnet18", "smallnet", "screen")


def say(text):
    print(text, file=sys.stderr, flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="two short rounds, written nowhere")
    parser.add_argument("--rounds", type=int, help="rounds (5)")
    parser.add_argument("--only", choices=PARTS, help="measure this part alone, written nowhere")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks.md alone")
    args = parser.parse_args()
    if args.rounds is None:
        args.rounds = 2 if args.quick else 5
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    args.parts = (args.only,) if args.only else PARTS
    args.write = not (args.quick or args.only or args.no_write)
    return args


def choose_data():
    """(options that name the data, their name): Fashion-MNIST if there, else glyphs."""
    base = os.environ.get("DPARTUI_DATA_DIR", "")
    for folder in (os.path.join(base, "fashion-mnist"), base):
        if base and any(os.path.exists(os.path.join(folder, "train-images-idx3-ubyte" + end))
                        for end in ("", ".gz")):
            return {"data": folder}, "Fashion-MNIST"
    return {"data": "glyphs"}, "glyphs"


def rounds(count, things, measured):
    """measured[thing] gets what each call of things[thing] returns, `count` times, interleaved."""
    names = list(things)
    for i in range(count):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            value = things[name]()
            measured.setdefault(name, []).append(value)
            say(f"  round {i + 1} of {count}, {', '.join(map(str, name))}: {value:.4g}")


def by_row(measured):
    out = {}
    for (row, column), values in sorted(measured.items(), key=lambda item: str(item[0][0])):
        out.setdefault(row, {})[column] = values
    return out


def contestants(data, python, quick):
    """name -> object with step_rate and epoch_seconds."""
    several = f"{CORES} devices x 1 thread"
    out = {f"1 device x {CORES} threads": measure.Program(data, "cpu:0", CORES)}
    if CORES > 1:
        out[several] = measure.Program(data, f"cpu:0-{min(CORES, 64) - 1}", 1)
    if python:
        out["PyTorch channels_last"] = measure.Torch(python, True, measure.KEEP_MEMORY)
        if not quick:
            out["PyTorch contiguous"] = measure.Torch(python, False, measure.KEEP_MEMORY)
            out["PyTorch channels_last, malloc as it comes"] = measure.Torch(python, True, {})
    return out


def resnet18(args, runners):
    say("resnet18, samples per second")
    things = {}
    for batch, (steps, warm) in RESNET.items():
        if args.quick:
            steps, warm = warm + 2, warm
        for name, runner in runners.items():
            things[name, f"batch {batch}"] = (
                lambda runner=runner, batch=batch, steps=steps, warm=warm:
                runner.step_rate("resnet18", batch, steps, warm))
    measured = {}
    rounds(args.rounds, things, measured)
    results = by_row(measured)
    return report.comparison("resnet18 training, samples/s", results,
                             [f"batch {batch}" for batch in RESNET], 0, report.faster)


def smallnet(args, runners, data_name):
    rows = 12800 if args.quick else 60000
    if data_name == "glyphs":
        rows = min(rows, 10000)
    say(f"smallnet, seconds per epoch of {rows} rows")
    column = f"{rows} rows"
    measured = {}
    rounds(args.rounds, {(name, column): lambda runner=runner: runner.epoch_seconds("smallnet", rows)
                         for name, runner in runners.items()}, measured)
    return report.comparison(f"smallnet on {data_name}, s/epoch", by_row(measured), [column], 2,
                             report.shorter)


def screen(args, data):
    say("workbench")
    seconds = 5 if args.quick else 20
    measured = {}
    with measure.Workbench(data) as workbench:
        for what in ("idle", "while training"):
            if what != "idle":
                workbench.start_run()
            for i in range(args.rounds):
                for columns, rows in SIZES:
                    result = workbench.measure(columns, rows, seconds)
                    measured.setdefault((what, f"{columns}x{rows}"), []).append(result)
                    say(f"  round {i + 1} of {args.rounds}, {what}, {columns}x{rows}: "
                        f"{result['first_frame_ms']:.0f} ms, {result['bytes_per_s']:.0f} bytes/s")
    return report.screens(measured)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def version(name):
    command = [os.path.join(os.path.dirname(program.path()), name), "--version"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return done.stdout.splitlines()[0]


def system():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (AttributeError, OSError, KeyError):
        return "unknown system"


def circumstances(args, runners, data_name, load):
    torch = [runner for runner in runners.values() if isinstance(runner, measure.Torch)]
    if torch and torch[0].versions:
        beside = "PyTorch {version} with oneDNN {onednn}".format(**torch[0].versions)
    else:
        beside = "PyTorch: not measured" if torch else "PyTorch: missing on this machine"
    return "\n".join((
        f"- {datetime.date.today().isoformat()}, {processor()}, {CORES} cores for this process, "
        f"{system()}, Linux {platform.release()}",
        f"- {version('dpartui')} and {version('dpartui-engine')}; {beside}",
        f"- rows of {data_name}; {args.rounds} rounds, median (least-most); load before the "
        f"measurements {load:.2f}" + (", so something else was running" if load > 0.5 else ""),
    ))


def main():
    args = options()
    # Leave by way of the clean-up, which stops the engine behind the workbench.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    load = os.getloadavg()[0]
    data, data_name = choose_data()
    python = measure.find_torch()
    if not python:
        say("no Python here has PyTorch: the program alone is measured")
    runners = contestants(data, python, args.quick)
    parts = []
    if "resnet18" in args.parts:
        parts.append(resnet18(args, runners))
    if "smallnet" in args.parts:
        parts.append(smallnet(args, runners, data_name))
    if "screen" in args.parts:
        parts.append(screen(args, data))
    text = "\n\n".join([circumstances(args, runners, data_name, load)] + parts)
    print(text)
    page = os.path.join(os.path.dirname(program.HERE), "docs", "benchmarks.md")
    if args.write:
        say(f"written to {page}" if report.write(page, text) else f"{page} is not writable")


if __name__ == "__main__":
    try:
        main()
    except (program.Failure, RuntimeError, ValueError, OSError,
            subprocess.SubprocessError) as error:
        sys.exit(f"bench: {error}")
