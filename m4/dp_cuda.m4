# SPDX-License-Identifier: MIT

# DP_FIND_BELOW(VARIABLE, HEADER, DIRS)
# VARIABLE becomes the first of DIRS that holds include/HEADER (or Debian's include/TRIPLET/HEADER),
# else nothing.
AC_DEFUN([DP_FIND_BELOW],
  [$1=
  for dp_dir in $3; do
    AS_IF([test -f "$dp_dir/include/$2" || test -f "$dp_dir/include/$host_cpu-linux-gnu/$2"],
      [$1=$dp_dir; break])
  done])

# DP_CUDA_INCLUDE(ROOT)
# Add a root to CUDA_CPPFLAGS, once; the compiler looks into /usr by itself.
AC_DEFUN([DP_CUDA_INCLUDE],
  [AS_CASE([" $CUDA_CPPFLAGS "], [*" $1/include "*], [],
    [AS_IF([test "x$1" != x/usr], [AS_VAR_APPEND([CUDA_CPPFLAGS], ["-isystem $1/include "])])])])

# DP_LIBRARY_DIR(VARIABLE, ROOT, NAME)
# VARIABLE becomes the folder below ROOT that holds libNAME.so (or only libNAME.so.N, as Python's
# packages have it), else nothing.
AC_DEFUN([DP_LIBRARY_DIR],
  [$1=
  for dp_dir in "$2/lib64" "$2/lib" "$2/lib/$host_cpu-linux-gnu"; do
    for dp_file in "$dp_dir"/lib$3.so "$dp_dir"/lib$3.so.@<:@0-9@:>@*; do
      AS_IF([test -f "$dp_file"], [$1=$dp_dir; break 2])
    done
  done])

# DP_HEADER_NUMBER(VARIABLE, ROOT, HEADER, EXPRESSION)
# VARIABLE becomes the value of EXPRESSION with ROOT/include/HEADER included; empty when the header
# does not compile.
AC_DEFUN([DP_HEADER_NUMBER],
  [dp_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS -I$2/include"
  AC_COMPUTE_INT([$1], [$4], [[#include <$3>]], [$1=])
  CPPFLAGS=$dp_save_CPPFLAGS])

# DP_CUDA
# Look for the CUDA toolkit (nvcc, runtime, cuBLASLt), cuDNN and NCCL, and try them. Sets dp_cuda to
# yes or no, dp_cuda_text to a line for people, dp_cuda_note to the reason when something is missing;
# substitutes NVCC, NVCCFLAGS, NVCC_GENCODE, CUDA_CPPFLAGS, CUDA_LIBS; defines HAVE_CUDA_TOOLKIT,
# HAVE_NCCL, CUDA_MISSING_TEXT and the folders CUBLASLT_DIR, CUDNN_DIR, NCCL_DIR.
#
# A DIR given is a toolkit's root (DIR/include, DIR/lib64 or DIR/lib, DIR/bin) or the folder
# `nvidia' of Python's packages, which has one such root per package.
AC_DEFUN([DP_CUDA],
  [AC_REQUIRE([AC_CANONICAL_HOST])
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
      [require the CUDA toolkit (in DIR; default: look for it in $CUDA_HOME, beside nvcc and in
       /usr/local/cuda, and continue without)])],
    [], [with_cuda=check])
  AC_ARG_WITH([cudnn],
    [AS_HELP_STRING([--with-cudnn=DIR], [cuDNN is in DIR (default: beside CUDA or in /usr)])],
    [], [with_cudnn=check])
  AC_ARG_WITH([nccl],
    [AS_HELP_STRING([--with-nccl=DIR], [NCCL is in DIR (default: beside CUDA or in /usr)])],
    [], [with_nccl=check])
  AC_ARG_VAR([NVCC], [CUDA compiler])
  AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags (default: -O3 --generate-line-info)])
  AC_ARG_VAR([NVCC_GENCODE], [nvcc's options for which GPUs to make code (default: compute capability
    8.0, 9.0 and 10.0 as far as it knows them, and PTX of the newest of these for later ones)])
  dp_cuda=no
  dp_nccl=no
  dp_cuda_text=
  dp_cuda_note=
  dp_cuda_lack=
  AS_IF([test "x$with_cuda" = xno],
    [AS_CASE(["$with_cudnn:$with_nccl"],
      [check:check|no:check|check:no|no:no], [],
      [AC_MSG_ERROR([--without-cuda contradicts --with-cudnn and --with-nccl])])
     dp_cuda_note="not looked for (--without-cuda)"
     dp_cuda_lack="configured with --without-cuda"],
    [_DP_CUDA_SEARCH
     AS_IF([test "x$dp_cuda" = xno],
      [AS_CASE(["$with_cuda:$with_cudnn:$with_nccl"],
        [check:check:check], [],
        [AC_MSG_ERROR([$dp_cuda_note
  Name its folder with --with-cuda=DIR, --with-cudnn=DIR, --with-nccl=DIR, or use --without-cuda])])])])
  AC_MSG_CHECKING([for a CUDA toolkit])
  AS_IF([test "x$dp_cuda" = xyes],
    [AC_DEFINE([HAVE_CUDA_TOOLKIT], [1],
       [Define to 1 if nvcc, the CUDA runtime, cuBLASLt and cuDNN were found.])
     AC_DEFINE_UNQUOTED([CUBLASLT_DIR], ["$dp_cublas_lib"], [Where configure found cuBLASLt.])
     AC_DEFINE_UNQUOTED([CUDNN_DIR], ["$dp_cudnn_lib"], [Where configure found cuDNN.])
     AC_MSG_RESULT([$dp_cuda_text])],
    [AC_DEFINE_UNQUOTED([CUDA_MISSING_TEXT], ["$dp_cuda_lack"],
       [Without a CUDA backend: what was missing, in a few words.])
     AC_MSG_RESULT([no: $dp_cuda_note])])
  AS_IF([test "x$dp_nccl" = xyes],
    [AC_DEFINE([HAVE_NCCL], [1], [Define to 1 if NCCL was found.])
     AC_DEFINE_UNQUOTED([NCCL_DIR], ["$dp_nccl_lib"], [Where configure found NCCL.])])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LIBS])
  AM_CONDITIONAL([HAVE_CUDA_TOOLKIT], [test "x$dp_cuda" = xyes])
  AM_CONDITIONAL([HAVE_NCCL], [test "x$dp_cuda:$dp_nccl" = xyes:yes])])

# _DP_CUDA_LACKS(WHAT, NOTE): what is missing, in a few words for programs and in full for configure.
m4_define([_DP_CUDA_LACKS], [dp_cuda_lack="$1"
      dp_cuda_note="$2"])

# The roots to look in for a part of the toolkit, given the folder a user named (or yes, check):
# _DP_CUDA_ROOTS(VARIABLE, WITH-VALUE, PYTHON-PACKAGE, DEFAULT-ROOTS)
m4_define([_DP_CUDA_ROOTS],
  [AS_CASE([$2], [check|yes], [$1="$4"],
    [$1="$2 $2/cu13 $2/cu12 $2/$3"])])

m4_define([_DP_CUDA_SEARCH],
  [AS_IF([test "x$NVCC" = x], [AC_PATH_PROG([dp_nvcc], [nvcc])], [dp_nvcc=$NVCC])
  # A toolkit in /usr (Debian's nvidia-cuda-toolkit) is found by the folder above nvcc's, too.
  dp_beside=
  AS_IF([test -x "$dp_nvcc"], [dp_beside=`dirname "$dp_nvcc"`; dp_beside=`dirname "$dp_beside"`])
  _DP_CUDA_ROOTS([dp_roots], [$with_cuda], [cuda_runtime],
    [$CUDA_HOME $CUDA_PATH $dp_beside /usr/local/cuda /opt/cuda])
  DP_FIND_BELOW([dp_cuda_root], [cuda_runtime_api.h], [$dp_roots])
  AS_IF([test "x$dp_cuda_root" = x],
    [_DP_CUDA_LACKS([no CUDA toolkit found], [cuda_runtime_api.h is in none of $dp_roots])],
    [DP_HEADER_NUMBER([dp_number], [$dp_cuda_root], [cuda_runtime_api.h], [CUDART_VERSION])
     AS_IF([test "x$dp_number" = x],
       [_DP_CUDA_LACKS([CUDA headers do not compile],
         [$dp_cuda_root/include/cuda_runtime_api.h does not compile (see config.log)])],
       [dp_cuda_text="CUDA `expr $dp_number / 1000`.`expr $dp_number % 1000 / 10` in $dp_cuda_root"
        _DP_CUDA_PARTS])])])

m4_define([_DP_CUDA_PARTS],
  [# nvcc named by hand, else that of this toolkit, else any.
  AS_IF([test "x$NVCC" = x],
    [for dp_file in "$dp_cuda_root/bin/nvcc" "$dp_cuda_root/../cuda_nvcc/bin/nvcc" "$dp_nvcc"; do
      AS_IF([test -x "$dp_file"], [NVCC=$dp_file; break])
    done])
  _DP_CUDART
  _DP_CUDA_ROOTS([dp_roots], [$with_cuda], [cublas], [$dp_cuda_root $dp_cuda_root/../cublas])
  DP_FIND_BELOW([dp_cublas_root], [cublasLt.h], [$dp_roots])
  DP_LIBRARY_DIR([dp_cublas_lib], [$dp_cublas_root], [cublasLt])
  _DP_CUDA_ROOTS([dp_roots], [$with_cudnn], [cudnn],
    [$dp_cuda_root $dp_cuda_root/../cudnn /usr/local /usr])
  DP_FIND_BELOW([dp_cudnn_root], [cudnn.h], [$dp_roots])
  AS_IF([test "x$NVCC" = x],
      [_DP_CUDA_LACKS([no nvcc found], [$dp_cuda_text has no nvcc])],
    [test "x$CUDA_LIBS" = x],
      [_DP_CUDA_LACKS([no libcudart found], [$dp_cuda_text has no libcudart_static.a, libcudart.so])],
    [test "x$dp_cublas_lib" = x],
      [_DP_CUDA_LACKS([no cuBLASLt found], [$dp_cuda_text has no cublasLt.h, libcublasLt.so])],
    [test "x$with_cudnn" = xno],
      [_DP_CUDA_LACKS([configured with --without-cudnn],
        [$dp_cuda_text: --without-cudnn, and without cuDNN it is of no use])],
    [test "x$dp_cudnn_root" = x],
      [_DP_CUDA_LACKS([no cuDNN found],
        [$dp_cuda_text, but no cuDNN: cudnn.h is in none of $dp_roots])],
    [_DP_CUDNN])])

# CUDA_LIBS becomes what to link for the runtime, else nothing: the static library, which leaves
# the program able to start on machines without CUDA; Python's packages of CUDA 12 have a shared one
# only, without the name that -lcudart looks for. And libstdc++: nvcc guards the static variables in
# its launch stubs, which several threads may run for the first time, by functions from there.
m4_define([_DP_CUDART],
  [CUDA_LIBS=
  DP_LIBRARY_DIR([dp_cuda_lib], [$dp_cuda_root], [cudart])
  for dp_dir in "$dp_cuda_root/lib64" "$dp_cuda_root/lib" "$dp_cuda_root/lib/$host_cpu-linux-gnu"; do
    AS_IF([test -f "$dp_dir/libcudart_static.a"],
      [CUDA_LIBS="$dp_dir/libcudart_static.a -lstdc++ -ldl -lrt -lpthread"
       break])
  done
  AS_IF([test "x$CUDA_LIBS" = x && test "x$dp_cuda_lib" != x],
    [for dp_file in "$dp_cuda_lib"/libcudart.so "$dp_cuda_lib"/libcudart.so.@<:@0-9@:>@*; do
      AS_IF([test -f "$dp_file"],
        [CUDA_LIBS="$dp_file -Wl,-rpath,$dp_cuda_lib -lstdc++"
         break])
    done])])

m4_define([_DP_CUDNN],
  [dp_save_cpp=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS -I$dp_cuda_root/include"
  DP_HEADER_NUMBER([dp_number], [$dp_cudnn_root], [cudnn.h],
    [CUDNN_MAJOR * 1000000 + CUDNN_MINOR * 1000 + CUDNN_PATCHLEVEL])
  DP_LIBRARY_DIR([dp_cudnn_lib], [$dp_cudnn_root], [cudnn])
  AS_IF([test "x$dp_number" = x],
      [_DP_CUDA_LACKS([cuDNN's headers do not compile],
        [$dp_cudnn_root/include/cudnn.h does not compile (see config.log)])],
    [test "x$dp_cudnn_lib" = x],
      [_DP_CUDA_LACKS([no libcudnn found], [$dp_cudnn_root has cudnn.h, but no libcudnn.so])],
    [_DP_VERSION([dp_version], [$dp_number], [1000000], [1000])
     AS_VAR_APPEND([dp_cuda_text], [", cuDNN $dp_version"])
     CUDA_CPPFLAGS=
     DP_CUDA_INCLUDE([$dp_cuda_root])
     DP_CUDA_INCLUDE([$dp_cublas_root])
     DP_CUDA_INCLUDE([$dp_cudnn_root])
     _DP_CUDA_TRY
     AS_IF([test "x$dp_cuda" = xyes], [_DP_NCCL])])
  CPPFLAGS=$dp_save_cpp])

# Code for which GPUs: what this nvcc knows of 8.0 (A100), 9.0 (H100, H200), 10.0 (B200), and PTX of
# the newest, which drivers translate for what comes later. That for 9.0 is made of 8.0's PTX: of its
# own, for which nvcc compiles once more, CUDA 13 makes the same code of all kernels.
m4_define([_DP_NVCC_GENCODE],
  [dp_known=`"$NVCC" --list-gpu-code 2>/dev/null`
  dp_codes=
  dp_newest=
  for dp_code in 80 90 100; do
    AS_CASE([" "`echo $dp_known`" "], [*" sm_$dp_code "*],
      [AS_IF([test "$dp_newest:$dp_code" != 80:90], [dp_ptx=$dp_code])
       AS_VAR_APPEND([dp_codes], ["-gencode=arch=compute_$dp_ptx,code=sm_$dp_code "])
       dp_newest=$dp_code])
  done
  AS_IF([test "x$NVCC_GENCODE" = x && test "x$dp_newest" != x],
    [NVCC_GENCODE="$dp_codes-gencode=arch=compute_$dp_newest,code=compute_$dp_newest"])])

# Compile a kernel and link it by the C compiler, which says whether nvcc gets along with the host's
# compiler and the runtime with the system. Sets dp_cuda.
m4_define([_DP_CUDA_TRY],
  [AS_IF([test "x$NVCCFLAGS" = x], [NVCCFLAGS="-O3 --generate-line-info"])
  _DP_NVCC_GENCODE
  AS_ECHO(['extern "C" void dp_kernels(); __global__ void dp_kernel() {}
void dp_kernels() { dp_kernel<<<1, 1>>>(); }']) >conftest_kernel.cu
  dp_command="$NVCC -std=c++17 $NVCCFLAGS $NVCC_GENCODE -c conftest_kernel.cu -o conftest_kernel.o"
  AS_ECHO(["$dp_command"]) >&AS_MESSAGE_LOG_FD
  AS_IF([$dp_command >&AS_MESSAGE_LOG_FD 2>&1],
    [dp_save_LIBS=$LIBS
     LIBS="conftest_kernel.o $CUDA_LIBS $LIBS"
     AC_LINK_IFELSE([AC_LANG_PROGRAM([[void dp_kernels(void);]], [[dp_kernels();]])],
       [dp_cuda=yes],
       [_DP_CUDA_LACKS([the CUDA runtime does not link],
         [$dp_cuda_text: linking with $CUDA_LIBS fails (see config.log)])])
     LIBS=$dp_save_LIBS],
    [_DP_CUDA_LACKS([nvcc does not compile],
      [$dp_cuda_text: $NVCC does not compile (see config.log); it wants a C++ compiler that it knows, dnl
NVCCFLAGS=-ccbin=PROGRAM names one])])
  rm -f conftest_kernel.cu conftest_kernel.o])

m4_define([_DP_NCCL],
  [_DP_CUDA_ROOTS([dp_roots], [$with_nccl], [nccl],
    [$dp_cuda_root $dp_cuda_root/../nccl /usr/local /usr])
  DP_FIND_BELOW([dp_nccl_root], [nccl.h], [$dp_roots])
  dp_number=
  AS_IF([test "x$with_nccl" != xno && test "x$dp_nccl_root" != x],
    [DP_HEADER_NUMBER([dp_number], [$dp_nccl_root], [nccl.h],
       [NCCL_MAJOR * 1000000 + NCCL_MINOR * 1000 + NCCL_PATCH])
     DP_LIBRARY_DIR([dp_nccl_lib], [$dp_nccl_root], [nccl])
     AS_IF([test "x$dp_nccl_lib" = x], [dp_number=])])
  AS_IF([test "x$dp_number" != x],
    [_DP_VERSION([dp_version], [$dp_number], [1000000], [1000])
     AS_VAR_APPEND([dp_cuda_text], [", NCCL $dp_version"])
     DP_CUDA_INCLUDE([$dp_nccl_root])
     dp_nccl=yes],
    [AS_VAR_APPEND([dp_cuda_text], [", no NCCL"])
     AS_CASE([$with_nccl], [check|no], [],
       [dp_cuda=no
        _DP_CUDA_LACKS([no NCCL found], [no usable NCCL (nccl.h, libnccl.so) in $dp_roots])])])])

# _DP_VERSION(VARIABLE, NUMBER, MAJOR-UNIT, MINOR-UNIT)
m4_define([_DP_VERSION],
  [AS_VAR_ARITH([dp_major], [$2 / $3])
  AS_VAR_ARITH([dp_minor], [$2 % $3 / $4])
  AS_VAR_ARITH([dp_patch], [$2 % $4])
  $1=$dp_major.$dp_minor.$dp_patch])
