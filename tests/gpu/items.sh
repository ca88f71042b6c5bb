# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
#
# Part of tests/gpu/run: the items, in the order in which they are run, and how each is.

# Name, seconds that it is expected to take (guessed for an H200), seconds allowed, what it shows.
# What is most likely to fail, and what the rest rests on, comes first.
items() {
    cat <<'END'
probe             70  360  libraries, convolutions, capture and 20 steps of resnet18 in bf16
speed            200  600  samples/s at batch 256 and 1024 against PyTorch, quickly
kernels           20  600  the backend's own kernels against plain loops
conv              60  600  convolutions by cuDNN, fused ones too, against plain loops
matmul            20  300  products by cuBLASLt against plain loops
graph             30  600  a step as a CUDA graph equals the step queued piece by piece
models-bf16       60  900  the shipped models against the reference, every layer's gradient, bf16
nccl-one          15  300  all-reduce by NCCL with one rank
nccl-two          30  300  all-reduce by NCCL between two processes on one GPU
replicas          60  900  2 and 3 replicas on one GPU equal one, by all three methods
strategies        90  900  pipelines, tensor and mixed with 2 and 3 devices on one GPU equal one
resume            30  600  a run that was stopped resumes from its checkpoint, bit-identical
memory            15  600  out of memory is an error naming need and free memory; the next run works
trajectory        60  900  losses in bf16 stay close to those in f32
mixed             30  900  CPU and GPU in one run equal one device
END
    if $bench; then
        echo 'bench           3600 9000  samples/s against PyTorch on the same card'
    fi
    cat <<'END'
staging           20  600  rows staged from host memory equal rows resident on the GPU
deterministic     20  600  deterministic mode gives identical results twice
plans             30  900  plans side by side, weights in and out, no rows, mistakes named
shards            30  900  shards of two devices add up to one batch, BatchNorm synchronised or not
stages            90  900  stages of networks and models beside the whole, f32 and bf16
slices            60  900  slices of networks beside the whole
models-f32        60  900  the shipped models against the reference, every layer's gradient, f32
models-tf32       90  900  the same, TF32
ops-bf16-1       120  900  every operation and its gradients against the reference, bf16, part 1 of 3
ops-bf16-2       120  900  every operation and its gradients against the reference, bf16, part 2 of 3
ops-bf16-3       120  900  every operation and its gradients against the reference, bf16, part 3 of 3
ops-f32           60  900  every operation and its gradients against the reference, f32
ops-tf32          60  900  the same, products rounded to TF32
slopes            60  900  gradients against finite differences of the reference's loss
parity-f32        60 1800  20 steps against PyTorch's stored results, f32
parity-tf32       60 1800  the same, TF32
nvml              10  120  NVML's figures against nvidia-smi's
memcheck          90 1800  compute-sanitizer memcheck on the backend's kernels in some steps
racecheck        300 1800  compute-sanitizer racecheck on the same
initcheck         20 1800  compute-sanitizer initcheck on the kernels' own tests
synccheck         60 1800  compute-sanitizer synccheck on the backend's kernels in some steps
END
}

# The test programs take an item as the name of a case.
device_case() {
    run_item "$1" "$2" env CK_RUN_CASE="$1" CK_TIMEOUT_MULTIPLIER=10 "./$3"
}

# with_python NAME SECONDS COMMAND...
with_python() {
    if have python3; then
        run_item "$@"
    else
        record "$1" SKIP 0 'needs python3'
    fi
}

parity() {
    with_python "$1" "$2" env DPARTUI_PROGRAM="$build/gpu-train" \
        python3 -B "$src/tests/programs/parity.py" --devices cuda:0 --dtype "$3" ${lite:+--plain}
}

# A filter for each kernel of the backend: its name as it stands in a mangled one, length in front.
own_kernels() {
    cat "$src"/engine/device/cuda/kernels/*.cu "$src"/engine/device/cuda/kernels/*.h | awk -v option="$1" '
        { text = text " " $0 }
        END {
            count = split(text, parts, "__global__")
            for (i = 2; i <= count; i++) {
                sub(/^ *void +/, "", parts[i])
                sub(/^__launch_bounds__\([^)]*\) */, "", parts[i])
                sub(/\(.*/, "", parts[i])
                if (parts[i] ~ /^[a-z_0-9]+$/ && !seen[parts[i]]++)
                    printf "%s kns=%d%s ", option, length(parts[i]), parts[i]
            }
        }'
}

# initcheck has to see every kernel that writes, so it is given a program that has no others.
sanitizer() {
    tool=
    for file in "$(command -v compute-sanitizer || :)" "$cuda_root/bin/compute-sanitizer" \
        "$cuda_root/compute-sanitizer/compute-sanitizer"; do
        if test -z "$tool" && test -x "$file"; then
            tool=$file
        fi
    done
    if test -z "$tool"; then
        record "$1" SKIP 0 'no compute-sanitizer here'
        return
    fi
    SANITIZER="$tool --tool $1 --error-exitcode 9" CK_FORK=no
    export SANITIZER CK_FORK
    if test "$1" = initcheck; then
        run_item "$1" "$2" sh "$here/sanitize.sh" ./test_kernels
    else
        filter=--kernel-name # --kernel-regex until CUDA 12
        "$tool" --help 2>&1 | grep -q -e '--kernel-name ' || filter=--kernel-regex
        SANITIZER="$SANITIZER $(own_kernels $filter)"
        run_item "$1" "$2" sh "$here/sanitize.sh" ./gpu-train train --model resnet18 \
            --data glyphs --train-rows 40 --test-rows 16 --batch 16 --epochs 1 --devices cuda:0 \
            --dtype bf16
    fi
    unset SANITIZER CK_FORK
}

# run_one NAME SECONDS
run_one() {
    case $1 in
    probe) run_item probe "$2" ./gpu-probe ;;
    speed) with_python speed "$2" "$here/bench" --glance --program "$build/gpu-train" \
        --write speed.md ;;
    ops-* | models-* | slopes | plans | shards | stages | slices | deterministic | graph | staging)
        device_case "$1" "$2" test_gpu_device
        ;;
    kernels) run_item "$1" "$2" ./test_kernels ;;
    conv) run_item "$1" "$2" ./test_conv_sim ;;
    matmul) run_item "$1" "$2" ./test_matmul_sim ;;
    replicas | strategies | mixed | memory | trajectory | resume) device_case "$1" "$2" test_gpu_runs ;;
    nccl-*)
        if test -n "$nccl_root"; then
            device_case "$1" "$2" test_gpu_nccl
        else
            record "$1" SKIP 0 'no NCCL here; --nccl DIR names it'
        fi
        ;;
    parity-*) parity "$1" "$2" "${1#parity-}" ;;
    *check) sanitizer "$1" "$2" ;;
    nvml)
        if have nvidia-smi; then
            run_item nvml "$2" sh "$here/nvml" ./gpu-info
        else
            record nvml SKIP 0 'no nvidia-smi here'
        fi
        ;;
    bench) with_python bench "$2" "$here/bench" --program "$build/gpu-train" --write bench.md ;;
    esac
}
