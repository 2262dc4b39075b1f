# --in-place: what the program did not change stays byte for byte, or the file stays as it is and the reason is told.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
# edits NAME BEFORE AFTER FILE ARGS...: both texts as printf takes them
edits() {
    name=$1 file=$4
    printf -- "$2" >"$file"
    printf -- "$3" >wanted
    shift 4
    run --in-place "$@" "$file"
    if cmp -s "$file" wanted; then ok "$name"; else is "$name" "$(cat -A wanted)" "$(cat -A "$file") $err"; fi
}
# refuses NAME BEFORE ERROR FILE ARGS...: FILE stays as it is
refuses() {
    name=$1 wanted=$3 file=$4
    printf -- "$2" >"$file"
    cp "$file" before
    shift 4
    run --in-place "$@" "$file"
    is "$name" "$wanted" "$(last)"
    is "$name: the status" 1 "$status"
    cmp -s "$file" before && ok "$name: the file stays" || is "$name: the file stays" "$(cat -A before)" "$(cat -A "$file")"
}
messy='\357\273\277id,name,price,note\r\n007,"a ""b"", c",1.50,\r\n\r\n08, x ,2,"two\r\nlines"\r\n009,y,,z'
edits 'one column' "$messy" '\357\273\277id,name,price,note\r\n007,"a ""b"", c",3,\r\n\r\n08, x ,4,"two\r\nlines"\r\n009,y,,z' t.csv --columns price -e '_ * 2'
edits 'a vector for a column' "$messy" '\357\273\277id,name,price,note\r\n007,"a ""b"", c",2.5,\r\n\r\n08, x ,3,"two\r\nlines"\r\n009,y,,z' t.csv --columns price -e '_[:, 0] + 1'
edits 'nothing changed' "$messy" "$messy" t.csv --columns price,id -e _
edits 'an empty cell gets a number' "$messy" '\357\273\277id,name,price,note\r\n007,"a ""b"", c",1.50,\r\n\r\n08, x ,2,"two\r\nlines"\r\n009,y,0,z' t.csv --columns price -e 'nan_to_num(_)'
edits 'an empty cell before a carriage return' 'a,b\r\n1,\r\n' 'a,b\r\n1,5\r\n' t.csv -e 'where(_.isnan(), 5., _)'
edits 'and in quotes, and between blanks' 'a,b,c\n"",  ,3\n' 'a,b,c\n"5",5  ,3\n' t.csv -e 'where(_.isnan(), 5., _)'
edits 'columns in another order' 'a,b,c\n1,2,3\n4,5,6\n' 'a,b,c\n-1,2,30\n-4,5,60\n' t.csv --columns c,a -e '_ * tensor([10., -1.])'
edits 'cells in quotes' '"a","b"\n"1","2"\n' '"a","b"\n"1","3"\n' t.csv -e '_ + tensor([0., 1.])'
edits 'tabs, no final newline' 'x\ty\n1\t02' 'x\ty\n2\t02' t.tsv --columns x -e '_ + 1'
edits 'runs of spaces' '  x    y\n  01   2\n' '  x    y\n  01   4\n' t.txt --columns y -e '_ * 2'
edits 'semicolons' 'x;y\n1;2\n' 'x;y\n1;4\n' t.csv --columns y -e '_ * 2'
edits 'the program changes _ itself' 'a,b\n01,2\n' 'a,b\n01,20\n' t.csv -e '_[:, 1] *= 10; _'
edits 'integers' 'a,b\n9007199254740993,007\n' 'a,b\n9007199254740994,007\n' t.csv --dtype int64 -e '_ + tensor([1, 0])'
edits 'a long number in another column' 'id,x\n9007199254740993,1\n' 'id,x\n9007199254740993,2\n' t.csv --columns x -e '_ + 1'
edits 'nan by its word' 'a,b\n1,NA\n2,3\n' 'a,b\n1,NA\nNA,3\n' t.csv --na NA -e 'where(_ == 2, math.nan, _)'
edits 'a word of nan that needs quotes' 'a,b\n"1",2\n' 'a,b\n"n, a",2\n' t.csv --na '"n, a"' -e 'where(_ == 1, math.nan, _)'
edits 'digits of what is new' 'a\n0.12345\n1\n' 'a\n0.12345\n0.33\n' t.csv --precision 2 -e 'cat([_[:1], _[1:] / 3])'
edits 'minus zero is not zero' 'a\n0\n' 'a\n-0\n' t.csv -e '-_'
edits 'no header' '1,02\n' '2,02\n' t.csv --columns 0 -e '_ + 1'
edits 'JSON lines: one key' '{"id": 007e0, "price": 1.50, "s": "a"}\n' '{"id": 007e0, "price": 1.50, "s": "a"}\n' t.jsonl --columns price -e _
edits 'JSON lines: other keys stay' '{"price":1.50,"n":1e3}\r\n{ "n" : 2,"price":2 }' '{"price":3.0,"n":1e3}\r\n{ "n" : 2,"price":4.0 }' t.jsonl --columns price -e '{"price": _["price"] * 2}'
edits 'JSON lines: the only key as a tensor' '{"a": [1, 2], "s": "x"}\n' '{"a": [2, 3], "s": "x"}\n' t.jsonl --columns a -e '_["a"] + 1'
edits 'JSON arrays' '[ [1.50, 2],\n  [3, 4e0] ]' '[ [1.50, 2],\n  [3, 5.0] ]' t.json -e '_ + tensor([[0., 0.], [0., 1.]])'
edits 'JSON objects' '{"b":[1,2],"a":3.0}' '{"b":[1,3],"a":3.0}' t.json -e '{"a": _["a"], "b": _["b"] + tensor([0, 1])}'
edits 'nan in JSON' '[1.50, null]' '[null, null]' t.json -e 'full_like(_, math.nan)'
is 'which is told' 'tsr: t.json: null stands for 1 number that is nan or infinite; --json-nan, or json_nan=, says what else' "$err"
edits 'another form, of a file that loses nothing' 'a,b\n1,2\n3,4\n' 'a,b\n3,4\n' t.csv -e '_[1:]'
edits 'other columns' 'a,b\n1,2\n3,4\n' 'b\n2\n4\n' t.csv -e '_[:, 1:]'
edits 'a dict' 'a,b\n1,2\n3,4\n' 's\n3\n7\n' t.csv -e '{"s": _.sum(1)}'
edits 'without the header' 'a,b\n1,2\n' '1,2\n' t.csv --no-header -e _
edits 'JSON in another form' '[1, 2]\n' '[1]\n' t.json -e '_[:1]'
edits 'a list that was no tensor' '["a", [1, 2]]\n' '["b"]\n' t.json -e '["b"]'

anew='the value has another form than the file, so that all would be written anew, and line'
edits 'rows that are left stay as they stood' 'a,b\n3,4\n "007",+2\n' 'a,b\n "007",+2\n' t.csv -e '_[1:]'
edits 'line ends' 'a,b\r\n7,2\r\n' 'a,b\r\n' t.csv -e '_[1:]'
edits 'rows in another order' '\357\273\277"s",n\r\n"b",07\r\n a ,1e0\r\n' '\357\273\277"s",n\r\n a ,1e0\r\n"b",07\r\n' t.csv -e '_.sort_by("s")'
refuses 'blank lines' 'a,b\n\n007,2\n3,4\n' "ValueError: t.csv: $anew 2 would not stay as it is" t.csv -e '_[1:]'
refuses 'a row too few of some columns' 'a,b\n7,x\n8,y\n' 'ValueError: t.csv: --columns took a part of it, and the value has another form than that: the rest would be lost' t.csv --columns a -e '_[1:]'
refuses 'a number of some columns' 'a,b\n7,x\n8,y\n' 'ValueError: t.csv: --columns took a part of it, and the value has another form than that: the rest would be lost' t.csv --columns a -e '_.sum()'
refuses 'other keys than were taken' '{"a": 1, "s": "x"}\n' 'ValueError: t.jsonl: --columns took a part of it, and the value has another form than that: the rest would be lost' t.jsonl --columns a -e '{"b": _["a"]}'
refuses 'a header without a name for a column' 'a\n1\n' 'ValueError: t.csv: its header would be lost: the value has other columns' t.csv -e 'cat([_, _], 1)'
refuses 'a column that is not there' 'a,b\n1,2\n' "ValueError: t.csv: it has no column 'c' (2 columns)" t.csv --columns c -e _
refuses 'a column named twice' 'a,b\n1,2\n' "ValueError: t.csv: its column 'a' is named twice: only one of them could be written back" t.csv --columns a,a -e _
refuses 'JSON in another layout' '[1,2]' "ValueError: t.json: $anew 1 would not stay as it is" t.json -e '_[:1]'
refuses 'an error in the program' 'a\n1\n' 'ZeroDivisionError: division by zero' t.csv -e '1 / 0'
refuses 'nan that JSON is not to have' '[1.5]' 'ValueError: JSON has no number for nan' t.json --json-nan error -e '_ * math.nan'
refuses 'rounding in JSON' '[9007199254740993, 0.5]' 'ValueError: t.json: line 1, column 2: float64 rounds this whole number' t.json -e '_ + 1'

# tables: words, times and masked numbers
table='id;name; price ;when;n\r\n007;apple;1.50;2024-01-02;9007199254740993\r\n2;"b; ""p""";2.0;2024-01-03;\r\n03; "x"  ;;;12'
edits 'nothing of a table' "$table" "$table" t.csv -e _
edits 'words' "$table" 'id;name; price ;when;n\r\n007;APPLE;1.50;2024-01-02;9007199254740993\r\n2;"B; ""P""";2.0;2024-01-03;\r\n03; "X"  ;;;12' t.csv -e '_["name"] = [s.upper() for s in _["name"]]; _'
edits 'words that need quotes, or need none' "$table" 'id;name; price ;when;n\r\n007;"a;b";1.50;2024-01-02;9007199254740993\r\n2;"""";2.0;2024-01-03;\r\n03; "c d"  ;;;12' t.csv -e '_["name"] = ["a;b", chr(34), "c d"]; _'
edits 'a number beside words' "$table" 'id;name; price ;when;n\r\n007;apple;5;2024-01-02;9007199254740993\r\n2;"b; ""p""";2.0;2024-01-03;\r\n03; "x"  ;;;12' t.csv -e '_["price"][_["name"] == "apple"] = 5; _'
edits 'times' "$table" 'id;name; price ;when;n\r\n007;apple;1.50;2024-01-03;9007199254740993\r\n2;"b; ""p""";2.0;2024-01-04;\r\n03; "x"  ;;;12' t.csv -e '_["when"] = _["when"] + 1; _'
edits 'integers that float64 has not' "$table" 'id;name; price ;when;n\r\n007;apple;1.50;2024-01-02;9007199254740994\r\n2;"b; ""p""";2.0;2024-01-03;\r\n03; "x"  ;;;13' t.csv -e '_["n"] = _["n"] + 1; _'
edits 'a dict of columns' "$table" 'id;name; price ;when;n\r\n007;apple;3;2024-01-02;9007199254740993\r\n2;"b; ""p""";4;2024-01-03;\r\n03; "x"  ;;;12' t.csv -e '{**_, "price": _["price"] * 2}'
edits 'some columns of a table' "$table" 'id;name; price ;when;n\r\n007;y;1.50;2024-01-02;9007199254740993\r\n2;"y";2.0;2024-01-03;\r\n03; "y"  ;;;12' t.csv --columns n,name -e '_["name"] = ["y"] * 3; _'
edits 'a word for nothing' 'a,b\nx,1\n,2\n' 'a,b\nNA,1\n,2\n' t.csv --na NA -e '_["a"] = [None, ""]; _'
edits 'ids' 'a,b\n9007199254740993,01\n' 'a,b\n9007199254740994,01\n' t.csv -e '_["a"] += 1; _'
edits 'runs of blanks between words' 'a  b\nx   1\n' 'a  b\n"y z"   1\n' t.txt -e '_["a"] = ["y z"]; _'
edits 'JSON: words and escapes' '{"s":"x", "p": 1}\n{ "p": 2.50, "s": "\\u00e9"}\n' '{"s":"\\"y", "p": 1}\n{ "p": 2.50, "s": "\\u00e9"}\n' t.jsonl -e '_["s"] = [chr(34) + "y", "é"]; _'
edits 'JSON: numbers for null and back' '[{"s":"x", "p": 1},\n {"p" : null, "s":"y"}]' '[{"s":"x", "p": null},\n {"p" : 2.5, "s":"y"}]' t.json -e '_["p"] = [None, 2.5]; _'
edits 'JSON lines: words among the columns that were taken' '{"s":"x", "p": 1, "q": 1e0}\n{"s":"y", "p": null, "q": []}\n' '{"s":"z", "p": 1, "q": 1e0}\n{"s":"y", "p": null, "q": []}\n' t.jsonl --columns p,s -e '_["s"] = ["z", "y"]; _'
refuses 'a column less' 'a;b\nx;1\n' "ValueError: t.csv: $anew 1 would not stay as it is" t.csv -e '_.drop("b")'
edits 'a key that an object lacks' '{"s":"x","t":"y"}\n{"s":"y"}\n' '{"s":"x","t":"a"}\n{"s":"y","t":"b"}\n' t.jsonl -e '_["t"] = ["a", "b"]; _'
edits 'words beside numbers' '{"s":"x", "p": 1}\n{"p":2, "s":"y"}\n' '{"p":2, "s":"y"}\n' t.jsonl -e '_[1:]'
edits 'which works, by a null as well' '{"s":"x", "p": 1}\n{"s":"y", "p": null}\n' '{"s":"x", "p": 2.0}\n{"s":"y", "p": null}\n' t.jsonl --columns p -e '_["p"] * 2'
edits 'and an array with a null' '{"s":"x", "p": [1, null]}\n' '{"s":"x", "p": [2.0, null]}\n' t.jsonl --columns p -e '_["p"] * 2'

# names beside the tensors
run -o t.safetensors -e '{"a": ones(2), "b": zeros(1)}'
cp t.safetensors before
run --in-place -e '_["a"]' t.safetensors; is 'tensors with names' 'ValueError: t.safetensors: it holds tensors with names, and the value is none: they would be lost' "$(last)"
cmp -s t.safetensors before && ok 'they stay' || fail 'they stay'
run -e 'save({"a": ones(2)}, "t.safetensors", metadata={"made": "today"})'
run --in-place -e '{"a": _["a"] * 2}' t.safetensors
run -e 'load("t.safetensors", metadata=True)'; is 'texts beside tensors stay' "({'a': tensor([2., 2.])}, {'made': 'today'})" "$out"

# the file itself
printf 'a\n1\n' >t.csv; chmod 640 t.csv; ln -sf t.csv link.csv
run --in-place=.bak -e '_ + 1' link.csv
is 'a suffix keeps the old file' 'a
1' "$(cat t.csv.bak)"
is 'beside the new one' 'a
2' "$(cat t.csv)"
[ -L link.csv ] && ok 'a link stays one' || fail 'a link stays one'
is 'the mode stays' '-rw-r-----' "$(ls -l t.csv | cut -c 1-10)"
run --in-place=.bak -e '_ + 1' t.csv; is 'the one before is replaced' 'a
2' "$(cat t.csv.bak)"
run --in-place=.bak -e 'None' t.csv; is 'not by an error' 'a
2' "$(cat t.csv.bak)"
is 'nothing is left over' '' "$(ls | grep '\.tmp$')"
for suffix in '' a/b 'x*'; do run --in-place="$suffix" -e _ t.csv; is "the suffix '$suffix'" 2 "$status"; done
mkfifo pipe.csv; (printf '1\n' >pipe.csv &); run --in-place -e _ pipe.csv; is 'a pipe' 'ValueError: pipe.csv: only a regular file can be changed in place' "$(last)"
run --sandbox --in-place -e '_ + 1' t.csv; is 'the sandbox' 'PermissionError: t.csv: no file may be written in the sandbox' "$(last)"
awk 'BEGIN { for (i = 0; i < 20000; i++) print i ",0" i }' >long.csv
run --in-place --columns 0 -e '_ * 2' long.csv
is 'many lines' "$(awk 'BEGIN { for (i = 0; i < 20000; i++) print 2 * i ",0" i }' | cksum)" "$(cksum <long.csv)"
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "%s0%d", i ? "," : "", i; print "" }' >wide.csv
run --in-place --columns 29999 -e '_ * 2' wide.csv
is 'a long line' "$(awk 'BEGIN { for (i = 0; i < 29999; i++) printf "%s0%d", i ? "," : "", i; print ",59998" }' | cksum)" "$(cksum <wide.csv)"
exit $bad
