# SPDX-License-Identifier: MIT
#
# The C and CUDA files of a list in Makefile.am and its fragments, so that it is kept in one place:
#     awk -v list=libnet_a_SOURCES -v have=' HAVE_NCCL ' -v top=/source/ -f sources.awk FILE...
# `have`: the conditionals that hold, blank-separated; blanks around. `top`: what the names of the
# files begin with.

function holds(name)
{
    return name ~ /^!/ ? !index(have, " " substr(name, 2) " ") : index(have, " " name " ") > 0
}

function skipped(    i)
{
    for (i = 1; i <= depth; i++)
        if (!state[i])
            return 1
    return 0
}

# As Automake has it: the fragment's folder, and the same in the name of a variable.
FNR == 1 {
    folder = substr(FILENAME, length(top) + 1)
    sub(/\/?[^\/]*$/, "", folder)
    variable = folder
    gsub(/[^A-Za-z0-9_@]/, "_", variable)
}

{
    while (sub(/\\$/, " ") && (getline rest) > 0)
        $0 = $0 rest
    gsub(/%D%/, folder)
    gsub(/%C%/, variable)
}

$1 == "if" { state[++depth] = holds($2); next }
$1 == "else" { state[depth] = !state[depth]; next }
$1 == "endif" { depth--; next }

!skipped() && ($2 == "=" || $2 == "+=") {
    name = $1
    $1 = $2 = ""
    values[name] = values[name] $0
}

END {
    text = values[list]
    while (match(text, /\$\([A-Za-z_0-9]+\)/))
        text = substr(text, 1, RSTART - 1) values[substr(text, RSTART + 2, RLENGTH - 3)] \
            substr(text, RSTART + RLENGTH)
    count = split(text, words)
    for (i = 1; i <= count; i++)
        if (words[i] ~ /\.(c|cu)$/)
            print words[i]
}
