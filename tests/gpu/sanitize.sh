#!/bin/sh
# SPDX-License-Identifier: MIT
#
#     SANITIZER='compute-sanitizer OPTION...' sanitize.sh PROGRAM...
# Run a program by itself, so that it has its algorithms chosen and remembered, which must not be
# timed under the sanitizer; then run it under that. Exit status 77: the GPU cannot be watched here.
set -eu

"$@"
status=0
# shellcheck disable=SC2086 # a command with options
$SANITIZER "$@" >sanitized.$$ 2>&1 || status=$?
cat sanitized.$$
if grep -q 'Device not supported' sanitized.$$; then
    echo 'skipped: compute-sanitizer does not support this device or machine'
    status=77
fi
rm -f sanitized.$$
exit $status
