# SPDX-License-Identifier: MIT
"""What all runs ever made cost whoever lists, shows, adds or resumes one."""

import os
import re
import shutil
import statistics
import subprocess
import tempfile

import measure
import program
import ptymeter
import made_store
import report

RUNS = (1000, 10000, 100000)
EPOCHS, POINTS = 10, 20
LONG_RUNS = (10000, 1000000)  # epochs of one run
WRITES = 200
SECONDS = 3600
# What commands take: name, arguments; a run in the middle is shown.
COMMANDS = (("runs --limit 5", ["runs", "--limit", "5"]),
            ("runs --limit 3 --sort -acc", ["runs", "--limit", "3", "--sort", "-acc"]),
            ("show", ["show", "{middle}"]))
EXPORTS = (("show", ["show", "1"]), ("show --json", ["show", "1", "--json"]),
           ("export --csv", ["export", "1", "--csv"]), ("export --svg", ["export", "1", "--svg"]))


class Home:
    """A folder for a store, an engine and a workbench."""

    def __init__(self, folder):
        self.folder = folder
        run = os.path.join(folder, "run")
        os.makedirs(run, mode=0o700)
        self.store = os.path.join(folder, "data", "dpartui", "runs.db")
        os.makedirs(os.path.dirname(self.store), mode=0o700)
        self.environment = dict(
            program.environment(), HOME=folder, XDG_RUNTIME_DIR=run,
            XDG_DATA_HOME=os.path.join(folder, "data"), XDG_STATE_HOME=os.path.join(folder, "state"),
            XDG_CONFIG_HOME=os.path.join(folder, "config"), TERM="xterm-256color",
            LC_ALL="C.UTF-8")

    def spent(self, *arguments):
        """(milliseconds, of the processor, MiB at most) of a command."""
        command = [measure.built("spent"), program.path(), *arguments]
        done = subprocess.run(command, env=self.environment, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
        found = re.search(r"^spent ([0-9.]+) ms ([0-9.]+) ms ([0-9]+) KiB$", done.stderr, re.MULTILINE)
        if done.returncode or not found:
            raise program.Failure(f"{' '.join(arguments)}: {done.stderr.strip()}")
        return float(found.group(1)), float(found.group(2)), int(found.group(3)) / 1024

    def engine_pid(self):
        done = subprocess.run([program.path(), "engine", "status"], env=self.environment,
                              stdout=subprocess.PIPE, text=True, check=True, timeout=60)
        return int(re.search(r"process ([0-9]+)", done.stdout).group(1))

    def engine_start(self):
        """(milliseconds until it has answered, of its processor time, MiB at most)."""
        milliseconds, _, _ = self.spent("engine", "start")
        pid = self.engine_pid()
        return milliseconds, processor_of(pid), peak_of(pid)

    def engine_stop(self):
        self.spent("engine", "stop")

    def first_frame(self):
        """(milliseconds, of the processor, MiB) of the workbench with a running engine."""
        viewer = ptymeter.Viewer([program.path()], 80, 24, self.environment)
        try:
            frame = viewer.first_frame()
            return (frame["first_frame_ms"], 1e3 * viewer.cpu_seconds(),
                    viewer.resident_kib() / 1024)
        finally:
            viewer.leave()

    def epoch_write(self):
        done = subprocess.run([measure.built("epoch_write"), self.store, str(WRITES)],
                              stdout=subprocess.PIPE, text=True, check=True, timeout=SECONDS)
        return float(done.stdout)


def processor_of(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e6


def peak_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    raise program.Failure("the engine has ended")


def leave_log(store):
    """As a killed engine does: the next one reads the store through in the background."""
    with open(store + "-wal", "wb") as file:
        file.write(bytes(4096))


def one_round(home, middle):
    """{what: (milliseconds, of the processor or None, MiB or None)}"""
    figures = {}
    for name, arguments in COMMANDS:
        figures[name] = home.spent(*[word.format(middle=middle) for word in arguments])
    figures["an epoch's write"] = home.epoch_write(), None, None
    figures["the engine's first answer"] = home.engine_start()
    for name, arguments in COMMANDS:
        figures[name + ", with an engine"] = home.spent(
            *[word.format(middle=middle) for word in arguments])
    figures["the workbench's first frame"] = home.first_frame()
    home.engine_stop()
    leave_log(home.store)
    figures["the engine's first answer, after a kill"] = home.engine_start()
    home.engine_stop()
    return figures


def of_runs(args, count):
    """{what: [figures]} with `count` runs."""
    figures = {}
    with tempfile.TemporaryDirectory(prefix="dph.") as folder:
        home = Home(folder)
        args.say(f"  a store of {count} runs")
        made_store.make(home.store, count, EPOCHS, POINTS)
        size = os.path.getsize(home.store) / 2**20
        old = home.store + ".old"
        shutil.copyfile(home.store, old)
        for i in range(args.few_rounds):
            args.say(f"  round {i + 1} of {args.few_rounds}, {count} runs")
            shutil.copyfile(old, home.store)
            figures.setdefault("bringing a version 1 up to date", []).append(
                home.spent("runs", "--limit", "1"))
            for what, figure in one_round(home, max(1, count // 2)).items():
                figures.setdefault(what, []).append(figure)
    for what, found in figures.items():
        args.say(f"  {what}: {cell(found)}")
    return size, figures


def of_long_run(args, epochs):
    with tempfile.TemporaryDirectory(prefix="dph.") as folder:
        home = Home(folder)
        args.say(f"  a run of {epochs} epochs")
        made_store.make(home.store, 1, epochs, 1000)
        home.spent("runs")
        figures = {}
        for name, arguments in EXPORTS:
            figures[name] = [home.spent(*arguments)]
            args.say(f"  {name}: {cell(figures[name])}")
        return figures


def cell(figures):
    """"12 ms (8), 6.4 MiB": medians."""
    if not figures:
        return "-"
    times, processor, sizes = zip(*figures)
    text = f"{statistics.median(times):.{2 if max(times) < 1 else 0}f} ms"
    if None not in processor:
        text += f" ({statistics.median(processor):.0f})"
    return text if None in sizes else f"{text}, {statistics.median(sizes):.1f} MiB"


def table(head, columns, names):
    """A column for each of `columns`, (title, {name: figures})."""
    return report.table([head, *(title for title, _ in columns)],
                        [[name, *(cell(figures.get(name)) for _, figures in columns)]
                         for name in names])


def measured(args):
    runs = RUNS[:2] if args.quick else RUNS
    epochs = LONG_RUNS[:1] if args.quick else LONG_RUNS
    columns = []
    for count in (1, *runs):
        size, figures = of_runs(args, count)
        columns.append((f"{count} runs, {size:.0f} MB" if count > 1 else "1 run", figures))
    long_runs = [(f"{count} epochs", of_long_run(args, count)) for count in epochs]
    return (table("figure", columns, list(columns[0][1])) + "\n\n" +
            table("one long run", long_runs, [name for name, _ in EXPORTS]))
