#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What bootstrap makes of --cuda and of the machine: with a made-up driver, a made-up toolkit, a
made-up configure, and Python's registry in a folder of made-up packages."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

TOP = os.path.abspath(os.environ.get("top_srcdir", "."))
BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
OLD_DRIVER = os.path.join(BUILD, "tests", "fakes", "fake_driver.so")
MODULE = "/proc/driver/nvidia/version"

# Finds a toolkit where FAKE_TOOLKIT is set, and takes one that is named when its nvcc is there.
CONFIGURE = """#!/bin/sh
echo "$*" >>configured
cuda=${FAKE_TOOLKIT-}
for word; do
    case $word in
    --without-cuda) cuda= ;;
    --with-cuda) test -n "$cuda" || { echo "no CUDA toolkit" >&2; exit 1; } ;;
    --with-cuda=*) cuda=${word#*=}; test -x "$cuda/cu13/bin/nvcc" || exit 1 ;;
    esac
done
if test -n "$cuda"; then
    echo '#define HAVE_CUDA_TOOLKIT 1' >config.h
else
    echo '#define CUDA_MISSING_TEXT "no nvcc found"' >config.h
fi
printf 'all:\\n\\t@echo built\\n' >Makefile
: >config.status
"""
SMI = """#!/bin/sh
test -n "${FAKE_CUDA-}" || exit 9
echo "| NVIDIA-SMI 580.82.07   Driver Version: 580.82.07   CUDA Version: $FAKE_CUDA     |"
"""
# Python without pip and venv.
BARE_PYTHON = f"""#!/bin/sh
case "$*" in
"-m pip"* | "-m venv"*) echo "No module named $2" >&2; exit 1 ;;
esac
exec {sys.executable} "$@"
"""
FULL = """#!/bin/sh
echo 'Filesystem 1024-blocks Used Available Capacity Mounted'
echo '/dev/made-up 9000000 8000000 1000000 89% /'
"""


def has_pip():
    return subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True,
                          check=False).returncode == 0


def write(path, text, mode=0o755):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def wheel(folder, name, version, files=(), needs=()):
    """A package for pip: FILES are executable and hold the version."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    members = {file: f"{name} {version}\n" for file in files}
    members[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" +
        "".join(f"Provides-Extra: {extra}\nRequires-Dist: {need}; extra == '{extra}'\n"
                for extra, need in needs))
    members[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{info}/RECORD"
    members[record] = "".join(f"{member},,\n" for member in [*members, record])
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, f"{stem}-py3-none-any.whl"), "w") as archive:
        for member, text in members.items():
            entry = zipfile.ZipInfo(member)
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, text)


def registry(folder):
    """The toolkits 13.0, 13.2 (two releases) and 13.5, and what goes with them."""
    for version in ("13.0.1", "13.2.0", "13.2.10", "13.5.0"):
        needs = []
        for extra, name, file in (("nvcc", "nvidia-cuda-nvcc", "bin/nvcc"),
                                  ("cudart", "nvidia-cuda-runtime", "lib/libcudart.so.13"),
                                  ("cccl", "nvidia-cuda-cccl", "include/cccl/cuda/version"),
                                  ("cublas", "nvidia-cublas", "lib/libcublasLt.so.13")):
            wheel(folder, name, version, [f"nvidia/cu13/{file}"])
            needs.append((extra, f"{name}=={version}"))
        wheel(folder, "cuda-toolkit", version, needs=needs)
    for version in ("9.9.0", "9.28.1"):
        wheel(folder, "nvidia-cudnn-cu13", version, ["nvidia/cudnn/lib/libcudnn.so.9"])
    wheel(folder, "nvidia-nccl-cu13", "2.32.3", ["nvidia/nccl/lib/libnccl.so.2"])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="bootstrap."))
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree, self.store = self.path("tree"), self.path("data", "dpartui")
        write(self.path("tree", "configure.ac"), "")
        write(self.path("tree", "m4", "dp.m4"), "")
        write(self.path("tree", "Makefile.in"), "")
        write(self.path("tree", "configure"), CONFIGURE)
        for name in ("bootstrap", os.path.join("build-aux", "cuda-packages")):
            with open(os.path.join(TOP, name), encoding="utf-8") as file:
                write(self.path("tree", name), file.read().replace(MODULE, self.path("module")))
        write(self.path("bin", "nvidia-smi"), SMI)
        write(self.path("lib", "libcuda.so.1"), "")
        self.env = {**os.environ, "PATH": self.path("bin") + ":" + os.environ["PATH"],
                    "LD_LIBRARY_PATH": self.path("lib"), "XDG_DATA_HOME": self.path("data"),
                    "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.path("registry"),
                    "PIP_CONFIG_FILE": os.devnull}
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "FAKE_CUDA", "FAKE_TOOLKIT"):
            self.env.pop(name, None)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def bootstrap(self, *arguments, **env):
        return subprocess.run([self.path("tree", "bootstrap"), "--no-packages", *arguments],
                              env={**self.env, **env}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300, check=False)

    def good(self, *arguments, **env):
        done = self.bootstrap(*arguments, **env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("built\n", done.stdout)
        return done

    def refused(self, *arguments, **env):
        """The line that says why."""
        done = self.bootstrap(*arguments, **env)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        lines = [line for line in done.stderr.splitlines()
                 if line.startswith(("bootstrap: ", "cuda-packages: "))
                 and not line.startswith("cuda-packages: fetching CUDA, cuDNN and NCCL")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertFalse([name for name in self.stored() if not name.endswith(".partial")])
        return lines[0]

    def configured(self):
        """What configure was given, each time since this was asked last."""
        path = self.path("tree", "configured")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.unlink(path)
        return lines

    def stored(self):
        return sorted(os.listdir(self.store)) if os.path.isdir(self.store) else []


class Decisions(Case):
    def test_no_driver_fetches_nothing(self):
        self.good()
        self.assertEqual(self.configured(), [""])
        self.assertEqual(self.stored(), [])

    def test_a_toolkit_is_taken(self):
        self.good(FAKE_CUDA="13.2", FAKE_TOOLKIT="/made/up")
        self.assertEqual(self.configured(), [""])
        self.assertEqual(self.stored(), [])

    def test_no(self):
        self.good("--cuda=no", "CFLAGS=-O1", FAKE_CUDA="13.2")
        self.assertEqual(self.configured(), ["CFLAGS=-O1 --without-cuda"])
        self.good(FAKE_CUDA="13.2")
        self.assertEqual(self.configured(), [])
        self.good("CFLAGS=-O2", FAKE_CUDA="13.2")
        self.assertEqual(self.configured(), ["CFLAGS=-O2 --without-cuda"])
        self.good("--cuda=auto")
        self.assertEqual(self.configured(), ["CFLAGS=-O2"])
        self.good("--reset")
        self.assertEqual(self.configured(), [""])
        self.assertEqual(self.stored(), [])

    def test_system(self):
        self.good("--cuda=system", FAKE_TOOLKIT="/made/up")
        self.assertEqual(self.configured(), ["--with-cuda"])
        done = self.bootstrap("--reset", "--cuda=system", FAKE_CUDA="13.2")
        self.assertEqual((done.returncode, done.stderr), (1, "no CUDA toolkit\n"))
        self.assertEqual(self.stored(), [])

    def test_mistakes(self):
        for word in ("--cuda", "--cuda=", "--cuda=13"):
            self.assertIn("--cuda is auto, no, system or packages", self.refused(word))
        self.assertIn("contradicts", self.refused("--cuda=no", "--with-cudnn=/x"))
        self.assertEqual(self.configured(), [])

    def test_options_that_name_cuda_stand(self):
        self.good("--without-cuda", FAKE_CUDA="13.2")
        self.assertEqual(self.configured(), ["--without-cuda"])
        self.assertEqual(self.stored(), [])

    def test_a_driver_too_old_for_packages(self):
        done = self.good(FAKE_CUDA="12.4")
        self.assertIn("built without GPUs: the NVIDIA driver has CUDA 12.4", done.stdout)
        self.assertIn("the NVIDIA driver has CUDA 12.4, and Python's registry has nvcc for 13.0",
                      self.refused("--cuda=packages", FAKE_CUDA="12.4"))
        self.assertEqual(self.stored(), [])

    def test_the_drivers_own_word_counts(self):
        if not os.path.exists(OLD_DRIVER):
            self.skipTest("tests/fakes/fake_driver.so is not built")
        if subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({OLD_DRIVER!r})"],
                          check=False, capture_output=True).returncode != 0:
            self.skipTest("tests/fakes/fake_driver.so cannot be loaded here (built with sanitizers)")
        shutil.copy(OLD_DRIVER, self.path("lib", "libcuda.so.1"))
        done = self.good(FAKE_CUDA="13.2")
        self.assertIn("the NVIDIA driver has CUDA 11.0", done.stdout)

    def test_kernel_module(self):
        for number, version in (("535.104.05", "12.0"), ("580.82.07", "13.0"),
                                ("610.1", "13.0")):
            write(self.path("module"), f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {number}"
                  "  Sat Aug 19 01:15:15 UTC 2023\nGCC version:  gcc version 12.2.0\n")
            done = subprocess.run([self.path("tree", "build-aux", "cuda-packages"), "--driver"],
                                  env=self.env, capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, version + "\n")

    def test_neither_pip_nor_venv(self):
        write(self.path("bin", "python3"), BARE_PYTHON)
        self.assertIn("python3 has neither pip nor venv", self.refused(FAKE_CUDA="13.0"))

    def test_a_full_disk(self):
        write(self.path("bin", "df"), FULL)
        self.assertRegex(self.refused("--cuda=packages"), r"has 976 MB free, and fetching CUDA "
                         r"takes 4\d\d\d MB .*--cuda=no builds without GPUs")

    def test_a_folder_that_cannot_be_written(self):
        write(self.path("data"), "a file\n")
        self.assertIn("cannot write in ", self.refused("--cuda=packages"))


@unittest.skipUnless(has_pip(), "python3 has no pip")
class Packages(Case):
    def setUp(self):
        super().setUp()
        registry(self.path("registry"))

    def versions(self, folder):
        """Of nvcc, cuBLAS and cuDNN."""
        found = []
        for file in ("cu13/bin/nvcc", "cu13/lib/libcublasLt.so.13", "cudnn/lib/libcudnn.so.9"):
            with open(os.path.join(self.store, folder, "nvidia", file), encoding="utf-8") as text:
                found.append(text.read().split()[1])
        return found

    def expect_release(self, folder, toolkit):
        self.assertEqual(self.stored(), [folder])
        self.assertEqual(self.versions(folder), [toolkit, toolkit, "9.28.1"])

    def test_the_release_for_a_driver(self):
        self.good(FAKE_CUDA="13.0")
        self.expect_release("cuda-13.0", "13.0.1")
        self.assertEqual(self.configured(), ["", f"--with-cuda={self.store}/cuda-13.0/nvidia"])

    def test_fetched_once(self):
        self.good("--cuda=packages", "CFLAGS=-O1", FAKE_CUDA="14.1")
        taken = f"CFLAGS=-O1 --with-cuda={self.store}/cuda-13.5/nvidia"
        self.assertEqual(self.configured(), [taken])
        shutil.rmtree(self.path("registry"))
        self.good()
        self.assertEqual(self.configured(), [])
        os.utime(self.path("tree", "config.status"), (1, 1))
        self.good()
        self.assertEqual(self.configured(), [taken])
        # A copy of the source whose driver supports less takes no newer one.
        self.assertIn("fetching CUDA failed",
                      self.bootstrap("--cuda=packages", "CFLAGS=-O2", FAKE_CUDA="13.2").stderr)
        # A toolkit that was installed meanwhile is found after --reset.
        self.good("--reset", FAKE_CUDA="13.5", FAKE_TOOLKIT="/made/up")
        self.assertEqual(self.configured(), [""])

    def test_goes_on_after_a_failure(self):
        lacking = [name for name in os.listdir(self.path("registry")) if "nccl" in name][0]
        shutil.move(self.path("registry", lacking), self.path(lacking))
        said = self.refused(FAKE_CUDA="13.4")
        self.assertRegex(said, r"fetching CUDA failed \(No matching distribution found for "
                         r"nvidia-nccl-cu13\): run this again to resume with what has arrived; "
                         r"\./bootstrap --cuda=no builds without GPUs")
        self.assertEqual(self.stored(), ["cuda-13-4.partial"])
        self.configured()
        shutil.move(self.path(lacking), self.path("registry", lacking))
        done = self.good(FAKE_CUDA="13.4")
        self.assertRegex(done.stderr, "File was already downloaded .*nvidia_cudnn_cu13")
        self.assertRegex(done.stderr, "CUDA 13.2.10, cuDNN 9.28.1, NCCL 2.32.3: \\d+ MB in ")
        self.expect_release("cuda-13.2", "13.2.10")
        self.assertEqual(self.configured(), [f"--with-cuda={self.store}/cuda-13.2/nvidia"])

    def test_packages_without_a_compiler(self):
        for name in os.listdir(self.path("registry")):
            if "nvcc" in name:
                os.unlink(self.path("registry", name))
        for version in ("13.0.1", "13.2.0", "13.2.10", "13.5.0"):
            wheel(self.path("registry"), "nvidia-cuda-nvcc", version, ["nvidia/cu13/bin/ptxas"])
        self.assertIn("lack nvcc", self.refused("--cuda=packages"))


if __name__ == "__main__":
    unittest.main()
