# SPDX-License-Identifier: MIT

# DP_SIMGPU
# Whether the tests of the CUDA backend on a simulated GPU can be built (tests/simgpu): they need
# the toolkit's headers and a C++17 compiler. Substitutes SIMGPU_MISSING, the reason why not, and
# CXX_WARN, the warnings for C++; call it after DP_CUDA and with enable_werror set.
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
  AC_LANG_POP([C++])
  SIMGPU_MISSING=
  AS_IF([test "x$dp_cuda" != xyes], [SIMGPU_MISSING="no CUDA toolkit: $dp_cuda_note"],
    [test "x$dp_nccl" != xyes], [SIMGPU_MISSING="NCCL was not found"],
    [test "x$dp_cv_cxx17" != xyes], [SIMGPU_MISSING="no C++17 compiler"])
  AC_SUBST([SIMGPU_MISSING])
  AC_SUBST([CXX_WARN])
  AM_CONDITIONAL([HAVE_SIMGPU], [test "x$SIMGPU_MISSING" = x])])
