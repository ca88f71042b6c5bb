#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The manual's list of keys is the one that the table of actions makes.
set -eu
cd "${TMPDIR:?}"
"${top_builddir:?}/man/keys" >wanted
sed -n '/^\.\\" keys begin$/,/^\.\\" keys end$/p' "${top_srcdir:?}/man/dpartui.1" |
    sed -e 1d -e '$d' -e '/^\.Bl /d' -e '/^\.El$/d' >listed
test -s wanted
if ! diff -u listed wanted; then
    echo "the keys in man/dpartui.1 are not those of ui/keys/actions.c: make update-keys"
    exit 1
fi
