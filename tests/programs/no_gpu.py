#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the two programs say where there is no GPU to train on: in a build without CUDA, and in one
with it on machines with no driver, a toolkit's stub in its place, and one that is too old."""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import gpus  # noqa: E402
from gpus import CONFIG, HAS_CUDA, OLD_DRIVER, SHORT  # noqa: E402

# In a build without CUDA.
WHAT_TO_RUN = "in the folder of its source run ./bootstrap --cuda=packages"
LARGE = ("libcudnn", "libcublas", "libnccl")


def stub_of_toolkit():
    """libcuda.so of the toolkit's folder of stubs, or None."""
    root = re.search(r" in ([^,]+)", CONFIG.get("CUDA_TOOLKIT_TEXT", ""))
    for folder in ("lib64", "lib", "targets/x86_64-linux/lib"):
        path = root and os.path.join(root.group(1), folder, "stubs", "libcuda.so")
        if path and os.path.exists(path):
            return path
    return None


class Case(gpus.Case):
    def setUp(self):
        super().setUp()
        self.env["DPARTUI_NVML"] = "none"

    def says(self, words):
        """Wherever somebody looks for GPUs, and CPU devices train all the same."""
        self.assertIn(f"\nNo GPUs: {words}", self.good("devices"))
        devices = self.devices()
        self.assertTrue(devices[0]["available"])
        self.assertEqual(devices[0]["device"], "cpu:0")
        for place in ([], ["--foreground"]):
            done = self.run_program("train", *SHORT, "--devices", "cuda:0", *place)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stdout, "")
            self.assertIn(f"no device cuda:0: {words}", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            done = self.run_program("train", *SHORT, "--devices", "all", *place)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"no GPU to train on ({words}", done.stderr)
            for chosen in ("default", "cpu:0"):
                self.good("train", *SHORT, "--devices", chosen, *place)
        with open(os.path.join(self.folder, "dpartui", "engine.log"), encoding="utf8") as log:
            self.assertIn(f"no GPUs: {words}", log.read())


@unittest.skipIf(HAS_CUDA, "this build has a CUDA backend")
class WithoutBackend(Case):
    def test_says_what_was_missing(self):
        missing = CONFIG["CUDA_MISSING_TEXT"].strip('"')
        self.assertTrue(missing)
        self.says(f"this build has no CUDA backend ({missing}); {WHAT_TO_RUN}")

    def test_says_what_to_run_of_each_gpu(self):
        if not os.path.getsize(gpus.LIBRARY):
            self.skipTest("there is no made-up NVML")
        self.env["DPARTUI_NVML"] = gpus.LIBRARY
        self.fake(gpus=2)
        for device in self.devices()[:2]:
            self.assertFalse(device["available"])
            self.assertTrue(device["reason"].endswith(WHAT_TO_RUN), device["reason"])
        self.assertEqual(self.good("devices").count(WHAT_TO_RUN), 2)

    def test_nothing_of_cuda_is_linked(self):
        with open(gpus.ENGINE, "rb") as file:
            self.assertNotIn(b"cudaGetDeviceCount", file.read())


@unittest.skipUnless(HAS_CUDA, "this build has no CUDA backend")
class WithBackend(Case):
    def test_no_driver(self):
        self.use_driver(None)
        self.says("no NVIDIA driver is installed (libcuda.so.1 was not found)")

    def test_driver_too_old(self):
        self.use_driver(OLD_DRIVER)
        self.says("the NVIDIA driver is too old: it has CUDA 11.0, this program needs ")

    def test_stub(self):
        stub = stub_of_toolkit()
        if not stub:
            self.skipTest("the toolkit has no stub of the driver")
        self.use_driver(stub)
        self.says("a CUDA toolkit's stub stands before the NVIDIA driver: take ")

    def test_workbench_is_told(self):
        self.use_driver(OLD_DRIVER)
        engine = gpus.Private(self.env)
        self.addCleanup(engine.process.kill)
        engine.call("watch", interval=0.05)
        state = engine.state_where(lambda state: "answered yet" not in str(state["no_gpus"]))
        self.assertIn("the NVIDIA driver is too old", state["no_gpus"])
        self.assertEqual(engine.end(), 0)

    def test_libraries_wait_for_a_gpu(self):
        self.use_driver(OLD_DRIVER)
        engine = gpus.Private(self.env)
        self.addCleanup(engine.process.kill)

        def mapped():
            with open(f"/proc/{engine.process.pid}/maps", encoding="utf8") as maps:
                return {os.path.basename(line.split()[-1]) for line in maps if "/" in line}

        engine.call("hello", version="0")
        started = mapped()
        self.assertIn(os.path.basename(gpus.ENGINE), started)
        self.assertFalse([name for name in started if name.startswith(("libcuda", "fake_dr"))])
        engine.call("devices")
        self.assertFalse([name for name in started | mapped() if name.startswith(LARGE)])
        self.assertEqual(engine.end(), 0)

    def test_gpus_that_the_driver_knows(self):
        """Listed with what they do, and with what keeps this program from them."""
        if not os.path.getsize(gpus.LIBRARY):
            self.skipTest("there is no made-up NVML")
        self.use_driver(OLD_DRIVER)
        self.env["DPARTUI_NVML"] = gpus.LIBRARY
        self.fake(gpus=2)
        devices = self.devices()
        self.assertEqual([device["device"] for device in devices[:3]],
                         ["cuda:0", "cuda:1", "cpu:0"])
        self.assertIn("the NVIDIA driver is too old", devices[1]["reason"])
        self.assertIn("driver is too old", self.good("devices"))
        self.assertNotIn("No GPUs", self.good("devices"))


if __name__ == "__main__":
    unittest.main()
