#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the program beside PyTorch on this machine, and write the figures down.

    make bench                            everything, some 20 minutes on two cores
    make bench BENCH_ARGS=--quick         a rough look, nothing is written
    make bench BENCH_ARGS='--only screen' one part alone: 5 minutes

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
import screens  # noqa: E402

from measure import CORES  # noqa: E402  (measure put the folder above on the path)
import program  # noqa: E402

RESNET = {256: (6, 2), 64: (12, 4)}  # batch: steps of a process, of which do not count
PARTS = ("resnet18", "smallnet", "screen", "gpu")


def say(text):
    print(text, file=sys.stderr, flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="two short rounds, written nowhere")
    parser.add_argument("--rounds", type=int, help="rounds (5; of the screen 3)")
    parser.add_argument("--only", choices=PARTS, help="measure this part alone")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks.md alone")
    args = parser.parse_args()
    if args.rounds is not None and args.rounds < 1:
        parser.error("--rounds must be at least 1")
    args.screen_rounds = args.rounds or (1 if args.quick else 3)
    args.rounds = args.rounds or (2 if args.quick else 5)
    args.parts = (args.only,) if args.only else PARTS
    args.write = not (args.quick or args.no_write)
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


def add(measured, results, *more):
    for key, value in results.items():
        measured.setdefault((*more, *key), []).append(value)


def screen_costs(args, home):
    """{(what, program, size): [figures of each round]}"""
    measured = {}
    seconds = 3 if args.quick else 12

    def look(what, **options):
        for i in range(args.screen_rounds):
            say(f"  round {i + 1} of {args.screen_rounds}, {what}")
            add(measured, screens.costs(home, seconds, i, **options), what)
    look("idle")
    for devices in (2, 8):
        with home.training(devices):
            look(f"{devices} devices")
    with screens.made_up_gpus(home, 8) as environment:
        look("8 GPUs, made up", names=["dpartui"], environment=environment)
    return measured


def screen(args, data):
    say("workbench")
    keys, blocks = {}, {}
    with screens.Home(data) as home:
        costs = screen_costs(args, home)
        with home.training(2):
            for i in range(args.screen_rounds):
                say(f"  round {i + 1} of {args.screen_rounds}, keys and blocked terminals")
                for what, times in screens.key_times(home).items():
                    keys.setdefault(what, []).extend(times)
                add(blocks, screens.after_block(home))
        missing = [name for name in ("htop", "btop") if name not in home.others]
        versions = [screens.version(name) for name in home.others]
    beside = "- beside " + ", ".join(versions + [name + ": missing" for name in missing])
    return "\n\n".join((beside, report.screens(costs), report.keys(keys), report.blocks(blocks)))


def gpu(args):
    """The figures of tests/gpu/bench, printed; none where there is no GPU."""
    command = [os.path.join(program.HERE, "gpu", "bench"), "--program", program.path()]
    done = subprocess.run(command + (["--quick"] if args.quick else []), check=False)
    if done.returncode not in (0, program.SKIP):
        raise RuntimeError("the figures of the GPU could not be had")


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


def circumstances(rounds_done, data_name, load):
    return "\n".join((
        f"- {datetime.date.today().isoformat()}, {processor()}, {CORES} cores for this process, "
        f"{system()}, Linux {platform.release()}",
        f"- {version('dpartui')} and {version('dpartui-engine')}",
        f"- rows of {data_name}; rounds: {rounds_done}, median (least-most); load before the "
        f"measurements {load:.2f}" + (", so something else was running" if load > 0.5 else ""),
    ))


def torch_line(runners):
    torch = [runner for runner in runners.values() if isinstance(runner, measure.Torch)]
    if torch and torch[0].versions:
        return "- PyTorch {version} with oneDNN {onednn}".format(**torch[0].versions)
    return "- PyTorch: missing on this machine"


def main():
    args = options()
    # Leave by way of the clean-up, which stops the engine behind the workbench.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    load = os.getloadavg()[0]
    data, data_name = choose_data()
    page = os.path.join(os.path.dirname(program.HERE), "docs", "benchmarks.md")
    runners = {}
    if set(args.parts) & {"resnet18", "smallnet"}:
        python = measure.find_torch()
        if not python:
            say("no Python here has PyTorch: the program alone is measured")
        runners = contestants(data, python, args.quick)
    measures = {"resnet18": lambda: resnet18(args, runners),
                "smallnet": lambda: smallnet(args, runners, data_name),
                "screen": lambda: screen(args, data)}
    for part in args.parts:
        if part == "gpu":
            gpu(args)
            continue
        tables = measures[part]()
        rounds_done = args.screen_rounds if part == "screen" else args.rounds
        lines = [circumstances(rounds_done, data_name, load)]
        if part != "screen":
            lines.append(torch_line(runners) + "\n")
        text = "\n".join(lines + [tables])
        print(text, end="\n\n", flush=True)
        if args.write:
            written = report.write(page, part, text)
            say(f"written to {page}" if written else f"{page} is not writable")


if __name__ == "__main__":
    try:
        main()
    except (program.Failure, RuntimeError, ValueError, OSError,
            subprocess.SubprocessError) as error:
        sys.exit(f"bench: {error}")
