# What the build puts into the program: the code of what is written in the language is what its sources compile to, and the index of
# operators is that of all their names.
. "$(dirname "$0")/lib.sh"
built=$(dirname "$(readlink -f "$tsr")")
for part in prelude index; do
    is "$part: in the program as it was built" "$(cksum <"$built/$part.frozen")" "$("$tsr" --print-man $part | cksum)"
done
exit $bad
