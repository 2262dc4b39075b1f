# Targets that can't be written: one error, status 1, and what was there before stays whole.
. "$(dirname "$0")/lib.sh"
# refuses NAME ARGS...
refuses() {
    name=$1
    shift
    run "$@"
    is "$name: status" 1 "$status"
    case $(last) in *Error:*) ok "$name: an error" ;; *) fail "$name: an error: $(last)" ;; esac
}
for format in npy csv tsv json jsonl raw pb text; do
    timeout 20 "$tsr" -o $format -e 'ones(100, 100)' >/dev/full 2>"$work/err"
    is "$format to a full disk" 1 $?
    timeout 20 "$tsr" -o $format -e 'ones(3)' >&- 2>"$work/err"
    is "$format to a closed output" 1 $?
done
refuses 'a folder that is not there' -o "$work/none/x.npy" -e 'ones(3)'
mkdir "$work/folder.npy"
refuses 'a folder as a file' -o "$work/folder.npy" -e 'ones(3)'
refuses 'a file as a folder' -o /dev/null/x.npy -e 'ones(3)'
run -o "$work/x.nosuch" -e 'ones(3)'; is 'no such format' 2 "$status"
echo old >"$work/kept.npy"
refuses 'a value that no file can hold' -o "$work/kept.npy" -e '"text"'
refuses 'an error after the work' -o "$work/kept.npy" -e 'ones(3)' -e '1 / 0'
is 'the old file stays' old "$(cat "$work/kept.npy")"
is 'and nothing beside it' 'err folder.npy kept.npy out' "$(ls "$work" | tr '\n' ' ' | sed 's/ $//')"
if [ "$(id -u)" != 0 ]; then
    mkdir "$work/locked" && chmod 555 "$work/locked"
    refuses 'a folder that is read-only' -o "$work/locked/x.npy" -e 'ones(3)'
fi
printf '{"k\377": [1]}' >"$work/bad.json"
refuses 'a key that is not UTF-8' -e "load('$work/bad.json')"
exit $bad
