#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the program with PyTorch on this machine, and write the figures down.

    make bench                            everything but scaling, accuracy and history
    make bench BENCH_ARGS=--quick         a rough look, nothing is written
    make bench BENCH_ARGS='--only screen' one part alone: 5 minutes
    make bench BENCH_ARGS='--only resnet18 --only small --python /opt/torch/bin/python3 \
        --python /usr/bin/python3'        two parts, against two releases of PyTorch

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

import accuracy  # noqa: E402
import history  # noqa: E402
import hosts  # noqa: E402
import measure  # noqa: E402
import report  # noqa: E402
import scaling  # noqa: E402
import screens  # noqa: E402
import strategies  # noqa: E402
import training  # noqa: E402

from measure import CORES  # noqa: E402  (measure put tests/harness on the path)
import program  # noqa: E402

# What returns (table, lines of the summary).
TRAINING = {"resnet18": training.resnet18, "inference": training.inference,
            "small": training.small, "outside": scaling.outside_operations,
            "memory": training.memory, "smallnet": training.smallnet,
            "strategies": strategies.measured, "hosts": hosts.measured}
PYTORCH = {*TRAINING, "accuracy"} - {"outside", "strategies", "hosts"}
USUAL = (*TRAINING, "screen", "gpu")
LONG = {"scaling": scaling.measured, "accuracy": accuracy.measured,
        "history": history.measured}  # only when asked for


def say(text):
    print(text, file=sys.stderr, flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="two short rounds, written nowhere")
    parser.add_argument("--rounds", type=int, help="rounds (5; of screen, scaling and history 3)")
    parser.add_argument("--only", choices=(*USUAL, *LONG), action="append", metavar="PART",
                        help="measure this part alone, or each that is named so: " +
                        ", ".join((*USUAL, *LONG)))
    parser.add_argument("--python", action="append", metavar="PATH", help="a Python with PyTorch; "
                        "each that is named so takes part (all usual ones that have it)")
    parser.add_argument("--seeds", type=int, help="trainings of each kind for the accuracy (" +
                        ", ".join(f"{model} {n}" for model, n in accuracy.SEEDS.items()) + ")")
    parser.add_argument("--results", metavar="FILE",
                        help="keep the trainings there and continue after them")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks.md alone")
    args = parser.parse_args()
    for name in ("rounds", "seeds"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            parser.error(f"--{name} must be at least 1")
    args.few_rounds = args.rounds or (1 if args.quick else 3)
    args.rounds = args.rounds or (2 if args.quick else 5)
    args.parts = args.only or USUAL
    args.write = not (args.quick or args.no_write)
    args.say = say
    return args


def choose_data():
    """(options that name the data, their name): Fashion-MNIST if there, else glyphs."""
    base = os.environ.get("DPARTUI_DATA_DIR", "")
    for folder in (os.path.join(base, "fashion-mnist"), base):
        if base and any(os.path.exists(os.path.join(folder, "train-images-idx3-ubyte" + end))
                        for end in ("", ".gz")):
            return {"data": folder}, "Fashion-MNIST"
    return {"data": "glyphs"}, "glyphs"


def add(measured, results, *more):
    for key, value in results.items():
        measured.setdefault((*more, *key), []).append(value)


def screen_costs(args, home):
    """{(what, program, size): [figures of each round]}"""
    measured = {}
    seconds = 3 if args.quick else 12

    def look(what, **options):
        for i in range(args.few_rounds):
            say(f"  round {i + 1} of {args.few_rounds}, {what}")
            add(measured, screens.costs(home, seconds, i, **options), what)
    look("idle")
    for devices in (2, 8):
        with home.training(devices):
            look(f"{devices} devices")
    with screens.made_up_gpus(home, 8) as environment:
        look("8 GPUs, made up", names=["dpartui"], environment=environment)
    return measured


def screen(args):
    say("workbench")
    keys, blocks = {}, {}
    with screens.Home(args.data) as home:
        costs = screen_costs(args, home)
        with home.training(2):
            for i in range(args.few_rounds):
                say(f"  round {i + 1} of {args.few_rounds}, keys and blocked terminals")
                for what, times in screens.key_times(home).items():
                    keys.setdefault(what, []).extend(times)
                add(blocks, screens.after_block(home))
        missing = [name for name in ("htop", "btop") if name not in home.others]
        versions = [screens.version(name) for name in home.others]
    rivals = "- against " + ", ".join(versions + [name + ": missing" for name in missing])
    return "\n\n".join((rivals, report.screens(costs), report.keys(keys), report.blocks(blocks)))


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


def circumstances(args, part, load):
    lines = [
        f"- {datetime.date.today().isoformat()}, {processor()}, {CORES} cores for this process, "
        f"{system()}, Linux {platform.release()}",
        f"- {version('dpartui')} and {version('dpartui-engine')}"]
    if part != "accuracy":
        rounds = args.few_rounds if part in ("screen", "scaling", "history") else args.rounds
        lines.append(f"- rows of {args.data_name}; rounds: {rounds}, median (least-most); load "
                     f"before the measurements {load:.2f}" +
                     (", so something else was running" if load > 0.5 else ""))
    if part in PYTORCH:
        lines += [f"- {one.long_name}" for one in args.torch] or ["- PyTorch: missing here"]
    return lines + ([] if part == "screen" else [""])


def run_part(args, part, load, page):
    figures = {}
    if part in TRAINING:
        text, figures = TRAINING[part](args)
    elif part in LONG:
        text = LONG[part](args)
    else:
        text = screen(args)
    text = "\n".join(circumstances(args, part, load) + [text])
    print(text, end="\n\n", flush=True)
    if args.write:
        written = (report.write(page, part, text) and
                   (not figures or report.add_to_summary(page, figures)))
        say(f"written to {page}" if written else f"{page} is not writable")


def main():
    args = options()
    # Leave by way of the clean-up, which also stops the workbench's engine.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    load = os.getloadavg()[0]
    args.data, args.data_name = choose_data()
    args.torch = []
    if set(args.parts) & PYTORCH:
        args.torch = measure.find_torch(args.python)
        if not args.torch:
            say("no Python here has PyTorch: the program alone is measured")
    page = os.path.join(os.path.dirname(program.HERE), "docs", "benchmarks.md")
    for part in args.parts:
        if part == "gpu":
            gpu(args)
        else:
            run_part(args, part, load, page)


if __name__ == "__main__":
    try:
        main()
    except (program.Failure, RuntimeError, ValueError, OSError,
            subprocess.SubprocessError) as error:
        sys.exit(f"bench: {error}")
