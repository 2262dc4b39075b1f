# Several files, and several records in one: inputs has all of them, --each runs the program on each, and nothing is left out without a word.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
printf '1,2\n3,4\n' >a.csv
printf '5,6\n' >b.csv
run -o a.npy -e 'arange(3)'; run -o b.npy -e 'ones(2, 2)'
cat a.npy b.npy a.npy >all.npy
is 'npy behind npy' '[3, 4, 3]' "$(cat a.npy b.npy a.npy | "$tsr" -e '[x.numel() for x in inputs]')"
run -e 'len(inputs), inputs[1].sum().item(), inputs[2].tolist()' all.npy a.csv; is 'of a file, before the next one' '(4, 4.0, [0, 1, 2])' "$out"
run -e 'len(load("all.npy", records=True))'; is 'load(records=True)' 3 "$out"
run -e 'load("all.npy")'; is 'load() gives one' "    hint: load(path, records=True) gives a list of all, and so does inputs in a filter (-e)
ValueError: all.npy: another npy begins at byte 152" "$(tail -n 2 "$work/err")"
run -l all.npy; is '-l' 'name  shape   dtype    bytes  stored
[0]   [3]     int64       24      24
[1]   [2, 2]  float32     16      16
[2]   [3]     int64       24      24
total: 3 tensors, 10 elements, 64 bytes' "$out"
head -c 172 all.npy >cut.npy; run -e inputs cut.npy; is 'a record that is cut off' 'ValueError: cut.npy: from byte 152 on: the npy header is cut off after 20 bytes' "$(last)"
head -c 285 all.npy >cut.npy; run -l cut.npy; is 'or its data' 'ValueError: cut.npy: from byte 152 on: the shape needs 16 bytes of data from byte 128 on, there are 5' "$(last)"
run --diff all.npy a.npy; is '--diff' 'ValueError: all.npy: another npy begins at byte 152' "$(last)"
is 'written by --each and read again' 2 "$("$tsr" --each -o npy -e _ a.npy b.npy | "$tsr" -e 'len(inputs)')"
is 'JSON behind JSON' '(3, 3)' "$(printf '[1, 2]\n[3]{"a": 1}' | "$tsr" -e 'len(inputs), (inputs[0].sum() + 0).item()')"
is 'raw of one shape' '[[1, 2], [3, 4]]' "$(printf '\1\2\3\4' | "$tsr" -I raw --dtype uint8 --shape 2 -e '[x.tolist() for x in inputs]')"
# trailing NAME EXTENSION CODE: bytes behind what -o writes
trailing() {
    run -o "t.$2" -e "$3"
    printf '\377\377XY' >>"t.$2"
    for way in load inputs -l; do
        case $way in
        load) run -e "load('t.$2')" ;;
        inputs) run -e 'inputs' "t.$2" ;;
        -l) run -l "t.$2" ;;
        esac
        case $status$(last) in 1ValueError*t.$2*) ok "bytes behind $1, $way" ;; *) is "bytes behind $1, $way" 'an error' "$status $out $err" ;; esac
    done
}
trailing npy npy 'ones(2)'
trailing npz npz '{"a": ones(2)}'
trailing safetensors safetensors '{"a": ones(2)}'
trailing pt pt '{"a": ones(2)}'
trailing csv csv 'ones(2, 2)'
trailing JSON json 'ones(2)'
trailing 'JSON lines' jsonl 'ones(2)'
trailing pb pb 'ones(2)'
printf '12345' >t.raw
run -I raw --dtype int16 --shape 2 -e 'inputs' t.raw; is 'bytes behind raw' 'ValueError: t.raw: from byte 4 on: the shape needs 4 bytes, there are 1' "$(last)"
run -e 'load("t.raw", dtype=int16, shape=(2,))'; is 'and by load()' 'ValueError: t.raw: 1 bytes too many: the raw ends at byte 4' "$(last)"
run -I raw --dtype int16 --shape 0 -e 'inputs' t.raw; is 'raw of nothing' 'ValueError: t.raw: the shape takes none of 5 bytes' "$(last)"

run -e '_.mean().item()' a.csv b.csv; is 'the first of two' 2.5 "$out"
is 'which is told' 'tsr: `_` is a.csv alone; inputs is the list of all 2, --each runs the program on each file' "$err"
run -e 'len(inputs), _.sum().item()' a.csv b.csv; is 'not where inputs is used' '' "$err"
run --json -e '_.sum().item()' a.csv b.csv; is 'an object with --json' '{"note": "`_` is a.csv alone; inputs is the list of all 2, --each runs the program on each file"}' "$err"
printf '{"a": 1}\n{"a": 2, "b": "x"}\n' >lines
run -e '_' lines; is 'objects on lines of their own are the rows of a table' 'a  b
1
2  x' "$out$err"
run -e '_["a"].sum().item()' <lines; is 'on standard input, too' 3 "$out$err"
cp lines lines.json; run -e 'len(inputs)' lines.json; is 'but not by another name' 2 "$out$err"
for text in '{"a": 1}{"a": 2}' '{"a": 1}' '{"a": 1}\n\n' '{"a": 1}\n[2]\n' '{"a": "}\\n{"}\n' '{"a":\n1}\n{"a": 2}\n' '{"a": "x\\"}\\n{", "b": [1]}\n{"a": 2}\n'; do
    printf "$text" >other
    run -e 'type(_).__name__' other; is "and not so: $text" "'dict'" "$out"
done
printf '{"a": {"b": 1}}\n{"a": 2, "b": "x"}\n' >lines
run -e '_' lines; is 'lines may be a table' 'tsr: lines holds 2 records, and `_` is the first; inputs is the list of all, -I jsonl reads each line as a row of a table' "$err"
run -I jsonl -e 'len(_)' lines; is 'and are one then' 2 "$out$err"
run -e '_.by("a")' lines; is 'and of which a program knew nothing' 'tsr: lines holds 2 records, and `_` is the first; inputs is the list of all, -I jsonl reads each line as a row of a table' "$(head -1 "$work/err")"
run -e 'exit(int("b" in _))' lines; is 'nothing is told of one that ends itself' '' "$err"
run -I json -e '0 if _ else 1' lines; is 'records that were asked for are none' 'tsr: lines holds 2 records, and `_` is the first; inputs is the list of all' "$err"
run -e '_.sum().item()' all.npy; is 'the first of the records' 'tsr: all.npy holds 3 records, and `_` is the first; inputs is the list of all' "$err"

run --each -e '_.mean().item()' a.csv b.csv; is '--each' 'a.csv: 2.5
b.csv: 5.5' "$out"
run --each -e '_' a.csv b.csv; is 'values of several lines' 'a.csv:
tensor([[1., 2.],
        [3., 4.]], dtype=torch.float64)
b.csv: tensor([[5., 6.]], dtype=torch.float64)' "$out"
run --each -e '_[1].sum().item()' b.csv none.csv a.csv; is 'an error does not end it' 'a.csv: 7.0' "$out"; is 'but is the status' 1 "$status"
is 'and named' 2 "$(grep -c '^b.csv:$\|^tsr: none.csv: No' "$work/err")"
run --each -e 'x = 5 if "a.csv" in str(inputs) else 0' -e '"y" in globals(), len(inputs)' -e 'y = _ = 1; y' a.csv b.csv; is 'no name outlives its file' 'a.csv: 1
b.csv: 1' "$out"
run --each -e '_ = _ * 2; _.sum().item()' a.csv b.csv; is 'nor does _' 'a.csv: 20.0
b.csv: 22.0' "$out"
run --each -o csv -e '_ * 2' a.csv b.csv; is 'formats follow one another' '2,4
6,8
10,12' "$out"
run --each --json -e '_.sum().item()' a.csv b.csv; is 'as JSON' '10.0
11.0' "$out"
cp a.csv c.csv; cp b.csv d.csv
run --each --in-place -e '_ + 1' c.csv none.csv d.csv; is 'in place' '2,3
4,5
6,7 1' "$(cat c.csv d.csv) $status"
run --each -e 'import sys; sys.exit(3)' a.csv b.csv; is 'exit() ends it' 3 "$status"
for wrong in '--each -e _' '--each -e _ -i a.csv' '--each -o x.csv -e _ a.csv' '--in-place -e _ a.csv b.csv' '--each --in-place -e _ a.csv -'; do
    run $wrong; is "wrong: $wrong" 2 "$status"
done
exit $bad
