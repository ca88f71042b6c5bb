#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The script tests/gpu/run without a GPU, a toolkit or a build: all of these are made up.

A made-up toolkit, a `make` that puts made-up programs into the build folder, and what the script
makes of their answers: results, exit status, the table, the section for docs/gpu-results.md. The
stand-ins for libraries in tests/gpu/lite are tried as well, with real tests of the engine.
"""

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

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
slow) spend 60 ;;
hang) sleep 60 ;;
meet)
    mkdir -p "$FAKE_MEET/$CK_RUN_CASE"
    for i in $(seq 400); do
        test "$(ls "$FAKE_MEET" | wc -l)" -lt 2 || exit 0
        sleep 0.05
    done
    exit 1
    ;;
look) ls "$FAKE_OUT"; cat "$FAKE_OUT"/results.tsv ;;
esac
"""
SMI = """#!/bin/sh
test "${FAKE_smi-}" != slow || spend 60
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
# Time that passes only where somebody spends it.
DATE = """#!/bin/sh
test "$*" = +%s || exec /bin/date "$@"
cat "$FAKE_NOW"
"""
SPEND = """#!/bin/sh
echo $(($(cat "$FAKE_NOW") + $1)) >"$FAKE_NOW.new"
mv "$FAKE_NOW.new" "$FAKE_NOW"
"""
TIMEOUT = """#!/bin/sh
end=$(($(cat "$FAKE_NOW") + $3))
shift 3
"$@" || exit
test "$(cat "$FAKE_NOW")" -le $end || { echo $end >"$FAKE_NOW"; exit 124; }
"""
MAKE = """#!/bin/sh
if test "$1" = --version; then
    echo "GNU Make, made up"
    exit
fi
spend "${FAKE_BUILD_SECONDS-0}"
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
                            "FAKE_PROGRAMS": self.path("programs"),
                            "FAKE_NOW": self.path("now")}
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
        write(self.path("bin", "date"), DATE)
        write(self.path("bin", "spend"), SPEND)
        write(self.path("bin", "timeout"), TIMEOUT)
        write(self.path("now"), "1000000\n")

    def programs(self, info):
        write(self.path("programs", "gpu-info"), info)
        for name in ("gpu-probe", "test_gpu_device", "test_gpu_runs", "test_gpu_nccl", "test_kernels",
                     "test_conv_sim", "test_matmul_sim"):
            write(self.path("programs", name), TEST)
        write(self.path("programs", "gpu-train"),
              "#!/bin/sh\necho 'gpu-train: made up' >&2\nexit 1\n")

    def run_it(self, *arguments, **fakes):
        return subprocess.run(
            [RUN, "--cuda", self.path("cuda"), "--build", self.build, "--stand-ins", *arguments],
            env={**self.environment, **fakes}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120, check=False)

    def results(self, folder=None):
        rows = [line.split("\t") for line in self.text("results.tsv", folder).splitlines()]
        return {row[0]: (row[1], row[3]) for row in rows}

    def text(self, name, folder=None):
        with open(os.path.join(folder or self.build, name), encoding="utf-8") as file:
            return file.read()

    def test_everything_passes_or_says_why_not(self):
        items = self.run_it("--list").stdout
        names = [line.split()[0] for line in items.splitlines()]
        self.assertGreater(len(names), 20)
        self.assertEqual(names[0], "probe")
        left = ",".join(name for name in names if not name.startswith(("parity", "speed")))
        done = self.run_it("--only", left)
        results = self.results()
        self.assertEqual(sorted(results), sorted(left.split(",")), done.stdout)
        self.assertEqual(results["ops-f32"], ("PASS", "all of ops-f32"))
        self.assertEqual(results["initcheck"][0], "PASS")
        self.assertEqual(results["memcheck"], ("FAIL", "gpu-train: made up"))
        self.assertEqual(results["nvml"][0], "PASS", self.text("logs/nvml.log"))
        self.assertEqual(results["kernels"][0], "PASS")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("3 failed", done.stdout)
        self.assertIn("code=sm_90", self.text("nvcc.mk"))
        page = self.text("results.md")
        self.assertIn("Made Up 1", page.splitlines()[0])
        self.assertIn("- cuDNN 91900", page)
        self.assertIn("| nccl-two | PASS | ", page)
        self.assertIn(" | all-reduce by NCCL between two processes on one GPU |", page)

    def test_failures_are_told(self):
        done = self.run_it("--only", "ops-tf32,ops-bf16-1,slopes,graph,initcheck,nvml,plans",
                           FAKE_ops_tf32="fail", FAKE_ops_bf16_1="none", FAKE_slopes="crash",
                           FAKE_graph="skip", FAKE_sanitizer="fail", FAKE_LIMIT="250")
        results = self.results()
        self.assertEqual(results["ops-tf32"], ("FAIL", "trial.c:9: weights are off by 3"))
        self.assertEqual(results["ops-bf16-1"], ("FAIL", "FAIL: no test was run"))
        self.assertEqual(results["slopes"][0], "FAIL")
        self.assertEqual(results["graph"], ("SKIP", "no luck"))
        self.assertEqual(results["initcheck"], ("FAIL", "========= ERROR SUMMARY: 1 error"))
        self.assertEqual(results["nvml"][0], "FAIL")
        self.assertIn("power_limit_w: 300, nvidia-smi says 250", results["nvml"][1])
        self.assertEqual(results["plans"][0], "PASS")
        self.assertEqual(done.returncode, 1)
        self.assertIn("5 failed", done.stdout)
        self.assertIn("weights are off by 3", self.text("run.log"))

    def test_budget(self):
        """What does not fit is named; what runs is stopped when the time is over."""
        done = self.run_it("--only", "kernels,ops-f32,graph,nccl-one", "--budget", "35",
                           "--out", self.path("out"))
        results = self.results(self.path("out"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(results["kernels"][0], "PASS")
        self.assertEqual(results["nccl-one"][0], "PASS")
        self.assertEqual(results["ops-f32"], ("LEFT", "not started: needs 60 s, 35 s left"))
        self.assertIn("1 left", done.stdout)
        self.assertIn("not started: needs 60 s", self.text("results.md", self.path("out")))
        # Time that the build takes is gone.
        self.run_it("--only", "nccl-one", "--budget", "17", FAKE_BUILD_SECONDS="4")
        self.assertEqual(self.results()["nccl-one"][1], "not started: needs 15 s, 13 s left")
        done = self.run_it("--only", "nccl-one", "--budget", "1", FAKE_BUILD_SECONDS="30")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the budget was over before all was built", done.stdout)

    def test_budget_stops_what_runs(self):
        self.run_it("--only", "nccl-one", "--budget", "18", FAKE_nccl_one="slow")
        self.assertEqual(self.results()["nccl-one"],
                         ("LEFT", "not done after 18 s, when the budget was over"))
        # Its own limit is another matter.
        self.run_it("--only", "nvml", "--budget", "1000", FAKE_smi="slow")
        self.assertEqual(self.results()["nvml"], ("FAIL", "not done after 120 s"))

    def test_resume(self):
        """What passed is kept; what failed, was skipped or not run is run."""
        out = self.path("out")
        items = "ops-f32,plans,graph,slopes,nccl-one"
        self.run_it("--only", items, "--out", out, FAKE_ops_f32="fail", FAKE_graph="skip")
        self.assertEqual(self.results()["ops-f32"][0], "FAIL")
        # One alone; the others stay.
        done = self.run_it("--resume", "--only", "ops-f32", "--out", out)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.results()["ops-f32"][0], "PASS")
        self.assertEqual(self.results()["graph"], ("SKIP", "no luck"))
        self.assertEqual(len(self.results(out)), 5)
        # All that did not pass, here with no time for any but these.
        done = self.run_it("--resume", "--budget", "31", "--out", out, FAKE_plans="fail",
                           FAKE_ops_f32="fail", FAKE_graph="fail")
        results = self.results(out)
        self.assertEqual(results["plans"], ("PASS", "all of plans"))
        self.assertEqual(results["ops-f32"], ("PASS", "all of ops-f32"))
        self.assertEqual(results["kernels"][0], "PASS")
        self.assertEqual(results["graph"][0], "FAIL")
        self.assertEqual(results["ops-bf16-1"][0], "LEFT")
        # What passed with other sources is run again, after the others, and kept until then.
        kept = [line.rsplit("\t", 1) for line in self.text("results.tsv").splitlines()
                if line.startswith(("plans\t", "slopes\t"))]
        shutil.rmtree(self.build)
        write(os.path.join(out, "results.tsv"), "".join(
            line + ("\t1\n" if line.startswith("plans\t") else "\t" + mark + "\n")
            for line, mark in kept))
        self.run_it("--resume", "--budget", "29", "--out", out, FAKE_slopes="fail")
        self.assertIn("all of plans (with earlier sources)", self.text("results.md", out))
        self.assertEqual(self.results(out)["slopes"][0], "PASS")
        self.assertEqual(self.results(out)["matmul"][0], "PASS")
        self.run_it("--resume", "--budget", "30", "--out", out)
        self.assertNotIn("earlier", self.text("results.md", out))
        # Without --resume all is deleted.
        self.run_it("--only", "nccl-one", "--out", out)
        self.assertEqual(list(self.results(out)), ["nccl-one"])

    def test_side_by_side(self):
        """All are run and told, those that measure alone and first."""
        out = self.path("out")
        names = "ops-f32,plans,graph,memory,slopes,nccl-one,probe,resume,shards".split(",")
        done = self.run_it("--at-once", "3", "--only", ",".join(names), "--out", out,
                           FAKE_ops_f32="fail", FAKE_graph="skip", FAKE_plans="crash")
        results = self.results(out)
        self.assertEqual(sorted(results), sorted(names), done.stdout)
        self.assertEqual(results["ops-f32"], ("FAIL", "trial.c:9: weights are off by 3"))
        self.assertEqual(results["graph"], ("SKIP", "no luck"))
        self.assertEqual(results["plans"][0], "FAIL")
        self.assertIn("6 passed, 2 failed, 1 skipped", done.stdout)
        self.assertEqual([line.split()[1] for line in done.stdout.splitlines()
                          if line.startswith("PASS")][:2], ["probe", "memory"])
        self.assertEqual(done.returncode, 1)
        # Each waits until it sees the other.
        done = self.run_it("--at-once", "2", "--only", "plans,graph", FAKE_plans="meet",
                           FAKE_graph="meet", FAKE_MEET=self.path("meet"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.run_it("--at-once", "0").returncode, 2)

    def test_out_is_written_after_each_item(self):
        out = self.path("out")
        self.run_it("--only", "graph,nccl-one,plans", "--out", out, FAKE_plans="look",
                    FAKE_graph="fail", FAKE_OUT=out)
        seen = self.text("logs/plans.log")
        self.assertIn("graph\tFAIL\t", seen)
        self.assertIn("nccl-one\tPASS\t", seen)
        self.assertIn("plans\tLEFT\t0\twas running when the script was ended", seen)
        for name in ("results.tsv", "results.md", "logs.tar.gz"):
            self.assertIn(name, seen)
        self.assertLessEqual(len(os.listdir(out)), 8)
        with tarfile.open(os.path.join(out, "logs.tar.gz")) as archive:
            names = archive.getnames()
            self.assertIn("trial.c:9", archive.extractfile("logs/graph.log").read().decode())
        self.assertIn("build.log", names)
        self.assertIn("logs/plans.log", names)

    def test_ended_in_the_middle(self):
        """Results that can be read, and that --resume continues from."""
        out = self.path("out")
        command = [RUN, "--cuda", self.path("cuda"), "--build", self.build, "--stand-ins",
                   "--only", "graph,nccl-one,plans", "--out", out]
        with subprocess.Popen(command, env={**self.environment, "FAKE_nccl_one": "hang"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True) as running:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and not os.path.exists(
                    os.path.join(self.build, "logs", "nccl-one.log")):
                time.sleep(0.05)
            os.killpg(running.pid, signal.SIGKILL)
        self.assertEqual(self.results(out), {
            "graph": ("PASS", "all of graph"),
            "nccl-one": ("LEFT", "was running when the script was ended")})
        done = self.run_it("--resume", "--only", "nccl-one,plans", "--out", out)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(sorted(self.results(out)), ["graph", "nccl-one", "plans"])
        self.assertIn("3 passed", done.stdout)

    def test_sanitizers_see_own_kernels_alone(self):
        """Each kernel of the backend by its mangled name, after steps that are not watched."""
        write(self.path("programs", "gpu-train"), "#!/bin/sh\necho \"trained: $*\"\n")
        write(self.path("cuda", "bin", "compute-sanitizer"),
              "#!/bin/sh\ncase $* in *--help*) echo \"  --kernel-name arg\" ;;\n"
              "*) echo \"sanitized: $*\" ;; esac\n"
              "test \"${FAKE_sanitizer-}\" != refuse || { echo Device not supported; exit 1; }\n")
        self.run_it("--only", "racecheck", FAKE_sanitizer="refuse")
        self.assertEqual(self.results()["racecheck"], (
            "SKIP", "compute-sanitizer does not support this device or machine"))
        self.run_it("--only", "synccheck,initcheck")
        lines = self.text("logs/synccheck.log").splitlines()
        self.assertRegex(lines[0], "^trained: train --model resnet18 ")
        self.assertRegex(lines[1], "^sanitized: --tool synccheck .* ./gpu-train train ")
        for kernel in ("16sums_of_channels", "9each_pack", "10input_rows"):
            self.assertIn(f" --kernel-name kns={kernel} ", lines[1])
        self.assertIn(" ./test_kernels", self.text("logs/initcheck.log"))

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
        for option, value in (("--jobs", "0"), ("--budget", "08"), ("--budget", "1" * 20)):
            self.assertIn("a number from 1", self.run_it(option, value).stdout)
        for items in ("", ",", "nccl.one", "plans,*"):
            done = self.run_it("--only", items)
            self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(self.run_it("--budget", "soon").returncode, 2)
        self.assertEqual(self.run_it("--only", "plans,frob").returncode, 2)

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


STAND_IN_TESTS = ("engine/net/test_net", "engine/model/test_model_file", "engine/weights/test_weights",
                  "src/spec/test_spec")
STAND_INS = """include $(SOURCE)/tests/gpu/build.mk
PARTS = $(filter-out $(LEFT_OUT),$(foreach part,base spec net,$(call sources,lib$(part)_a_SOURCES)))
tried/%: obj/tests/%.c.o $(call objects,tests/support.c $(PARTS) $(LITE))
\t@mkdir -p $(@D) && $(CC) -pthread -o $@ $^ -lm
all-tried: $(TRIED:%=tried/%)
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
                 "TRIED=" + " ".join(STAND_IN_TESTS), "all-tried"], cwd=folder,
                env={key: value for key, value in os.environ.items() if "MAKE" not in key},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            for name in STAND_IN_TESTS:
                done = subprocess.run(
                    [os.path.join(folder, "tried", name)], cwd=folder, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
                    env={**os.environ, "top_srcdir": TOP, "TMPDIR": folder, "CK_FORK": "yes"})
                self.assertEqual(done.returncode, 0, f"{name}:\n{done.stdout}")
                self.assertIn("Failures: 0", done.stdout)


if __name__ == "__main__":
    unittest.main()
