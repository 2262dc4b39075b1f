# open() and its files, as CPython has them: modes, encodings, line ends.
. "$(dirname "$0")/lib.sh"
program=$(cd "$(dirname "$0")" && pwd)/files.py
mkdir "$work/theirs" "$work/ours"
(cd "$work/theirs" && LC_ALL=C.UTF-8 python3 "$program" >out 2>&1 </dev/null)
(cd "$work/ours" && "$tsr" "$program" >out 2>&1 </dev/null)
is 'as CPython' "$(cat -A "$work/theirs/out")" "$(cat -A "$work/ours/out")"
for f in x w ends latin; do cmp -s "$work/theirs/$f" "$work/ours/$f" && ok "the bytes of $f" || fail "the bytes of $f"; done
run -e 'open("u", "w", encoding="utf-16")'; is 'an encoding without line ends of one byte' 'ValueError: open() has no lines of utf-16: decode() the bytes of a binary file' "$(last)"
printf old >"$work/kept"; run -e "open('$work/kept', 'w', encoding='nope')"; is 'refused before the file is emptied' 'LookupError: unknown encoding: nope old' "$(last) $(cat "$work/kept")"
exit $bad
