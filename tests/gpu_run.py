#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The script tests/gpu/run without a GPU, a toolkit or a build: all of these are made up.

A made-up toolkit, a `make` that puts made-up programs into the build folder, and what the script
makes of their answers: results, exit status, the table, the section for docs/gpu-results.md. The
stand-ins for libraries in tests/gpu/lite are tried as well, with real tests of the engine.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import program  # noqa: E402

TOP = os.path.dirname(program.HERE)
RUN = os.path.join(program.HERE, "gpu", "run")

INFO = """#!/bin/sh
if test "${1-}" = --nvml; then
    printf 'uuid: GPU-1\\nname: Made Up 1\\nmemory_total: 8589934592\\nmemory_used: 1048576\\n'
    printf 'temperature_c: 40\\npower_w: 100\\npower_limit_w: 300\\nclock_max_mhz: unknown: none\\n'
    printf 'throttle: \\n'
    exit
fi
printf 'model: Made Up 1\\ndriver: for CUDA 13.0\\ncuDNN: 91900\\nmemory: 8.0 GiB\\n'
"""
NO_GPU = "#!/bin/sh\necho 'no GPU: the driver is asleep'\nexit 77\n"
# What a case does is named by the environment: FAKE_<case>, dashes as underscores.
TEST = """#!/bin/sh
name=$(echo "FAKE_${CK_RUN_CASE-none}" | tr - _)
eval "what=\\${$name-pass}"
case $what in
pass) echo "note: all of ${CK_RUN_CASE-it}" ;;
fail) echo "trial.c:9: weights are off by 3"; exit 1 ;;
crash) kill -SEGV $$ ;;
none) echo "100%: Checks: 0, Failures: 0" ;;
skip) echo "skipped: no luck"; exit 0 ;;
slow) sleep 60 ;;
esac
"""
SMI = """#!/bin/sh
case $* in
*compute_cap*) echo 9.0 ;;
*memory.total*) echo 8192 ;;
*memory.used*) echo 100 ;;
*temperature*) echo 41 ;;
*power.draw*) echo 90.5 ;;
*power.limit*) echo "${FAKE_LIMIT-300.00}" ;;
*query-gpu=name*) echo "Made Up 1" ;;
*) echo "[N/A]" ;;
esac
"""
MAKE = """#!/bin/sh
if test "$1" = --version; then
    echo "GNU Make, made up"
    exit
fi
test -z "${FAKE_BUILD_ERROR-}" || { echo "x.c:1: error: made up"; exit 2; }
cp "$FAKE_PROGRAMS"/* .
"""


def write(path, text, mode=0o755):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


class GpuRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpu-run.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.build = os.path.join(self.folder, "build")
        self.toolkit()
        self.programs(INFO)
        self.environment = {**os.environ, "PATH": self.path("bin") + ":" + os.environ["PATH"],
                            "FAKE_PROGRAMS": self.path("programs")}
        for name in ("CUDA_HOME", "CUDA_PATH", "NVCC", "CC"):
            self.environment.pop(name, None)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def toolkit(self):
        for header in ("cuda_runtime_api.h", "cublasLt.h", "cudnn.h", "nccl.h"):
            write(self.path("cuda", "include", header), "")
        for library in ("libcudart_static.a", "libcublasLt.so", "libcudnn.so.9", "libnccl.so.2"):
            write(self.path("cuda", "lib64", library), "")
        write(self.path("cuda", "bin", "nvcc"),
              "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
        write(self.path("cuda", "bin", "compute-sanitizer"),
              "#!/bin/sh\ntest \"${FAKE_sanitizer-}\" != fail || { echo '========= ERROR SUMMARY: "
              "1 error'; exit 9; }\n")
        write(self.path("bin", "make"), MAKE)
        write(self.path("bin", "gmake"), MAKE)
        write(self.path("bin", "nvidia-smi"), SMI)

    def programs(self, info):
        write(self.path("programs", "gpu-info"), info)
        for name in ("test_gpu_device", "test_gpu_runs", "test_gpu_nccl", "test_cuda_kernels",
                     "test_conv_sim", "test_matmul_sim"):
            write(self.path("programs", name), TEST)
        write(self.path("programs", "gpu-train"),
              "#!/bin/sh\necho 'gpu-train: made up' >&2\nexit 1\n")

    def run_it(self, *arguments, **fakes):
        return subprocess.run(
            [RUN, "--cuda", self.path("cuda"), "--build", self.build, "--stand-ins", *arguments],
            env={**self.environment, **fakes}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120, check=False)

    def results(self):
        with open(os.path.join(self.build, "results.tsv"), encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        return {row[0]: (row[1], row[3]) for row in rows}

    def text(self, name):
        with open(os.path.join(self.build, name), encoding="utf-8") as file:
            return file.read()

    def test_everything_passes_or_says_why_not(self):
        items = self.run_it("--list").stdout
        names = [line.split()[0] for line in items.splitlines()]
        self.assertGreater(len(names), 20)
        left = ",".join(name for name in names if not name.startswith("parity"))
        done = self.run_it("--only", left)
        results = self.results()
        self.assertEqual(sorted(results), sorted(left.split(",")), done.stdout)
        self.assertEqual(results["ops-f32"], ("PASS", "all of ops-f32"))
        self.assertEqual(results["memcheck"], ("PASS", ""))
        self.assertEqual(results["nvml"][0], "PASS", self.text("logs/nvml.log"))
        self.assertEqual(results["kernels"][0], "PASS")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("0 failed", done.stdout)
        self.assertIn("code=sm_90", self.text("settings.mk"))
        page = self.text("results.md")
        self.assertIn("Made Up 1", page.splitlines()[0])
        self.assertIn("- cuDNN 91900", page)
        self.assertIn("| nccl-two | all-reduce by NCCL between two processes on one GPU | PASS |",
                      page)

    def test_failures_are_told(self):
        done = self.run_it("--only", "ops-tf32,ops-bf16,slopes,graph,racecheck,nvml,plans",
                           FAKE_ops_tf32="fail", FAKE_ops_bf16="none", FAKE_slopes="crash",
                           FAKE_graph="skip", FAKE_sanitizer="fail", FAKE_LIMIT="250")
        results = self.results()
        self.assertEqual(results["ops-tf32"], ("FAIL", "trial.c:9: weights are off by 3"))
        self.assertEqual(results["ops-bf16"], ("FAIL", "FAIL: no test was run"))
        self.assertEqual(results["slopes"][0], "FAIL")
        self.assertEqual(results["graph"], ("SKIP", "no luck"))
        self.assertEqual(results["racecheck"], ("FAIL", "========= ERROR SUMMARY: 1 error"))
        self.assertEqual(results["nvml"][0], "FAIL")
        self.assertIn("power_limit_w: 300, nvidia-smi says 250", results["nvml"][1])
        self.assertEqual(results["plans"][0], "PASS")
        self.assertEqual(done.returncode, 1)
        self.assertIn("5 failed", done.stdout)
        self.assertIn("weights are off by 3", self.text("run.log"))

    def test_parity_fails_with_its_program(self):
        self.run_it("--only", "parity-f32")
        result, reason = self.results()["parity-f32"]
        self.assertEqual(result, "FAIL")
        self.assertIn("exit status 1", reason)

    def test_without_a_gpu(self):
        self.programs(NO_GPU)
        done = self.run_it()
        self.assertEqual(done.returncode, 77)
        self.assertIn("no GPU: the driver is asleep", done.stdout)
        self.assertFalse(os.path.exists(os.path.join(self.build, "results.md")))

    def test_what_is_missing_is_named(self):
        done = self.run_it(FAKE_BUILD_ERROR="1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: made up", done.stdout)
        os.remove(self.path("cuda", "include", "cudnn.h"))
        done = self.run_it("--cudnn", self.path("nowhere"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("no cudnn.h below", done.stdout)
        self.assertEqual(self.run_it("--frob").returncode, 2)
        self.assertEqual(self.run_it("--jobs").returncode, 2)

    def test_layout_of_python_packages(self):
        packages = self.path("nvidia")
        for name, header, library in (("cu13", "cuda_runtime_api.h", "libcudart.so.13"),
                                      ("cu13", "cublasLt.h", "libcublasLt.so.13"),
                                      ("cudnn", "cudnn.h", "libcudnn.so.9"),
                                      ("nccl", "nccl.h", "libnccl.so.2")):
            write(os.path.join(packages, name, "include", header), "")
            write(os.path.join(packages, name, "lib", library), "")
        shutil.copytree(self.path("cuda", "bin"), os.path.join(packages, "cu13", "bin"))
        done = self.run_it("--cuda", packages, "--cudnn", packages, "--nccl", packages, "--only",
                           "plans")
        self.assertEqual(done.returncode, 0, done.stdout)
        settings, config = self.text("settings.mk"), self.text("config.h")
        self.assertIn(f"{packages}/cu13/lib/libcudart.so.13 -Wl,-rpath,{packages}/cu13/lib",
                      settings)
        self.assertIn(f'#define CUDNN_DIR "{packages}/cudnn/lib"', config)
        self.assertIn(f'#define NCCL_DIR "{packages}/nccl/lib"', config)


# Steps of 10 ms; settings of PyTorch of 40, 20 and 30 ms, and one that fails.
BENCHED = """#!/bin/sh
test -z "${FAKE_NO_GPU-}" || { echo "gpu-train: no device cuda:0" >&2; exit 2; }
for i in $(seq 120); do echo '{"event": "step", "seconds": 0.01}'; done
"""
FAKE_TORCH = """#!/bin/sh
case "$*" in
*--list*) printf 'eager\ngraph\ncompile\nmax-autotune\n'; exit ;;
*"--setting eager"*) seconds=0.04 ;;
*"--setting graph"*) seconds=0.02 ;;
*"--setting compile"*) seconds=0.03 ;;
*) echo "no Triton" >&2; exit 1 ;;
esac
echo '{"version": "9", "cuda": "13", "cudnn": 1, "seconds_per_step": '$seconds'}'
"""


class Bench(unittest.TestCase):
    def run_it(self, *arguments, **environment):
        with tempfile.TemporaryDirectory(prefix="gpu-bench.") as folder:
            path, python = os.path.join(folder, "gpu-train"), os.path.join(folder, "python")
            write(path, BENCHED)
            write(python, FAKE_TORCH)
            return subprocess.run(
                [os.path.join(program.HERE, "gpu", "bench"), "--program", path, *arguments],
                env={**os.environ, "PYTHON": python, **environment}, text=True, timeout=120,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def test_ratio_is_to_the_fastest(self):
        done = self.run_it("--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("| 1024 | bf16 | 102400 (102400-102400) | 51200 (51200-51200) | graph | 2.00 |",
                     "| 256 | bf16 | 25600 (25600-25600) | 12800 (12800-12800) | graph | 2.00 |",
                     "| 1024 | f32 |"):
            self.assertIn(line, done.stdout)
        self.assertIn("max-autotune: no Triton", done.stderr)
        self.assertNotIn("round 1 of 2, batch 1024, bf16, PyTorch eager", done.stderr)

    def test_without_a_gpu(self):
        done = self.run_it(FAKE_NO_GPU="1")
        self.assertEqual(done.returncode, program.SKIP)
        self.assertIn("no device cuda:0", done.stdout)


STAND_IN_TESTS = ("test_net", "test_model_file", "test_spec", "test_weights")
STAND_INS = """include $(SOURCE)/tests/gpu/build.mk
PARTS = $(foreach part,base spec rng net,$(call sources,lib$(part)_a_SOURCES))
%.tried: obj/tests/%.c.o $(call objects,tests/support.c $(PARTS) $(LITE))
\t@$(CC) -pthread -o $@ $^ -lm
tried: $(TRIED:=.tried)
.SECONDARY:
"""


class StandIns(unittest.TestCase):
    """The engine's own tests hold the stand-ins to the libraries' behaviour."""

    def test_engine_tests(self):
        if not shutil.which("make") or not shutil.which("gcc"):
            self.skipTest("needs make and gcc")
        with tempfile.TemporaryDirectory(prefix="stand-ins.") as folder:
            write(os.path.join(folder, "settings.mk"),
                  f"SRC = {TOP}\nCC = gcc\nCFLAGS = -O0\n"
                  "STAND_INS = json_values json_text libconfig check\n")
            write(os.path.join(folder, "config.h"), "")
            write(os.path.join(folder, "stand-ins.mk"), STAND_INS)
            done = subprocess.run(
                ["make", "-f", "stand-ins.mk", "-j2", f"SOURCE={TOP}",
                 "TRIED=" + " ".join(STAND_IN_TESTS), "tried"], cwd=folder,
                env={key: value for key, value in os.environ.items() if "MAKE" not in key},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            for name in STAND_IN_TESTS:
                done = subprocess.run(
                    [os.path.join(folder, name + ".tried")], cwd=folder, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
                    env={**os.environ, "top_srcdir": TOP, "TMPDIR": folder, "CK_FORK": "yes"})
                self.assertEqual(done.returncode, 0, f"{name}:\n{done.stdout}")
                self.assertIn("Failures: 0", done.stdout)


if __name__ == "__main__":
    unittest.main()
