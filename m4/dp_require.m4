# SPDX-License-Identifier: MIT

# DP_MISSING(WHAT, DEBIAN-PACKAGE)
# Remember that a library is missing. DP_REPORT_MISSING ends configure with one error that lists
# all of them, so that nobody finds out one run at a time.
AC_DEFUN([DP_MISSING],
  [AS_VAR_APPEND([dp_missing], ["
    $1 (Debian and Ubuntu: $2)"])
   AS_VAR_APPEND([dp_missing_packages], [" $2"])])

# DP_REQUIRE(PREFIX, PKG-CONFIG-SPEC, NAME, DEBIAN-PACKAGE)
# A library by pkg-config: sets PREFIX_CFLAGS and PREFIX_LIBS.
AC_DEFUN([DP_REQUIRE],
  [PKG_CHECK_MODULES([$1], [$2], [], [DP_MISSING([$3], [$4])])])

AC_DEFUN([DP_REPORT_MISSING],
  [AS_IF([test -n "$dp_missing"],
    [AC_MSG_ERROR([these are missing or too old:$dp_missing
  On Debian and Ubuntu run ./bootstrap, or: apt-get install$dp_missing_packages])])])
