# SPDX-License-Identifier: MIT

# DP_SIMGPU
# Whether the tests of the CUDA backend on a simulated GPU are built (tests/simgpu): with
# --enable-simulated-gpu, as they take long. They need the toolkit's headers and a C++17 compiler.
# Substitutes SIMGPU_MISSING, the reason why not, SIMGPU_RACE_FLAGS, which have the kernels' accesses
# checked (none beside another sanitizer), SIMGPU_STACK_FLAGS, which keep AddressSanitizer from giving
# each thread of a kernel a second stack, and CXX_WARN, the warnings for C++; call it after DP_CUDA
# and with enable_werror set.
AC_DEFUN([DP_SIMGPU],
  [AC_REQUIRE([AC_PROG_CXX])
  AC_LANG_PUSH([C++])
  dp_save_CXXFLAGS=$CXXFLAGS
  CXXFLAGS="$CXXFLAGS -std=c++17"
  AC_CACHE_CHECK([for a C++17 compiler (tests on a simulated GPU)], [dp_cv_cxx17],
    [AC_COMPILE_IFELSE(
      [AC_LANG_PROGRAM([[#include <optional>]],
        [[if constexpr (sizeof(std::optional<int>) > 0) return 0;]])],
      [dp_cv_cxx17=yes], [dp_cv_cxx17=no])])
  CXXFLAGS=$dp_save_CXXFLAGS
  CXX_WARN="-Wall -Wextra -Wshadow -Wno-unknown-pragmas"
  AS_IF([test "x$enable_werror" = xyes], [CXX_WARN="$CXX_WARN -Werror"])
  # The calls this inserts into kernels are taken by the simulator, without the sanitizer's library.
  SIMGPU_RACE_FLAGS=
  AS_IF([test "x$enable_sanitizers" = xno && test "x$enable_fuzzing" != xyes],
    [AX_CHECK_COMPILE_FLAG([-fsanitize=thread],
      [SIMGPU_RACE_FLAGS="-fsanitize=thread -DSIMGPU_RACES"])])
  AC_SUBST([SIMGPU_RACE_FLAGS])
  # That stack, of 11 MB, is for finding uses of a function's variables after its return. There is a
  # new one each time that a thread begins, which took most of the time of tests with sanitizers.
  SIMGPU_STACK_FLAGS=
  AS_CASE([",$enable_sanitizers,$enable_fuzzing,"], [*,yes,* | *,address,*],
    [AX_CHECK_COMPILE_FLAG([--param=asan-use-after-return=0],
      [SIMGPU_STACK_FLAGS=--param=asan-use-after-return=0],
      [AX_CHECK_COMPILE_FLAG([-fsanitize-address-use-after-return=never],
        [SIMGPU_STACK_FLAGS=-fsanitize-address-use-after-return=never], [],
        [-fsanitize=address -Werror])],
      [-fsanitize=address -Werror])])
  AC_SUBST([SIMGPU_STACK_FLAGS])
  AC_LANG_POP([C++])
  SIMGPU_MISSING=
  AS_IF([test "x$dp_cuda" != xyes], [SIMGPU_MISSING="no CUDA toolkit: $dp_cuda_note"],
    [test "x$dp_nccl" != xyes], [SIMGPU_MISSING="NCCL was not found"],
    [test "x$dp_cv_cxx17" != xyes], [SIMGPU_MISSING="no C++17 compiler"])
  AC_SUBST([SIMGPU_MISSING])
  AC_SUBST([CXX_WARN])
  AM_CONDITIONAL([HAVE_SIMGPU],
    [test "x$SIMGPU_MISSING" = x && test "x$enable_simulated_gpu" != xno])
  AM_CONDITIONAL([LACKS_SIMGPU],
    [test "x$SIMGPU_MISSING" != x && test "x$enable_simulated_gpu" != xno])])
