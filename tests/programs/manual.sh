#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The manual and the programs agree: every command and option of --help is in the manual, and the
# manual has no other. Where mandoc is installed, the pages are also correct mdoc.
set -eu
dpartui=${top_builddir:?}/dpartui
engine=$top_builddir/dpartui-engine
man=${top_srcdir:?}/man
failed=0

complain() {
    echo "manual: $*"
    failed=1
}

# The long options in the text on standard input, one a line.
options_in_help() {
    sed -n 's/^ *--\([a-z][a-z0-9-]*\).*/\1/p' | sort -u
}

options_in_page() {
    sed -e '/^\.Sh EXAMPLES/,/^\.Sh DIAGNOSTICS/d' -e 's/Fl Fl /\n--/g' "$1" |
        sed -n 's/^--\([a-z][a-z0-9-]*\).*/\1/p' | sort -u
}

# compare WHAT FILE-OF-PROGRAM FILE-OF-MANUAL: both hold sorted lines.
compare() {
    for word in $(comm -23 "$2" "$3"); do
        complain "$1 '$word' is not in the manual"
    done
    for word in $(comm -13 "$2" "$3"); do
        complain "the manual has $1 '$word', which the program lacks"
    done
    test -s "$2" || complain "no $1 found in the output of --help"
}

if ! test -x "$dpartui" || ! test -x "$engine"; then
    echo "manual: the programs are not built"
    exit 77
fi
cd "$TMPDIR"

"$dpartui" --help >help
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p' help | sort -u >commands
sed '/^\.Sh WORKBENCH/,$d' "$man/dpartui.1" |
    sed -n 's/^\.It Cm \([a-z]*\).*/\1/p' | sort -u >listed
compare command commands listed

{
    cat help
    while read -r command; do
        "$dpartui" "$command" --help
    done <commands
} | options_in_help >options
options_in_page "$man/dpartui.1" >listed
compare 'option of dpartui' options listed

# Each option of a run, as a separate entry in TRAINING.
"$dpartui" train --help | options_in_help | grep -vx -e help -e version -e host >options
sed -n '/^\.Sh TRAINING/,/^\.Sh DEVICES/s/^\.It Fl Fl //p' "$man/dpartui.1" |
    sed 's/ , Fl Fl /\n/g' | sed 's/ .*//' | sort -u >listed
compare 'option of dpartui train' options listed

"$engine" --help | options_in_help >options
options_in_page "$man/dpartui-engine.8" | grep -vx now >listed
compare 'option of dpartui-engine' options listed

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$man"/*.[1-9] || complain "mandoc found faults"
fi
exit $failed
