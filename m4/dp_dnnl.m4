# SPDX-License-Identifier: MIT

# DP_DNNL
# oneDNN 2 or 3 with its OpenMP runtime. Not every distribution has its pkg-config file. Sets
# DNNL_CFLAGS, DNNL_LIBS and dp_dnnl_version.
AC_DEFUN([DP_DNNL],
  [AC_REQUIRE([PKG_PROG_PKG_CONFIG])
  AC_ARG_VAR([DNNL_CFLAGS], [C compiler flags for oneDNN, overriding pkg-config])
  AC_ARG_VAR([DNNL_LIBS], [linker flags for oneDNN, overriding pkg-config])
  AS_IF([test "x$DNNL_LIBS" = x],
    [AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists dnnl 2>/dev/null],
      [DNNL_LIBS=`$PKG_CONFIG --libs dnnl`
       AS_IF([test "x$DNNL_CFLAGS" = x], [DNNL_CFLAGS=`$PKG_CONFIG --cflags dnnl`])],
      [DNNL_LIBS=-ldnnl])])
  dp_save_CPPFLAGS=$CPPFLAGS
  dp_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $DNNL_CFLAGS"
  LIBS="$DNNL_LIBS $LIBS"
  dp_dnnl_version=no
  AC_MSG_CHECKING([for oneDNN 2 or 3 ($DNNL_LIBS)])
  AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <dnnl.h>
#include <dnnl_version.h>
#if DNNL_VERSION_MAJOR != 2 && DNNL_VERSION_MAJOR != 3
#error neither oneDNN 2 nor 3
#endif]],
      [[dnnl_engine_t engine; return (int)dnnl_engine_create(&engine, dnnl_cpu, 0);]])],
    [AC_COMPUTE_INT([dp_dnnl_major], [DNNL_VERSION_MAJOR], [[#include <dnnl_version.h>]])
     AC_COMPUTE_INT([dp_dnnl_minor], [DNNL_VERSION_MINOR], [[#include <dnnl_version.h>]])
     AC_COMPUTE_INT([dp_dnnl_patch], [DNNL_VERSION_PATCH], [[#include <dnnl_version.h>]])
     dp_dnnl_version=$dp_dnnl_major.$dp_dnnl_minor.$dp_dnnl_patch],
    [DP_MISSING([oneDNN 2 or 3], [libdnnl-dev])])
  AC_MSG_RESULT([$dp_dnnl_version])
  AS_IF([test "x$dp_dnnl_version" != xno],
    [AC_COMPILE_IFELSE(
      [AC_LANG_PROGRAM([[#include <dnnl_config.h>
#if DNNL_CPU_RUNTIME != DNNL_RUNTIME_OMP
#error not OpenMP
#endif]], [])],
      [], [AC_MSG_ERROR([this oneDNN was not built for OpenMP, which CPU devices need: build it with
  -DDNNL_CPU_RUNTIME=OMP and name it by DNNL_CFLAGS and DNNL_LIBS])])])
  CPPFLAGS=$dp_save_CPPFLAGS
  LIBS=$dp_save_LIBS])
