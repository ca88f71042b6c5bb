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

# DP_CUDA_FLAGS(ROOT, LIBRARY-DIR)
# Add a root to CUDA_CPPFLAGS and CUDA_LDFLAGS, once; the compiler looks into /usr by itself.
AC_DEFUN([DP_CUDA_FLAGS],
  [AS_CASE([" $CUDA_CPPFLAGS "], [*" $1/include "*], [],
    [AS_IF([test "x$1" != x/usr],
      [AS_VAR_APPEND([CUDA_CPPFLAGS], ["-isystem $1/include "])
       AS_VAR_APPEND([CUDA_LDFLAGS], ["-L$2 "])])])])

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
# Look for the CUDA toolkit (nvcc, runtime), cuDNN and NCCL. Sets dp_cuda to yes or no, dp_cuda_text
# to a line for people, dp_cuda_note to the reason when something is missing; substitutes NVCC,
# CUDA_CPPFLAGS, CUDA_LDFLAGS; defines HAVE_CUDA_TOOLKIT, HAVE_NCCL, CUDA_TOOLKIT_TEXT.
#
# A DIR given is a toolkit's root (DIR/include, DIR/lib64 or DIR/lib, DIR/bin) or the folder
# `nvidia' of Python's packages, which has one such root per package.
AC_DEFUN([DP_CUDA],
  [AC_REQUIRE([AC_CANONICAL_HOST])
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
      [require the CUDA toolkit (in DIR; default: look for it in $CUDA_HOME, beside nvcc and in
       /usr/local/cuda, and go on without)])],
    [], [with_cuda=check])
  AC_ARG_WITH([cudnn],
    [AS_HELP_STRING([--with-cudnn=DIR], [cuDNN is in DIR (default: beside CUDA or in /usr)])],
    [], [with_cudnn=check])
  AC_ARG_WITH([nccl],
    [AS_HELP_STRING([--with-nccl=DIR], [NCCL is in DIR (default: beside CUDA or in /usr)])],
    [], [with_nccl=check])
  AC_ARG_VAR([NVCC], [CUDA compiler])
  dp_cuda=no
  dp_nccl=no
  dp_cuda_text=
  dp_cuda_note=
  AS_IF([test "x$with_cuda" = xno],
    [AS_CASE(["$with_cudnn:$with_nccl"],
      [check:check|no:check|check:no|no:no], [],
      [AC_MSG_ERROR([--without-cuda contradicts --with-cudnn and --with-nccl])])
     dp_cuda_note="not looked for (--without-cuda)"],
    [_DP_CUDA_SEARCH
     AS_IF([test "x$dp_cuda" = xno],
      [AS_CASE(["$with_cuda:$with_cudnn:$with_nccl"],
        [check:check:check], [],
        [AC_MSG_ERROR([$dp_cuda_note
  Name its folder with --with-cuda=DIR, --with-cudnn=DIR, --with-nccl=DIR, or use --without-cuda])])])])
  AC_MSG_CHECKING([for a CUDA toolkit])
  AS_IF([test "x$dp_cuda" = xyes],
    [AC_DEFINE([HAVE_CUDA_TOOLKIT], [1], [Define to 1 if nvcc, the CUDA runtime and cuDNN were found.])
     AC_DEFINE_UNQUOTED([CUDA_TOOLKIT_TEXT], ["$dp_cuda_text"],
       [The CUDA toolkit that configure found, in words.])
     AC_MSG_RESULT([$dp_cuda_text])],
    [AC_MSG_RESULT([no: $dp_cuda_note])])
  AS_IF([test "x$dp_nccl" = xyes], [AC_DEFINE([HAVE_NCCL], [1], [Define to 1 if NCCL was found.])])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LDFLAGS])
  AM_CONDITIONAL([HAVE_CUDA_TOOLKIT], [test "x$dp_cuda" = xyes])])

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
    [dp_cuda_note="cuda_runtime_api.h is in none of $dp_roots"],
    [DP_HEADER_NUMBER([dp_number], [$dp_cuda_root], [cuda_runtime_api.h], [CUDART_VERSION])
     AS_IF([test "x$dp_number" = x],
       [dp_cuda_note="$dp_cuda_root/include/cuda_runtime_api.h does not compile (see config.log)"],
       [dp_cuda_text="CUDA `expr $dp_number / 1000`.`expr $dp_number % 1000 / 10` in $dp_cuda_root"
        _DP_CUDA_PARTS])])])

m4_define([_DP_CUDA_PARTS],
  [# nvcc named by hand, else that of this toolkit, else any.
  AS_IF([test "x$NVCC" = x],
    [for dp_file in "$dp_cuda_root/bin/nvcc" "$dp_cuda_root/../cuda_nvcc/bin/nvcc" "$dp_nvcc"; do
      AS_IF([test -x "$dp_file"], [NVCC=$dp_file; break])
    done])
  DP_LIBRARY_DIR([dp_cuda_lib], [$dp_cuda_root], [cudart])
  _DP_CUDA_ROOTS([dp_roots], [$with_cudnn], [cudnn],
    [$dp_cuda_root $dp_cuda_root/../cudnn /usr/local /usr])
  DP_FIND_BELOW([dp_cudnn_root], [cudnn.h], [$dp_roots])
  AS_IF([test "x$NVCC" = x],
      [dp_cuda_note="$dp_cuda_text has no nvcc"],
    [test "x$dp_cuda_lib" = x],
      [dp_cuda_note="$dp_cuda_text has no libcudart.so"],
    [test "x$with_cudnn" = xno],
      [dp_cuda_note="$dp_cuda_text: --without-cudnn, and without cuDNN it is of no use"],
    [test "x$dp_cudnn_root" = x],
      [dp_cuda_note="$dp_cuda_text, but no cuDNN: cudnn.h is in none of $dp_roots"],
    [_DP_CUDNN])])

m4_define([_DP_CUDNN],
  [dp_save_cpp=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS -I$dp_cuda_root/include"
  DP_HEADER_NUMBER([dp_number], [$dp_cudnn_root], [cudnn.h],
    [CUDNN_MAJOR * 1000000 + CUDNN_MINOR * 1000 + CUDNN_PATCHLEVEL])
  DP_LIBRARY_DIR([dp_cudnn_lib], [$dp_cudnn_root], [cudnn])
  AS_IF([test "x$dp_number" = x],
      [dp_cuda_note="$dp_cudnn_root/include/cudnn.h does not compile (see config.log)"],
    [test "x$dp_cudnn_lib" = x],
      [dp_cuda_note="$dp_cudnn_root has cudnn.h, but no libcudnn.so"],
    [_DP_VERSION([dp_version], [$dp_number], [1000000], [1000])
     AS_VAR_APPEND([dp_cuda_text], [", cuDNN $dp_version"])
     CUDA_CPPFLAGS=
     CUDA_LDFLAGS=
     DP_CUDA_FLAGS([$dp_cuda_root], [$dp_cuda_lib])
     DP_CUDA_FLAGS([$dp_cudnn_root], [$dp_cudnn_lib])
     dp_cuda=yes
     _DP_NCCL])
  CPPFLAGS=$dp_save_cpp])

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
     DP_CUDA_FLAGS([$dp_nccl_root], [$dp_nccl_lib])
     dp_nccl=yes],
    [AS_VAR_APPEND([dp_cuda_text], [", no NCCL"])
     AS_CASE([$with_nccl], [check|no], [],
       [dp_cuda=no
        dp_cuda_note="no usable NCCL (nccl.h, libnccl.so) in $dp_roots"])])])

# _DP_VERSION(VARIABLE, NUMBER, MAJOR-UNIT, MINOR-UNIT)
m4_define([_DP_VERSION],
  [AS_VAR_ARITH([dp_major], [$2 / $3])
  AS_VAR_ARITH([dp_minor], [$2 % $3 / $4])
  AS_VAR_ARITH([dp_patch], [$2 % $4])
  $1=$dp_major.$dp_minor.$dp_patch])
