#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of tests/gpu/run, built as on a machine with a GPU: for one architecture, with the
stand-ins for libraries and then with the libraries. Each is started, says that there is no GPU and
leaves with status 77.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

import program  # noqa: E402

TOP = os.path.dirname(program.HERE)
BUILD = os.path.abspath(os.environ.get("top_builddir", TOP))
KERNELS = os.path.join(BUILD, "engine", "device", "cuda", "kernels")
GPU = os.path.join(program.HERE, "gpu")
# In place of nvcc. One file of kernels is compiled as on a machine with a GPU; of the others there is
# what make compiled, for the same devices and more.
NVCC = """#!/bin/sh
for source; do :; done
kernel=$(basename "$source" .cu)
if test "$kernel" = flatten || ! test -f {kernels}/"$kernel".o; then
    exec {nvcc} "$@"
fi
while test "$1" != -o; do
    shift
done
cp {kernels}/"$kernel".o "$2"
"""
# Quick to build; kernels are compiled once for both.
ENVIRONMENT = {**{key: value for key, value in os.environ.items() if "MAKE" not in key},
               "CFLAGS": "-O0", "CUDA_VISIBLE_DEVICES": "-1"}
ARGUMENTS = {"gpu-train": ("train", "--model", "lenet", "--data", "glyphs", "--devices", "cuda:0")}


def configured():
    """Where the program found CUDA's libraries when it was configured with a toolkit, as options;
    None: without. What was found once has to be found again."""
    try:
        with open(os.path.join(BUILD, "config.h"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    root = re.search(r'^#define CUDA_TOOLKIT_TEXT ".* in (/[^",]*)', text, re.M)
    if not root:
        return None
    options = ["--cuda", root[1]]
    for name in ("cudnn", "nccl"):
        libraries = re.search(rf'^#define {name.upper()}_DIR "([^"]*)"', text, re.M)
        if libraries:
            options += ["--" + name, re.sub(r"/lib(64)?(/[^/]*)?$", "", libraries[1])]
    return options


def programs():
    with open(os.path.join(GPU, "build.mk"), encoding="utf-8") as file:
        return re.search(r"^PROGRAMS = ((?:.*\\\n)*.*)", file.read(), re.M)[1].replace(
            "\\", "").split()


def environment(folder, found):
    """Of the build, where nvcc does less."""
    nvcc = os.path.join(found[1], "bin", "nvcc") if found else ""
    if not os.access(nvcc, os.X_OK):
        return ENVIRONMENT
    path = os.path.join(folder, "nvcc")
    with open(path, "w", encoding="utf-8") as file:
        file.write(NVCC.format(nvcc=shlex.quote(nvcc), kernels=shlex.quote(KERNELS)))
    os.chmod(path, 0o755)
    return {**ENVIRONMENT, "NVCC": path}


class Link(unittest.TestCase):
    def build(self, folder, *options):
        found = configured()
        done = subprocess.run(
            [os.path.join(GPU, "run"), "--build", folder, "--arch", "90", "--build-only",
             *(found or ()), *options],
            env=environment(folder, found), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=900, check=False)
        missing = re.search(r"^gpu/run: (no .*)", done.stdout, re.M)
        if missing and not found:
            raise unittest.SkipTest(missing[1])
        self.assertEqual(done.returncode, program.SKIP, done.stdout)
        self.assertIn("no GPU: ", done.stdout)
        return done.stdout

    def start_all(self, folder):
        names = programs()
        self.assertGreater(len(names), 8)
        for name in names:
            done = subprocess.run(
                [os.path.join(folder, name), *ARGUMENTS.get(name, ())], cwd=folder, timeout=60,
                env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(done.returncode, program.SKIP, f"{name}: {done.stdout}")
            self.assertIn("no GPU: ", done.stdout, name)

    def test_programs_link(self):
        with tempfile.TemporaryDirectory(prefix="gpu-link.") as folder:
            said = self.build(folder, "--stand-ins")
            self.assertIn("stand-ins for", said)
            self.start_all(folder)
            said = self.build(folder)
            if "stand-ins for" not in said:
                self.start_all(folder)


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    if outcome.skipped:
        program.skip(outcome.skipped[0][1])
    sys.exit(not outcome.wasSuccessful())
