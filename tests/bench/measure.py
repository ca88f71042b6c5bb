# SPDX-License-Identifier: MIT
"""What the benchmark measures: one function per kind of figure, each a fresh process."""

import json
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))

import program  # noqa: E402

CORES = len(os.sched_getaffinity(0))
SECONDS = 3600  # more than any measured process takes
WARM_BATCHES = 2  # of an evaluation by PyTorch

# glibc returns large blocks to the system at once and asks for them again in every step; these keep
# them, which is worth some percent to PyTorch.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592",
               "MALLOC_TOP_PAD_": "268435456"}


class Version:
    """A Python that has torch."""

    def __init__(self, python, version, onednn):
        self.python = python
        self.name = "PyTorch " + version.split("+")[0]
        self.long_name = f"{self.name} with oneDNN {onednn or 'missing'}"


def find_torch(named):
    """The Versions of the Pythons `named`, else of all that are usual; of each release one."""
    usual = [os.environ.get("PYTHON"), sys.executable, "python3", "/usr/bin/python3"]
    found = {}
    for python in named or [path for path in usual if path]:
        try:
            done = subprocess.run([python, "-B", os.path.join(HERE, "torch_step.py"), "--versions"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
            version = Version(python, **json.loads(done.stdout))
            found.setdefault(version.name, version)
        except (OSError, subprocess.CalledProcessError) as error:
            if named:
                raise program.Failure(f"{python}: no Python with PyTorch") from error
    return list(found.values())


def has_bf16():
    """Whether the processor multiplies bf16 itself. Elsewhere PyTorch converts, which takes many
    times as long as f32."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = re.search(r"^(?:flags|Features)\s*:(.*)", file.read(), re.MULTILINE)
    return bool(flags and {"avx512_bf16", "amx_bf16", "bf16"} & set(flags.group(1).split()))


def rate(batch, seconds, warm):
    """Samples per second of the median step; the first `warm` of them do not count."""
    return batch / statistics.median(seconds[warm:])


def most_memory(command, environment):
    """MiB that the largest process had resident at its most: the command or what it waited for."""
    pid = os.posix_spawnp(command[0], command, environment, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise program.Failure(f"wait status {status}: {' '.join(command)}")
    return usage.ru_maxrss / 1024


class Program:
    """Steps, epochs and evaluations of dpartui on given devices."""

    def __init__(self, data, devices, threads, dtype="f32"):
        self.data, self.devices, self.threads, self.dtype = data, devices, threads, dtype

    def options(self, **options):
        return {**self.data, "devices": self.devices, "cpu-threads": self.threads, "lr": 0.01,
                "dtype": self.dtype, "recipe": "none", "checkpoint-every": "off", **options}

    def train(self, **options):
        return program.train(self.options(**options), SECONDS)

    def step_rate(self, model, batch, steps, warm):
        events = self.train(model=model, batch=batch, epochs=1,
                            **{"train-rows": batch * steps, "test-rows": 64})
        return rate(batch, [event["seconds"] for event in events["step"]], warm)

    def epoch_seconds(self, model, rows):
        events = self.train(model=model, batch=256, epochs=1,
                            **{"train-rows": rows, "test-rows": 64})
        return events["epoch"][0]["seconds"]

    def evaluation_rate(self, model, batch, batches):
        """Samples per second of the second evaluation: the first touches its memory first."""
        rows = batch * batches
        events = self.train(model=model, batch=batch, epochs=2,
                            **{"train-rows": batch, "test-rows": rows})
        return rows / events["epoch"][1]["eval_s"]

    def profile(self, model, batch, steps):
        """The event of --profile, which leaves the first step out."""
        events = self.train(model=model, batch=batch, epochs=1, profile=True,
                            **{"train-rows": batch * steps, "test-rows": 64})
        return events["profile"][0]

    def step_memory(self, model, batch, steps):
        return most_memory(program.train_command(self.options(
            model=model, batch=batch, epochs=1,
            **{"train-rows": batch * steps, "test-rows": 64})), program.environment())


def built(name):
    """A program of the benchmark's own."""
    return os.path.join(os.path.dirname(program.path()), "tests", "bench", name)


def peak(threads):
    """{"sgemm_gflops", "triad_gb_s"} of that number of threads."""
    done = subprocess.run([built("peak"), str(threads)], stdout=subprocess.PIPE, check=True,
                          timeout=SECONDS)
    return json.loads(done.stdout)


class Step:
    """Steps by tests/bench/step.c: the program's own, in a process that does nothing else."""

    def __init__(self, threads):
        self.threads = threads

    def step_rate(self, model, batch, steps, warm):
        del warm  # it leaves out two steps itself
        environment = program.environment()
        environment.setdefault("OMP_WAIT_POLICY", "passive")  # as the engine has it
        models = environment["DPARTUI_MODEL_PATH"]
        command = [built("step"), os.path.join(models, model + ".conf"), str(batch),
                   str(self.threads), str(steps)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                              timeout=SECONDS, env=environment)
        return batch / float(re.search(r"\(median ([0-9.]+) ms", done.stdout).group(1)) * 1000


class Torch:
    """The same of PyTorch."""

    def __init__(self, version, channels_last, environment, threads=CORES, frozen=False,
                 bf16=False):
        self.version, self.channels_last, self.threads = version, channels_last, threads
        self.frozen, self.bf16 = frozen, bf16
        self.environment = dict(os.environ, **environment)

    def is_plain(self):
        """Of the settings those that most often are the fastest, in f32 and in bf16."""
        return (self.channels_last and "MALLOC_TOP_PAD_" in self.environment and
                not self.frozen and self.threads == CORES)

    def command(self, script, *arguments):
        command = [self.version.python, "-B", os.path.join(HERE, script), "--threads",
                   str(self.threads), *map(str, arguments)]
        return command + (["--channels-last"] if self.channels_last else [])

    def call(self, script, *arguments):
        """The JSON object that one of the scripts here prints; None where it prints nothing."""
        done = subprocess.run(self.command(script, *arguments), env=self.environment, check=True,
                              stdout=subprocess.PIPE, timeout=SECONDS)
        return json.loads(done.stdout) if done.stdout else None

    def steps(self, *arguments):
        return self.call("torch_step.py", *self.precision(), *arguments)["seconds"]

    def precision(self):
        return ["--bf16"] if self.bf16 else []

    def step_rate(self, model, batch, steps, warm):
        return rate(batch, self.steps("--model", model, "--batch", batch, "--steps", steps), warm)

    def epoch_seconds(self, model, rows):
        return sum(self.steps("--model", model, "--batch", 256, "--rows", rows))

    def evaluation_rate(self, model, batch, batches):
        seconds = self.steps("--model", model, "--batch", batch, "--steps", WARM_BATCHES + batches,
                             "--evaluate", *(["--frozen"] if self.frozen else []))
        return batch * batches / sum(seconds[WARM_BATCHES:])

    def step_memory(self, model, batch, steps):
        return most_memory(self.command("torch_step.py", *self.precision(), "--model", model,
                                        "--batch", batch, "--steps", steps), self.environment)
