# Tables as other programs write them: what is read as it is meant, and what is refused by its place and with advice, never read as something else.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
# reads NAME BYTES WANTED [OPTIONS...]: the value as a list
reads() {
    name=$1 wanted=$3
    printf -- "$2" >t.csv
    shift 3
    run -e '_.tolist()' "$@" t.csv
    is "$name" "$wanted" "$out$(last)"
}
# refuses NAME BYTES ERROR HINT [OPTIONS...]
refuses() {
    name=$1 wanted="    hint: $4
ValueError: t.csv: $3"
    printf -- "$2" >t.csv
    shift 4
    run -e _ "$@" t.csv
    is "$name" "$wanted" "$(tail -n 2 "$work/err")"
}
reads 'true and false, of a row that is no header' 'true,FALSE\nTrue,2\n' '[[1.0, 0.0], [1.0, 2.0]]'
reads 'as integers' 'true,2\n' '[[1, 2]]' --dtype int8
is 'booleans come back' 'True' "$("$tsr" -o csv -e 'eye(2) > 0' | "$tsr" --dtype bool -e 'equal(_, eye(2) > 0)')"
reads 'a header alone' 'a,b\n' '[]'
reads 'a table without a digit' 'nan,inf\n' '[[nan, inf]]'
reads 'integers to their ends' '18446744073709551615,0\n' '[[18446744073709551615, 0]]' --dtype uint64
reads 'cells that say there is nothing' 'NA,NA\n1,-\n,"n, a"\n' '[[nan, nan], [1.0, nan], [nan, nan]]' --na 'NA,-,"n, a"'
reads 'a number that says so' '1,-999\n' '[[1.0, nan]]' --na -999
printf 'a,b\n1,NA\n-,2\n' >t.csv
run --na NA,- -o csv -e _ t.csv; is 'nan is written as the first of them' 'a,b
1,NA
NA,2' "$out"
run --na ,NA,- -o csv -e _ t.csv; is 'as nothing' 'a,b
1,
,2' "$out"
run --na ,NA,- -o csv -e '_[:, 0]' t.csv; is 'as nothing in a line of its own' 'a
1
""' "$out"
run -e 'load("t.csv", na=["NA", "-"]).isnan().sum().item(), save({"x": tensor(float("nan"))}, "-", format="tsv", na="NULL")' t.csv; is 'load and save' 'x
NULL
(2, None)' "$out"
run -e 'save(tensor(float("nan")), "-", format="csv", na="x" * 60)'; is 'a word, no text' 'ValueError: what nan is written as has at most 45 bytes' "$(last)"

other="--columns, or load(path, columns='a,c'), takes the columns that hold whole numbers"
words="if line 1 is a header, --header yes, or header=True, says so; --header no reads columns of words, too"
refuses 'words' '1,a\n' "line 1, column 2: 'a' is not a number" "$words"
refuses 'missing' '1,NA\n' "line 1, column 2: 'NA' is not a number" "an empty cell is nan, and with --na 'NA', or load(path, na='NA'), one that says so"
refuses 'an integer that is none' '1,2.5\n' "line 1, column 2: '2.5' is not an integer" "$other" --dtype int32
refuses 'decimal commas' '1,5;2,5\n' "line 1, column 2: '5;2' is not a number" "--delimiter ';' separates fields there; --decimal , or load(path, decimal=','), reads decimal commas"
refuses 'decimal commas between semicolons' '1;2\n1,5;2\n' "line 2, column 1: '1,5' is not a number" "--decimal , or load(path, decimal=','), reads numbers with a decimal comma"
refuses 'a time' '1,2\n12:30,5\n' "line 2, column 1: '12:30' is not a number" '--header no, or header=False, reads columns of words, too; --columns 0,2 takes some'
refuses 'a time below a number' '1\n12:30\n' "line 2, column 1: '12:30' is not a number" '--header no, or header=False, reads columns of words, too; --columns 0,2 takes some'
refuses 'a comma after the first line' '1\n1,5\n' "line 2, column 1: '1,5' is not a number" 'the first line, where no comma stands, tells what separates fields: --delimiter , does, too'
refuses 'a comment' '1,2\n# x,3\n' "line 2, column 1: '# x' is not a number" "grep -v '^#' leaves lines that begin with # out"
refuses 'carriage returns alone' 'a,b\r1,2\r' 'line 1 has a carriage return inside' "lines that end in a carriage return alone: tr '\\r' '\\n' mends them"
error() { # NAME BYTES ERROR [OPTIONS...]
    name=$1 wanted="ValueError: t.csv: $3"
    printf -- "$2" >t.csv
    shift 3
    run -e _ "$@" t.csv
    is "$name" "$wanted" "$(last)"
}
error 'too large' '1,128\n' 'line 1, column 2: 128 does not fit torch.int8' --dtype int8
error 'too small' '-129\n' 'line 1, column 1: -129 does not fit torch.int8' --dtype int8
error 'negative' '-1\n' 'line 1, column 1: -1 does not fit torch.uint64' --dtype uint64
error 'past them all' '18446744073709551616\n' 'line 1, column 1: 18446744073709551616 does not fit torch.uint64' --dtype uint64
error 'compressed' '\3757zXZ\0\0' 'it is compressed: xz -dc takes that off'
error 'UTF-16' '\377\3761\0,\0' 'it is UTF-16: iconv -f UTF-16 takes that off'
run -e _ - <t.csv; is 'on standard input' 'ValueError: <stdin>: it is UTF-16: iconv -f UTF-16 takes that off' "$(last)"

json() { # NAME TEXT WANTED [OPTIONS...]
    name=$1 text=$2 wanted=$3
    shift 3
    printf "$text" >t.json
    run -e '_.tolist()' "$@" t.json
    is "$name" "$wanted" "$out$(last)"
}
json 'a byte order mark' '\357\273\277[1, 2]' '[1, 2]'
is 'on standard input, too' '[1]' "$(printf '\357\273\277[1]' | "$tsr" -e '_.tolist()')"
json 'whole floats as integers' '[1.0, 2e2]' '[1, 200]' --dtype int16
json 'none is cut off' '[1, 2.5]' 'ValueError: t.json: number 2, 2.5, is not an integer (torch.int64)' --dtype int64
json 'or wraps around' '[[1], [300]]' 'ValueError: t.json: number 2, 300, does not fit torch.uint8' --dtype uint8
json 'or is missing' '[null]' 'ValueError: t.json: number 1, nan, is not an integer (torch.int64)' --dtype int64

# whole numbers that float64 has not
printf '1,9007199254740993\n2,-9007199254740993\n' >t.csv; cp t.csv u.csv
run -o csv -e _ t.csv; is 'rounding is told' 'tsr: t.csv: line 1, column 2: float64 rounds this whole number; --dtype int64 keeps it' "$err"; is 'and no error' 0 "$status"
run --in-place -e '_ + 0' t.csv; is 'in place it is one' 'ValueError: t.csv: line 1, column 2: float64 rounds this whole number' "$(last)"
cmp -s t.csv u.csv && ok 'and the file stays' || fail 'and the file stays'
run --in-place --dtype int64 -e '_ + 0' t.csv; cmp -s t.csv u.csv && ok 'integers are kept' || fail 'integers are kept'
printf '9007199254740992,100000000000000000000000,0.12345678901234567890,1e300,18446744073709551614\n' >t.csv
run -e _.shape t.csv; is 'one that no dtype has' 'tsr: t.csv: line 1, column 2: float64 rounds this whole number' "$err"
printf '9007199254740992,0.12345678901234567890,1e300,18446744073709551614\n' >t.csv
run -e _.shape t.csv; is 'what is exact, or no integer' 'tsr: t.csv: line 1, column 4: float64 rounds this whole number' "$err"

rounded() { # NAME TEXT NOTE: what is said of a table without a header, and that what it tells to do works
    printf -- "$2" >t.csv
    run -e _.shape t.csv; is "$1" "tsr: t.csv: line 1, column 1: float64 rounds this whole number$3" "$err"
    [ -z "$3" ] || { run $(printf '%s' "$3" | grep -o -- '--dtype [a-z0-9]*') -e _.shape t.csv; is "$1: it works" "0 " "$status $err"; }
}
rounded 'beyond int64' '10000000000000000001,1\n' '; --dtype uint64 keeps it'
rounded 'at its end' '9223372036854775807,0\n' '; --dtype uint64 keeps it'
rounded 'beside a fraction' '9007199254740993,1.5\n' ''
rounded 'beside 1.0' '9007199254740993,1.0\n' ''
rounded 'beside an exponent' '9007199254740993,1e3\n' ''
rounded 'beside nothing' '9007199254740993,\n' ''
rounded 'negative, and beyond int64' '-9007199254740993,10000000000000000001\n' ''
rounded 'beyond 64 bits' '9007199254740993,18446744073709551616\n' ''

# JSON of anything
run -o json -e '[1, float("nan"), {"a": ones(2), 1: None, True: "é"}]'; is 'JSON has no nan' '[1, null, {"a": [1.0, 1.0], "1": "é"}]' "$out"
run -o json --json-nan error -e '[float("nan")]'; is 'nor is it written' 'ValueError: JSON has no number for nan' "$(last)"
run -o json --json-nan token -e '[-math.inf]'; is 'but when it is asked for' '[-Infinity]' "$out"
run -o json --precision 3 -e '[1 / 3, 1]'; is 'digits of floats' '[0.333, 1]' "$out"
run -o json -e '[1j]'; is 'what JSON lacks' 'TypeError: Object of type complex is not JSON serializable' "$(last)"
run -o j.json -e '{"a": "x"}'; is 'into a file' '{"a": "x"}' "$(cat j.json)"
run -o jsonl -e '[{"a": 1}, ones(2), "x"]'; is 'an item a line' '{"a": 1}
[1.0, 1.0]
"x"' "$out"
printf '1 2\n' >noname
run --in-place -I csv -e '_ * 2' noname; is 'in place by -I' '2 4' "$(cat noname)"
run --in-place -e 1 -; is 'not over standard input' 2 "$status"
cp noname n.csv; run --in-place -e '_ *= 2' n.csv; is 'no value to write' 'ValueError: n.csv is not written: the last statement has no value' "$(last)"
cmp -s noname n.csv && ok 'nothing is written' || fail 'nothing is written'
run -o x.npy -e None; is 'nor to -o FILE' 1 "$status"
run -o npy -e None; is 'standard output gets nothing' '0 ' "$status $out"
printf 'low,"a, b"\n1,2\n' >t.csv
run --columns high -e _ t.csv; is 'the columns there are' '    hint: its columns are low, a, b' "$(tail -n 2 "$work/err" | head -n 1)"
run -o npy -e '{"a": ones(2)}'; is 'a name is not dropped' 'ValueError: npy holds one tensor, without a name; npz holds a dict of them' "$(last)"
if [ -c /dev/full ]; then "$tsr" -o csv -e 'ones(2)' 2>err >/dev/full; is 'a full disk has a name' "OSError: [Errno 28] No space left on device: '<stdout>'" "$(cat err)"; fi
exit $bad
