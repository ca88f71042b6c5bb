#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A full disk, and a clock that is set: runs continue, and nothing kept is lost.

A small file system of its own (where users may mount one in a namespace), and calls that fail with
ENOSPC and EDQUOT from some moment on.
"""

import errno
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine import Engine, Fault, Home, Page, SHIM, SHORT, is_sanitized, run_test, skip  # noqa: E402

# It is stopped when all has been seen.
ENDLESS = {"model": "linear", "data": "random:400x1000", "devices": "cpu:0-1", "cpu_threads": 1,
           "batch": 20, "train_rows": 300, "test_rows": 100, "epochs": 1000000}
MOUNTED = "mounted"
PATIENCE = 30.0


def wait_for(what, question):
    end = time.monotonic() + PATIENCE
    while not question():
        if time.monotonic() > end:
            raise Fault(f"not within {PATIENCE} s: {what}")
        time.sleep(0.05)


def epochs_kept(home, run):
    return sum(1 for event in home.kept(run)[1] if event[2] == "epoch")


def live_through(home, engine, fill, make_space):
    """A run during which the disk is full for some seconds."""
    run = engine.submit(**ENDLESS)
    wait_for("epochs in the store", lambda: home.kept(run)[0] and epochs_kept(home, run) > 3)
    fill()
    wait_for("a warning of the store", lambda: "runs continue and are stored" in engine.log())
    wait_for("a warning of checkpoints", lambda: "no checkpoint could be written" in engine.log())
    before = epochs_kept(home, run)
    done = engine.must("show", run=run)["epochs_done"]
    wait_for("the run continues", lambda: engine.must("show", run=run)["epochs_done"] > done + 3)
    make_space()
    wait_for("the store catches up", lambda: "runs are kept again" in engine.log())
    engine.must("stop", run=run, when="epoch")
    ended = engine.wait(run)
    if ended["status"] != "stopped":
        raise Fault(f"the run did not continue: {ended}")
    engine.stop()
    after = epochs_kept(home, run)
    if after != ended["epochs_done"] or after <= before:
        raise Fault(f"{after} epochs were kept of {ended['epochs_done']}")
    if home.temporary_files():
        raise Fault(f"temporary files are left: {home.temporary_files()}")
    later = Engine(home)
    resumed = later.submit(resume=run, epochs=after + 1)
    later.wait(resumed, ("done",))
    later.stop()
    return after


def on_small_disk():
    """In a separate namespace, as root there; with room for what a fast machine keeps."""
    home = Home()
    os.mkdir(home.data)
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", home.data],
                           capture_output=True, text=True, check=False)
    if mount.returncode != 0:
        print(f"no small disk can be mounted: {mount.stderr.strip()}")
        home.remove()
        return 77
    filler = os.path.join(home.data, "filler")

    def fill():
        with open(filler, "wb", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    try:
        epochs = live_through(home, Engine(home), fill, lambda: os.unlink(filler))
    finally:
        subprocess.run(["umount", "-l", home.data], check=False)
    home.remove()
    print(f"small disk: a run of {epochs} epochs continued while it was full")
    return end_on_full_disk()


def end_on_full_disk():
    """In such a namespace: a run ends on a disk that stays full, and so does the engine."""
    home = Home()
    os.mkdir(home.data)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", home.data],
                      check=False).returncode != 0:
        home.remove()
        return 77
    try:
        engine = Engine(home)
        run = engine.submit(**dict(SHORT, devices="cpu:0", epochs=3000, checkpoint_every="off"))
        while not os.path.exists(os.path.join(home.data, "dpartui", "runs.db.reserve")):
            time.sleep(0.01)
        with open(os.path.join(home.data, "filler"), "wb", buffering=0) as file:
            try:
                while file.write(bytes(1024)):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        engine.wait(run, ("done",))
        engine.stop()
        after = Engine(home)
        kept = after.ask("show", run=run)["result"]
        after.stop()
        if kept["status"] != "done":
            raise Fault(f"a run that was done is {kept['status']} after a full disk")
    finally:
        subprocess.run(["umount", "-l", home.data], check=False)
    home.remove()
    print("small disk: a run ended, and the engine, while it was full")
    return 0


def try_small_disk():
    command = [sys.executable, os.path.abspath(__file__), MOUNTED]
    try:
        done = subprocess.run(["unshare", "-rm", *command], check=False, timeout=4 * PATIENCE,
                              capture_output=True, text=True)
    except FileNotFoundError:
        print("no small disk: there is no program unshare")
        return
    print((done.stdout + done.stderr).strip())
    if "Operation not permitted" not in done.stderr and done.returncode not in (0, 77):
        raise Fault("on a small disk")


def try_refusals(error):
    """Every write below the data folder fails for a while."""
    home = Home()
    page = Page(home.root)
    engine = Engine(home, LD_PRELOAD=SHIM, FAULT_PAGE=page.path, FAULT_CALL="write",
                    FAULT_AT="all", FAULT_ERRNO=error, FAULT_PATH=home.data)
    epochs = live_through(home, engine, lambda: page.set_active(1), lambda: page.set_active(0))
    page.close()
    home.remove()
    print(f"{errno.errorcode[error]}: a run of {epochs} epochs continued while writing failed")


def try_clock():
    """It is set forward and back by hours, many times in a run."""
    home = Home()
    page = Page(home.root)
    engine = Engine(home, LD_PRELOAD=SHIM, FAULT_PAGE=page.path)
    start = time.monotonic()
    runs = []
    for shifts in ((7, -7, 0), (-30, 30, -1), (0, -100, 3)):
        run = engine.submit(**ENDLESS)
        runs.append(run)
        engine.wait(run, ("running",))
        for hours in shifts:
            page.set_clock_shift(3600.0 * hours)
            done = engine.must("show", run=run)["epochs_done"]
            wait_for("epochs", lambda: engine.must("show", run=run)["epochs_done"] > done + 2)
        engine.must("stop", run=run, when="step")
        if engine.wait(run)["status"] != "stopped":
            raise Fault(f"run {run}: {engine.log()}")
    lasted = time.monotonic() - start
    for run in runs:
        for event in engine.must("show", run=run)["epochs"]:
            for key in ("seconds", "eval_s", "wait_s", "compute_s", "sync_s"):
                if not 0 <= event[key] <= lasted:
                    raise Fault(f"{key} is {event[key]} in a test of {lasted} s")
    if [found["run"] for found in engine.must("runs")] != runs:
        raise Fault("the runs are out of order")
    engine.stop()
    later = Engine(home)
    listed = [found["run"] for found in later.must("runs")]
    later.stop()
    if listed != runs:
        raise Fault(f"the runs of the store are out of order: {listed}")
    page.close()
    home.remove()
    print(f"clock: {len(runs)} runs while it was set 9 times, by up to 130 hours")


def main():
    if sys.argv[1:] == [MOUNTED]:
        return on_small_disk()
    try_small_disk()
    if is_sanitized() or not os.path.exists(SHIM) or os.path.getsize(SHIM) == 0:
        skip("no library that makes calls fail; the small disk alone was tried")
    try_refusals(errno.ENOSPC)
    if os.environ.get("FAULTS_ALL"):
        try_refusals(errno.EDQUOT)
    try_clock()
    return 0


if __name__ == "__main__":
    run_test(main)
