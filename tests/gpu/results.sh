# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
#
# Part of tests/gpu/run: running an item within its time, and keeping what came of it. A line of
# results.tsv: name, result, seconds, reason, checksum of the sources.

clock() {
    date +%s
}

# Seconds of the budget that are left; nothing: there is no budget.
time_left() {
    if test -n "$budget"; then
        left=$((budget + started - $(clock)))
        test "$left" -gt 0 || left=0
        say "$left"
    fi
}

# within SECONDS COMMAND...; no seconds: as long as it takes. Exit status 124: it took longer.
within() {
    limit=$1
    shift
    if test -z "$limit" || ! have timeout; then
        "$@"
    elif test "$limit" = 0; then
        return 124
    else
        timeout -k 5 "$limit" "$@"
    fi
}

# One checksum over all that results depend on.
checksum_of_sources() {
    (
        cd "$src" || exit
        find engine src/base src/events src/spec etc/models tests -type f \
            \( -name '*.[ch]' -o -name '*.cu' -o -name '*.py' -o -name '*.sh' -o -name '*.conf' \
            -o -name '*.mk' -o -name run \) |
            sort -u | tr '\n' '\0' | xargs -0 cat | cksum | cut -d ' ' -f 1
    )
}

# result_of NAME: its result in a word; OLD: passed, with other sources; nothing: none.
result_of() {
    awk -F '\t' -v name="$1" -v sources="$sources" '
        $1 == name { result = $2 == "PASS" && $5 != sources ? "OLD" : $2 }
        END { if (result ~ /^(PASS|FAIL|SKIP|LEFT|OLD)$/) print result }' results.tsv
}

# locked COMMAND...: while no other item that runs beside this one does anything so.
locked() {
    until mkdir lock 2>/dev/null; do
        sleep 0.05
    done
    "$@"
    rmdir lock
}

# put NAME RESULT SECONDS REASON: its line, in place of an earlier one.
put() {
    {
        awk -F '\t' -v name="$1" '$1 != name' results.tsv
        printf '%s\t%s\t%s\t%s\t%s\n' "$@" "$sources"
    } >results.tsv.new
    mv results.tsv.new results.tsv
}

note() {
    put "$@"
    printf '%-4s  %-14s %5s s  %s\n' "$2" "$1" "$3" "$4" | tee -a run.log
}

note_and_publish() {
    note "$@"
    publish
}

record() {
    locked note_and_publish "$@"
}

begin_item() {
    put "$1" LEFT 0 'was running when the script was ended'
    send results.tsv
}

# Why a test failed, in a line, from its log.
reason() {
    {
        grep '^FAIL' "$1" || grep -E ':[0-9]+:|: error|^=+ .*ERROR' "$1" || tail -n 1 "$1"
    } | head -n 1 | cut -c 1-160 | tr '\t' ' '
}

keep_log() {
    {
        say "--- $2"
        cat "$1"
    } >>run.log
}

# run_item NAME SECONDS COMMAND...
run_item() {
    name=$1 seconds=$2
    shift 2
    log=logs/$name.log cut=false left=$(time_left)
    if test -n "$left" && test "$left" -lt "$seconds"; then
        seconds=$left cut=true
    fi
    locked begin_item "$name"
    begin=$(clock) status=0
    within "$seconds" "$@" >"$log" 2>&1 </dev/null || status=$?
    took=$(($(clock) - begin))
    locked keep_log "$log" "$name: $*"
    skipped=$(sed -n 's/^skipped: //p' "$log" | tail -n 1)
    if test "$status" = 0 && grep -q 'Checks: 0,' "$log"; then
        echo 'FAIL: no test was run' >>"$log"
        status=1
    fi
    case $status in
    0)
        if test -n "$skipped"; then
            record "$name" SKIP "$took" "$skipped"
        else
            record "$name" PASS "$took" "$(sed -n 's/^note: //p' "$log" | tail -n 1)"
        fi
        ;;
    77) record "$name" SKIP "$took" "${skipped:-no reason given}" ;;
    124 | 137)
        if test "$took" -lt "$seconds"; then
            record "$name" FAIL "$took" "$(reason "$log")"
        elif $cut; then
            record "$name" LEFT "$took" "not done after $seconds s, when the budget was over"
        else
            record "$name" FAIL "$took" "not done after $seconds s"
        fi
        ;;
    *) record "$name" FAIL "$took" "$(reason "$log")" ;;
    esac
}

# start NAME EXPECTED SECONDS: run an item if there is time for it.
start() {
    left=$(time_left)
    if test -z "$left" || test "$left" -ge "$2"; then
        run_one "$1" "$3"
    else
        case $(result_of "$1") in
        '' | LEFT) locked note "$1" LEFT 0 "not started: needs $2 s, $left s left" ;;
        esac
    fi
}

# --- summing up ------------------------------------------------------------------------------

count_of() {
    cut -f 2 results.tsv | grep -c "^$1\$" || :
}

summary() {
    say ''
    printf '%-14s %-6s %-8s %s\n' item result seconds reason
    in_order '%-14s %-6s %-8s %s%s\n'
    say ''
    say "$(count_of PASS) passed, $(count_of FAIL) failed, $(count_of SKIP) skipped," \
        "$(count_of LEFT) left; $build holds the logs"
}

# in_order FORMAT: item, result, seconds, reason, a remark, what it shows, in the items' order.
in_order() {
    items | while read -r name _ _ shows; do
        awk -F '\t' -v name="$name" -v shows="$shows" -v sources="$sources" -v format="$1" '
            $1 == name {
                printf format, $1, $2, $3, $4, $5 == sources ? "" : " (with earlier sources)", shows
            }' results.tsv
    done
}

# A section for docs/gpu-results.md.
markdown() {
    say "## $(date +%F), $(sed -n 's/^model: //p' info)"
    say ''
    sed -n 's/^\(driver\|runtime\|cuDNN\|cuBLASLt\|NCCL\|memory\|capability\): /- \1 /p' info
    say "- $($nvcc --version | sed -n 's/^Cuda compilation tools, //p' | head -n 1), code for $arch"
    say "- $($cc --version | head -n 1), Linux $(uname -r)"
    say "- revision $(git -C "$src" describe --always --dirty 2>/dev/null || echo unknown)"
    say ''
    say '| item | result | seconds | reason | shows |'
    say '|------|--------|--------:|--------|-------|'
    in_order '| %s | %s | %s | %s%s | %s |\n'
    for table in speed.md bench.md; do
        if test -f $table; then
            say ''
            cat $table
        fi
    done
}

# send FILE: to --out, whole or not at all.
send() {
    test -n "$out" || return 0
    if ! { cp "$1" "$out/.$1.new" && mv "$out/.$1.new" "$out/$1"; }; then
        say "cannot write $out/$1"
    fi
}

# What is known so far.
publish() {
    if test -s results.tsv; then
        markdown >results.md
        send results.tsv
        send results.md
    fi
    test -n "$out" || return 0
    set --
    for file in build.log run.log info settings.mk nvcc.mk config.h logs home/cache/dpartui; do
        test ! -e $file || set -- "$@" "$file"
    done
    if tar -czf logs.tar.gz "$@"; then
        send logs.tar.gz
    fi
}
