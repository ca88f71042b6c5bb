# SPDX-License-Identifier: MIT
"""What tests of runs over several hosts have in common: the hosts are namespaces of this machine, or
a Slurm cluster of such (tests/hosts), in which the test program runs itself again."""

import contextlib
import hashlib
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, "programs"))
import cli  # noqa: E402
import program  # noqa: E402

RANK = os.path.join(os.path.abspath(cli.BUILD), "dpartui-rank")
# What belongs to a run, by the names that Linux has of their programs.
OURS = {"dpartui-rank", "mpirun", "orterun", "orted", "prted", "prterun", "srun", "slurmstepd"}
# Seconds until a host that is silent is lost. A busy machine keeps one silent for more than 2.
LIMIT = "5"
# Seven steps an epoch, the last of which is short.
DATA = ["--model", "lenet", "--data", "glyphs", "--train-rows", "100", "--test-rows", "50",
        "--batch", "16", "--lr", "0.05", "--init", "default", "--cpu-threads", "1",
        "--recipe", "none", "--momentum", "0.5", "--seed", "5"]


def enter(rig, hosts):
    """Have this program run on the first of so many hosts, unless it does already."""
    if os.environ.get("HOSTS_RIG") == rig:
        return
    if not os.path.exists(RANK):
        program.skip("dpartui-rank is not built: configure found no MPI "
                     "(Debian: libopenmpi-dev, openmpi-bin)")
    os.environ["HOSTS_RIG"] = rig
    # The engine ends the launcher's children by their group; those that MPI binds would be slow.
    script = os.path.join(HERE, "hosts", rig)
    os.execv(script, [script, "--hosts", str(hosts), sys.executable, *sys.argv])


def on_host(host, command):
    """What a shell there prints."""
    done = subprocess.run([os.environ["ON_HOST"], host, command], capture_output=True, text=True,
                          check=False, timeout=cli.PATIENCE)
    if done.returncode != 0:
        raise program.Failure(f"{host}: {command}: {done.stderr}")
    return done.stdout


def processes(names):
    """{number: name} of those with these names, on all hosts. None that has ended: nobody but the
    first process of the namespace has to reap an orphan."""
    found = {}
    for number in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/comm", encoding="utf8") as file:
                name = file.read().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name in names and not cli.has_ended(int(number)):
            found[int(number)] = name
    return found


def host_of(process):
    """Its host's name, by the namespace that it is in."""
    def uts(number):
        return os.readlink(f"/proc/{number}/ns/uts")
    for name in os.listdir("/run"):
        if name.startswith("host."):
            with open(os.path.join("/run", name), encoding="ascii") as file:
                if uts(file.read().strip()) == uts(process):
                    return name[len("host."):]
    raise program.Failure(f"process {process} is on no host")


def ranks():
    """{host: number of its dpartui-rank}; without those that end meanwhile."""
    found = {}
    for number in processes({"dpartui-rank"}):
        with contextlib.suppress(FileNotFoundError):
            found[host_of(number)] = number
    return found


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def enough(cases, count):
    """All cases; with sanitizers, which check accesses to memory and not results, only the last
    `count`."""
    return cases[-count:] if program.is_sanitized() else cases


class Case(cli.Case):
    def train(self, *options):
        """The SHA-256 of the weights that a run ends with."""
        self.saved = getattr(self, "saved", 0) + 1
        path = self.path(f"weights-{self.saved}.safetensors")
        self.good("train", *DATA, *options, "--save", path)
        return digest(path)

    def losses(self, run):
        return [epoch["train_loss"] for epoch in self.good_json("show", run)["epochs"]]

    def same_losses(self, run, other):
        for loss, expected in zip(self.losses(run), self.losses(other), strict=True):
            self.assertAlmostEqual(loss, expected, delta=2e-5)

    def state(self, run):
        """(status, epochs) of the run store: the program, asked again and again, would take more of
        the processor than the run. The engine never knows less."""
        found = self.query("SELECT status, (SELECT count(*) FROM events WHERE run = runs.number AND "
                           f"name = 'epoch') FROM runs WHERE number = {run}")
        return found[0] if found else ("queued", 0)

    def wait_status(self, run, status):
        self.wait_for(f"run {run} {status}", lambda: self.state(run)[0] == status)
        self.assertEqual(self.status_of(run), status)

    def wait_end(self, run):
        self.wait_for(f"the end of run {run}", lambda: self.state(run)[0] in program.ENDED)

    def wait_epochs(self, run, count=1):
        """Until the run has that many."""
        self.wait_for(f"{count} epochs of run {run}", lambda: self.state(run)[1] >= count or
                      self.state(run)[0] in program.ENDED)
        self.assertGreaterEqual(self.state(run)[1], count, self.good("show", str(run)))

    def start_run(self, *options):
        """Its number, when it has trained on all hosts."""
        run = self.good("train", *options, "--detach").strip()
        self.wait_epochs(run)
        self.assertEqual(self.status_of(run), "running", self.good("show", run))
        return run

    def wait_none_left(self):
        end = time.monotonic() + cli.PATIENCE
        while processes(OURS):
            self.assertLess(time.monotonic(), end, processes(OURS))
            time.sleep(0.02)
