# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2034
#
# Part of tests/gpu/run: the toolkit and the libraries of this machine, and building with them.

# --- what is here ----------------------------------------------------------------------------

# The folders `nvidia` of Python's packages: those of python3, and what bootstrap fetched.
python_nvidia() {
    if have python3; then
        python3 -c 'import importlib.util as u
spec = u.find_spec("nvidia")
print(*(spec.submodule_search_locations if spec else []))' 2>/dev/null || :
        "$src/build-aux/cuda-packages" --find 13 2>/dev/null || :
    fi
}

# root HEADER DIR...: the first DIR with include/HEADER (or include/TRIPLET/HEADER).
root() {
    header=$1
    shift
    for dir; do
        for folder in "$dir/include" "$dir/include/$(uname -m)-linux-gnu"; do
            if test -f "$folder/$header"; then
                say "$dir"
                return 0
            fi
        done
    done
    return 1
}

# library_folder DIR NAME: where below DIR libNAME.so or libNAME.so.N lies.
library_folder() {
    for folder in "$1/lib64" "$1/lib" "$1/lib/$(uname -m)-linux-gnu"; do
        for file in "$folder/lib$2.so" "$folder/lib$2.so".[0-9]*; do
            if test -f "$file"; then
                say "$folder"
                return 0
            fi
        done
    done
    return 1
}

# below DIR NAME: DIR itself and what Python's packages name below it.
below() {
    say "$1 $1/cu13 $1/cu12 $1/$2"
}

all_below() {
    for folder in $python; do
        below "$folder" "$1"
    done
}

find_libraries() {
    python=$(python_nvidia)
    beside=
    if have "${NVCC:-nvcc}"; then
        beside=$(dirname "$(dirname "$(command -v "${NVCC:-nvcc}")")")
    fi
    # shellcheck disable=SC2046,SC2086 # lists of folders
    {
        if test -n "$cuda"; then
            roots=$(below "$cuda" cuda_runtime)
        else
            roots="${CUDA_HOME-} ${CUDA_PATH-} $beside /usr/local/cuda /opt/cuda /usr $(all_below cuda_runtime)"
        fi
        cuda_root=$(root cuda_runtime_api.h $roots) ||
            die "no cuda_runtime_api.h below $roots: name the toolkit with --cuda DIR"
        nvcc=${NVCC-}
        for file in "$cuda_root/bin/nvcc" "$cuda_root/../cuda_nvcc/bin/nvcc" "$beside/bin/nvcc"; do
            if test -z "$nvcc" && test -x "$file"; then
                nvcc=$file
            fi
        done
        test -n "$nvcc" || die "no nvcc in $cuda_root/bin nor on the PATH"
        have "${nvcc%% *}" || die "no nvcc: $nvcc cannot be run"
        cublas_root=$(root cublasLt.h "$cuda_root" "$cuda_root/../cublas" $(all_below cublas)) ||
            die "no cublasLt.h beside $cuda_root"
        if test -n "$cudnn"; then
            roots=$(below "$cudnn" cudnn)
        else
            roots="$cuda_root $cuda_root/../cudnn /usr/local /usr $(all_below cudnn)"
        fi
        cudnn_root=$(root cudnn.h $roots) ||
            die "no cudnn.h below $roots: name cuDNN with --cudnn DIR"
        if test -n "$nccl"; then
            roots=$(below "$nccl" nccl)
        else
            roots="$cuda_root $cuda_root/../nccl /usr/local /usr $(all_below nccl)"
        fi
        nccl_root=$(root nccl.h $roots) || nccl_root=
        test -n "$nccl_root" || test -z "$nccl" || die "no nccl.h below $roots"
    }
    cublas_lib=$(library_folder "$cublas_root" cublasLt) || die "no libcublasLt.so in $cublas_root"
    cudnn_lib=$(library_folder "$cudnn_root" cudnn) || die "no libcudnn.so in $cudnn_root"
    nccl_lib=
    if test -n "$nccl_root"; then
        nccl_lib=$(library_folder "$nccl_root" nccl) || nccl_root=
    fi
}

# --- building --------------------------------------------------------------------------------

# links HEADER LIBRARIES: a program with them can be built.
links() {
    printf '#include <stddef.h>\n#include <%s>\nint main(void) { return 0; }\n' "$1" >probe.c
    # shellcheck disable=SC2086 # a list
    $cc $2 -o probe probe.c $2 >>probe.log 2>&1
}

# The libraries that the sources include, all of them or none: the stand-ins share a folder.
choose_libraries() {
    libraries='-ljansson -lconfig -lz -lcheck -lsubunit -lrt'
    lite=
    for header in jansson.h libconfig.h zlib.h check.h; do
        if $stand_ins || ! links "$header" "$libraries"; then
            libraries=
            lite='json_values json_text libconfig check'
        fi
    done
    cpu_words="none, oneDNN is missing" cpu="" openmp="" extra=obj/tests/gpu/no_cpu.c.o
    if links dnnl_version.h '-fopenmp -ldnnl' && ! $stand_ins; then
        cpu_words=oneDNN cpu=cpu openmp=-fopenmp extra="" libraries="$libraries -ldnnl"
        rm -f dnnl.h
    else
        # So that a source that includes it without need fails on every machine.
        echo '#error "nothing here may need oneDNN"' >dnnl.h
    fi
}

# What nvcc is to compile for: the capabilities, and PTX of the last for later GPUs.
generated_code() {
    if test -z "$arch" && have nvidia-smi; then
        arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
            tr -d . | sort -un | tr '\n' ' ') || :
    fi
    case $arch in
    *[!0-9\ ]* | '') arch='80 90' ;;
    esac
    gencode=
    for one in $arch; do
        gencode="$gencode -gencode=arch=compute_$one,code=sm_$one"
    done
    gencode="$gencode -gencode=arch=compute_$one,code=compute_$one"
}

configure() {
    includes=
    for folder in "$cuda_root" "$cublas_root" "$cudnn_root" $nccl_root; do
        case "$includes " in
        *" $folder/include "*) ;;
        *) test "$folder" = /usr || includes="$includes -isystem $folder/include" ;;
        esac
    done
    cudart=
    for file in "$cuda_root"/lib64/libcudart_static.a "$cuda_root"/lib/libcudart_static.a \
        "$cuda_root/lib/$(uname -m)-linux-gnu/libcudart_static.a"; do
        if test -z "$cudart" && test -f "$file"; then
            cudart="$file -lrt"
        fi
    done
    if test -z "$cudart"; then
        folder=$(library_folder "$cuda_root" cudart) || die "no libcudart in $cuda_root"
        cudart="$(find "$folder" -name 'libcudart.so*' | sort | head -n 1) -Wl,-rpath,$folder"
    fi
    generated_code
    cat >settings.mk.new <<END
SRC = $src
CC = $cc
CUDA_LIBRARIES = $cudart
LIBRARIES = $libraries
STAND_INS = $lite
EXTRA_OBJECTS = $extra
CPU = $cpu
OPENMP = $openmp
HAVE = HAVE_CUDA_TOOLKIT${nccl_root:+ HAVE_NCCL} HAVE_CHECK HAVE_SIMGPU
TEST_DEFINES = -DDPARTUI_REAL_GPU
END
    cat >nvcc.mk.new <<END
NVCC = $nvcc
GENCODE = $gencode
CUDA_INCLUDES =$includes
END
    cat >config.h.new <<END
#define PACKAGE_NAME "dpartui"
#define PACKAGE_VERSION "$(sed -n 's/^AC_INIT(\[dpartui\], \[\([^]]*\)\].*/\1/p' "$src/configure.ac")"
#define HAVE_CUDA_TOOLKIT 1
#define CUDA_TOOLKIT_TEXT "in $cuda_root"
#define CUBLASLT_DIR "$cublas_lib"
#define CUDNN_DIR "$cudnn_lib"
END
    if test -n "$nccl_root"; then
        printf '#define HAVE_NCCL 1\n#define NCCL_DIR "%s"\n' "$nccl_lib" >>config.h.new
    fi
    for file in settings.mk nvcc.mk config.h; do
        if cmp -s $file $file.new; then
            rm $file.new
        else
            mv $file.new $file
        fi
    done
}

build_all() {
    if test -z "$jobs"; then
        jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
    fi
    say "building in $build (log: build.log)"
    status=0
    within "$(time_left)" "$make" -f "$here/build.mk" -j"$jobs" >build.log 2>&1 || status=$?
    test "$status" = 0 && return
    tail -n 30 build.log >&2
    publish
    if test "$(time_left)" = 0; then
        die "the budget was over before all was built; --resume --build $build continues it"
    fi
    die "the build failed; all of its output is in $build/build.log"
}
