# SPDX-License-Identifier: MIT
"""What the benchmark measures: one function per kind of figure, each a fresh process."""

import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import program  # noqa: E402

CORES = len(os.sched_getaffinity(0))
SECONDS = 3600  # more than any measured process takes

# glibc returns large blocks to the system at once and asks for them anew in every step; these keep
# them, which is worth some percent to PyTorch.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592",
               "MALLOC_TOP_PAD_": "268435456"}


def find_torch():
    """A Python that has torch, or None."""
    for candidate in (os.environ.get("PYTHON"), sys.executable, "python3", "/usr/bin/python3"):
        if candidate and subprocess.run(
                [candidate, "-c", "import torch"], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return candidate
    return None


def rate(batch, seconds, warm):
    """Samples per second of the median step; the first `warm` of them do not count."""
    return batch / statistics.median(seconds[warm:])


class Program:
    """Steps and epochs of dpartui on given devices."""

    def __init__(self, data, devices, threads):
        self.data, self.devices, self.threads = data, devices, threads

    def train(self, **options):
        return program.train({**self.data, "devices": self.devices, "cpu-threads": self.threads,
                              "lr": 0.01, **options}, SECONDS)

    def step_rate(self, model, batch, steps, warm):
        events = self.train(model=model, batch=batch, epochs=1,
                            **{"train-rows": batch * steps, "test-rows": 64})
        return rate(batch, [event["seconds"] for event in events["step"]], warm)

    def epoch_seconds(self, model, rows):
        events = self.train(model=model, batch=256, epochs=1,
                            **{"train-rows": rows, "test-rows": 64})
        return events["epoch"][0]["seconds"]


class Torch:
    """The same of PyTorch."""

    def __init__(self, python, channels_last, environment):
        self.python, self.channels_last = python, channels_last
        self.environment = dict(os.environ, **environment)
        self.versions = {}

    def steps(self, *arguments):
        command = [self.python, os.path.join(HERE, "torch_step.py"), "--threads", str(CORES),
                   *map(str, arguments)] + (["--channels-last"] if self.channels_last else [])
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, check=True,
                              timeout=SECONDS)
        result = json.loads(done.stdout)
        self.versions = {key: result[key] for key in ("version", "onednn")}
        return result["seconds"]

    def step_rate(self, model, batch, steps, warm):
        return rate(batch, self.steps("--model", model, "--batch", batch, "--steps", steps), warm)

    def epoch_seconds(self, model, rows):
        return sum(self.steps("--model", model, "--batch", 256, "--rows", rows))
