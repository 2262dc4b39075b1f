# The code of what is written in the language, which the build puts into the program, is what its sources compile to.
. "$(dirname "$0")/lib.sh"
frozen=$(dirname "$(readlink -f "$tsr")")/prelude.frozen
is 'the code in the program is that of its sources' "$(cksum <"$frozen")" "$("$tsr" --print-man prelude | cksum)"
exit $bad
