# Tables of words, times and ids from and to files: what is written is what was read, by every format that has tables.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
printf 'a,a,b\n1,2,3\n4,5,6\n' >twice.csv
run -e '_.columns if hasattr(_, "columns") else columns(_), _["a.1"].tolist()' twice.csv; is 'a tensor, too, has no name twice' "(['a', 'a.1', 'b'], [2.0, 5.0])" "$out"
run -o csv -e '_["a.1"] = _["b"] * 10; _[["a", "b"]] = 0; _' twice.csv; is 'columns of a tensor, written by name' 'a,a,b
0,30,0
0,60,0' "$out"
run -e '_["c"] = _["a"]' twice.csv; is 'but none is added' "$(printf '    _["c"] = _["a"]\n    ^^^^^^\n    hint: a tensor takes no further columns: {**table(t), "name": values} has one more\nKeyError: '"'c'"'')" "$(printf '%s\n%s' "$out" "$err" | sed '/^$/d')"
printf 'city,n,day,id\nRome,1,2024-01-02,9007199254740993\n"a, ""b""",2.5,2024-01-03,18446744073709551615\n,,,\n' >t.csv
run -o csv -e _ t.csv; is 'csv, as it was' "$(cat t.csv)" "$out"
is 'tsv and back' "$(cat t.csv)" "$("$tsr" -o tsv -e _ t.csv | "$tsr" -I tsv -o csv -e _)"
run -o json -e '_[:2]' t.csv; is 'json' '[{"city": "Rome", "n": 1, "day": "2024-01-02", "id": 9007199254740993},
 {"city": "a, \"b\"", "n": 2.5, "day": "2024-01-03", "id": 18446744073709551615}]' "$out"
run -o jsonl -e '_[2:]' t.csv; is 'json lines' '{"city": "", "n": null, "day": null, "id": null}' "$out"
run -o markdown -e '_[["city", "n"]]' t.csv; is 'markdown' '| city | n |
| --- | ---: |
| Rome | 1 |
| a, "b" | 2.5 |
|  |  |' "$out"
run -o markdown -e '{"a|b": arange(2)}'; is 'of any dict' '| a\|b |
| ---: |
| 0 |
| 1 |' "$out"
run --na NA -o csv -e _ t.csv; is '--na' ',NA,NA,NA' "$(printf '%s' "$out" | tail -n 1)"
run --json -e '_[["city", "n"]][:1]' t.csv; is '--json' '[{"city": "Rome", "n": 1.0}]' "$out"
run --no-header -o tsv -e '_[["n", "city"]][:1]' t.csv; is '--no-header' '1	Rome' "$out"
run -e 'save(_[["n"]][:1], "-", format="csv", header=["m"])' t.csv; is 'header=' 'm
1' "$out"
run -o x.npz -e '_[["n"]]' t.csv; run -e '_["n"]' x.npz; is 'columns of numbers are tensors to other formats' 'tensor([1.0000, 2.5000,    nan], dtype=torch.float64)' "$out"
run -o x.npz -e _ t.csv; is 'columns of words are none' 1 "$status"
run --text n,1 -e '_["n"].words' t.csv; is '--text' "['1', '2.5', '']" "$out"
run --text nope -e _ t.csv; is 'a column that is not there' "ValueError: t.csv: it has no column 'nope' (4 columns)" "$(last)"
printf 'Rome 1\nOslo 2\n' | "$tsr" --header no -e '_["0"].words' >out; is 'without a header' "['Rome', 'Oslo']" "$(cat out)"
printf 'city,shop\nRome,"a, b"\n' | "$tsr" -e '_["shop"].words' >out; is 'words alone are told by their commas' "['a, b']" "$(cat out)"
printf 'city\tshop\nRo, me\tb\n' | "$tsr" -e '_["city"].words' >out; is 'or by tabs' "['Ro, me']" "$(cat out)"
for text in 'one, two\nthree\n' 'one, two\n' 'one two\nthree four\n' 'a,b,c\nd,e\n'; do
    printf "$text" | "$tsr" -e _ >out 2>&1; is "but not $text" 'tsr: <stdin>: neither its name nor its first bytes tell its format' "$(head -1 out)"
done
bare() { printf 'a,1\nb,2\n' | "$tsr" -I csv --header no -o csv "$@" 2>&1; }
is 'no header, none written' 'a,1
b,2' "$(bare -e _)"
is 'nor above rows and columns of it' '2,b
1,a' "$(bare -e '_[::-1][["1", "0"]]')"
is 'but where a column is new' '0,1,n
a,1,2
b,2,4' "$(bare -e '{**_, "n": _["1"] * 2}')"
is 'or has another name' '1,0
a,1
b,2' "$(bare -e '_.rename({"0": "1", "1": "0"})')"
is 'a header of numbers is one' '0,1
a,2' "$(printf '0,1\na,2\n' | "$tsr" -I csv --header yes -o csv -e _)"
run --columns city,city -e _.columns t.csv; is 'a column named twice' "['city', 'city.1']" "$out"
run -l t.csv; is '-l' "name  shape  dtype                 bytes  stored
city  [3]    int64, 3 words           24      24
n     [3]    float64                  24      24" "$(printf '%s' "$out" | sed -n 1,3p)"
run -e _ t.md; is 'markdown is not read' 1 "$status"
run -o csv -e '[{"n": r["n"], "c": r["city"]} for r in _.rows()][:2]' t.csv; is 'a list of rows' 'n,c
1,Rome
2.5,"a, ""b"""' "$out"
# digits behind the point
printf 'city,price,n\nRome,2.50,1\nOslo,10.00,\nRome,-0.05,3\n' >p.csv
run -o csv -e _ p.csv; is 'prices keep their digits' "$(cat p.csv)" "$out"
run -o csv -e '_[_["city"] == "Rome"]' p.csv; is 'in some rows' "$(grep -v Oslo p.csv)" "$out"
run -o csv -e '_.sort_by("price")[["price"]]' p.csv; is 'sorted' 'price
-0.05
2.50
10.00' "$out"
run -o csv -e '_["twice"] = _["price"] * 2; _[:2]' p.csv; is 'but what is computed has none to keep' 'city,price,n,twice
Rome,2.50,1,5
Oslo,10.00,,20' "$out"
run -o csv -e '_["price"] *= 1.001; _["price"][:1]' p.csv; is 'nor is any left out' 'price
2.5024999999999995' "$out"
run -o csv --precision 2 -e '_[["price"]][1:]' p.csv; is '--precision comes first' 'price
10
-0.05' "$out"
run -o json -e '_[["price"]][:1]' p.csv; is 'nor in JSON' '[{"price": 2.50}]' "$out"
printf 'a,b\n1.50,2\n3.00,4\n' >m.csv
run -o csv -e _ m.csv; is 'of a table of numbers' "$(cat m.csv)" "$out"
run -o csv -e '_[_[:, 0] > 2]' m.csv; is 'rows of it' 'a,b
3.00,4' "$out"
run -o csv -e '_[:, [1, 0]]' m.csv; is 'columns of it' 'b,a
2,1.50
4,3.00' "$out"
run -o tsv -e '{"a": _["a"]}' m.csv; is 'one of them' 'a
1.50
3.00' "$out"
run -o csv -e '_ + 0' m.csv; is 'not of a sum' 'a,b
1.5,2
3,4' "$out"
printf '1.50\n2.5\n' >u.csv
run -o csv -e _ u.csv; is 'of no one style' '1.50
2.5' "$out"
# ids in a table of numbers
printf 'id,n\n9007199254740993,1\n,2.5\n18446744073709551615,\n' >ids.csv
run -o csv -e _ ids.csv; is 'ids among numbers' "$(cat ids.csv)" "$out$err"
run -e '_["id"].tolist(), _["n"].dtype' ids.csv; is 'are integers' '([9007199254740993, None, 18446744073709551615], torch.float64)' "$out"
run -I csv -e '_["id"].max(), _["n"].nansum()' - <ids.csv; is 'in a stream, too' '(18446744073709551615, tensor(3.5000, dtype=torch.float64))' "$out"
run --dtype float64 -e '_.shape' ids.csv; is 'unless a dtype is asked for' 'torch.Size([3, 2])' "$out"
# objects of JSON that have not all keys
printf '{"a": 1, "b": "x"}\n{"b": "y", "c": true}\n{"a": 3, "t": "2024-01-02"}\n' >some.jsonl
run -e '_' some.jsonl; is 'keys that are not always there' 'a  b     c  t
1  x
   y  True
3           2024-01-02' "$(printf '%s\n' "$out" | sed 's/ *$//')"
run -e '_["a"].sum(), _["a"].missing, len(_)' some.jsonl; is 'their columns' '(tensor(4), tensor([False,  True, False]), 3)' "$out"
is 'and in a list' "$("$tsr" -e _ some.jsonl)" "$(sed '$!s/$/,/; 1s/^/[/; $s/$/]/' some.jsonl | "$tsr" -I json -e _)"
printf '{"u": {"n": "x"}, "tags": ["a"]}\n{"u": {"n": "y"}}\n' >deep.jsonl
run -e '[r["u"]["n"] for r in _]' deep.jsonl; is 'what is no table is a list' "['x', 'y']" "$out"
is 'texts alone, too' "['a', 'b']" "$(printf '"a"\n"b"\n' | "$tsr" -I jsonl -e _)"
printf '{"u": {"n": "x"}}\n{"u": \n' >cut.jsonl
run -e _ cut.jsonl; is 'a line that is cut' 'ValueError: cut.jsonl: line 3, column 1: a number or an array was expected' "$(last)"
"$tsr" -e 'for i in range(3000): print("{\"k" + str(i) + "\": 1, \"s\": \"x\"}")' >wide.jsonl
run -e 'type(_), len(_)' wide.jsonl; is 'each with keys of its own' "(<class 'list'>, 3000)" "$out"
# what README shows
printf 'city,shop,qty,price,day\nRome,a,2,4.5,2024-01-02\nOslo,b,1,3,2024-01-03\n' >shops.csv
run -e '_["price"].mean().item()' shops.csv; is 'README: a mean' 3.75 "$out"
run -o csv -e '_.by("city", "shop")["qty"].sum()' shops.csv; is 'README: groups' 'city,shop,qty
Oslo,b,1
Rome,a,2' "$out"
run -o csv -e '_[_["city"] == "Rome"].sort_by("day")' shops.csv; is 'README: rows' "$(head -n 2 shops.csv)" "$out"
run -o jsonl -e '_[["city", "price"]]' shops.csv; is 'README: columns' '{"city": "Rome", "price": 4.5}
{"city": "Oslo", "price": 3}' "$out"
# many blocks, with words that begin in later ones, against awk
awk 'BEGIN { print "k,v"; for (i = 0; i < 200000; i++) printf "w%d,%d\n", i * 7919 % 1009 + (i > 150000) * 5000, i % 13 }' >big.csv
run --threads 2 -o csv -e '_.by("k").sum()' big.csv
awk -F, 'NR > 1 { s[$1] += $2 } END { for (k in s) print k "," s[k] }' big.csv | LC_ALL=C sort >wanted
printf '%s\n' "$out" | tail -n +2 >got
cmp -s wanted got && ok 'groups of many blocks' || fail 'groups of many blocks'
run --threads 1 -o csv -e _ big.csv; printf '%s\n' "$out" | cmp -s - big.csv && ok 'words of many blocks' || fail 'words of many blocks'
run -o csv -e '_.sort_by("k")["k"].unique().tolist() == sorted(set(_["k"].tolist()))' big.csv
# a list without numbers may have been one of anything
printf '{"a": [], "b": [1], "c": {"d": [[]]}}' >"$work/e.json"
run -e _ "$work/e.json"; is 'an empty list inside' "{'a': [], 'b': tensor([1]), 'c': {'d': [[]]}}" "$out"
run --dtype float32 -e '_["a"]' "$work/e.json"; is 'of a dtype' 'tensor([])' "$out"
is 'alone' 'tensor([], dtype=torch.float64)' "$(echo '[]' | "$tsr" -I json -e _)"
# a matrix of numbers under a header is objects in JSON, as miller makes of it
printf 'a,b\n1.50,2\n3,\n' >"$work/n.csv"
run -o jsonl -e _ "$work/n.csv"; is 'a matrix with names as JSON lines' '{"a": 1.50, "b": 2}
{"a": 3, "b": null}' "$out"
run -o json -e '_[:1] * 2' "$work/n.csv"; is 'what is computed of it, as JSON' '[{"a": 3, "b": 4}]' "$out"
run -o json -e '_[:, [1]]' "$work/n.csv"; is 'a column of it' '[{"b": 2},
 {"b": null}]' "$out"
run -o jsonl --no-header -e '_[:1]' "$work/n.csv"; is 'without its names' '[1.5, 2.0]' "$out"
run -o json -e '_[0]' "$work/n.csv"; is 'a row of it is numbers' '[1.5, 2.0]' "$out"
is 'a matrix without names' '[1.0, 2.0]' "$(printf '1,2\n' | "$tsr" -I csv -o jsonl -e _)"
run -e 'save(ones(1, 2), "-", format="json", header=["x", "y"])'; is 'save() with names' '[{"x": 1, "y": 1}]' "$out"
run -e 'save(ones(1, 2), "-", format="json", header=["x"])'; is 'too few of them' 'ValueError: the header has 1 names, the tensor 2 columns' "$(last)"
printf 'id,x,id,id.1\n12345678901234567890,+3,007,.5\n98765432109876543210123,1e5,-0,8\n' >"$work/d.csv"
run -o jsonl -e _ "$work/d.csv"; is 'names there twice, and digits that no float has' '{"id": 12345678901234567890, "x": 3, "id.1": 7, "id.1.1": 0.5}
{"id": 98765432109876543210123, "x": 1e5, "id.1": -0, "id.1.1": 8}' "$out"
printf 'pr\351nom,n\nx,1\n' >"$work/p.csv"
run -o csv -e _ "$work/p.csv"; is 'a name that is no UTF-8 goes out as it came' "$(cat "$work/p.csv")" "$out"
printf 'name,n\ncaf\351,1\n' >"$work/l.csv"
run -o jsonl -e _ "$work/l.csv"; is 'bytes that are no UTF-8' "$(printf '{"name": "caf\357\277\275", "n": 1}')" "$out"
is 'and the note about them' 'tsr: <stdout>: U+FFFD stands for 1 byte that is no UTF-8; text in Latin-1 needs `iconv -f latin1 -t utf8` first' "$err"
# blanks below a name alone, where words stand between them, separate no columns
one() { printf "$1" | "$tsr" -I csv -e '_["name"].tolist()'; }
is 'one column with blanks' "['Ada', 'John Smith']" "$(one 'name\nAda\nJohn Smith\n')"
is 'dates and times' "['2024-01-02 03:04:05', '2024-01-02 03:04:06']" "$(one 'name\n2024-01-02 03:04:05\n2024-01-02 03:04:06\n')"
is 'numbers are columns' 'ValueError: <stdin>: line 2 has 2 fields, the first row has 1' "$(printf 'x\n1 2\n' | "$tsr" -I csv -e _ 2>&1 | tail -1)"
is 'written, it comes back' "['John Smith', 'x,y']" "$(printf 'name\nJohn Smith\n"x,y"\n' | "$tsr" -I csv -o csv -e _ | "$tsr" -I csv -e '_["name"].tolist()')"
# what is no table says where
rows() { printf "$1" | "$tsr" -I jsonl -o csv -e _ 2>&1 | tail -1; }
is 'a number and a text' "ValueError: a column holds numbers or texts: 'a' is 1 in row 0 and 'x' in row 2" "$(rows '{"a": 1}\n{"a": null}\n{"a": "x"}\n')"
is 'a list' "ValueError: a column holds numbers or texts: 'b' is of type list in row 1" "$(rows '{"b": 1}\n{"b": ["c"]}\n')"
is 'an object is columns of its own' ',2' "$(rows '{"b": 1}\n{"b": {"c": 2}}\n')"
# columns without names, as spreadsheets leave them: .1 would be a number, and the names a row
printf 'a,b,,,\n1,x,,,\n2,y,,5,\n' >"$work/s.csv"
run -e 'list(_)' "$work/s.csv"; is 'columns without names' "['a', 'b', '', '_1', '_2']" "$out"
run -o csv -e _ "$work/s.csv"; is 'go out as they came' "$(cat "$work/s.csv")" "$out"
is 'and come back from tabs' "['a', 'b', '', '_1', '_2']" "$("$tsr" -o tsv -e _ "$work/s.csv" | "$tsr" -I tsv -e 'list(_)')"
# a first line that tells the delimiter, as spreadsheets write it
printf 'sep=;\r\na;b\r\n1;x\r\n2;y\r\n' >"$work/x.csv"
run -o jsonl -e _ "$work/x.csv"; is 'sep=;' '{"a": 1, "b": "x"}
{"a": 2, "b": "y"}' "$out"
run --in-place -e '_["a"] *= 2; _' "$work/x.csv"; is 'it stays in place' 'sep=;^M$ a;b^M$ 2;x^M$ 4;y^M$' "$(cat -A "$work/x.csv" | xargs -d '\n')"
is 'of numbers' '[[1.0, 2.0]]' "$(printf 'sep=|\n1|2\n' | "$tsr" -I csv -e '_.tolist()')"
is 'a column of that name' "['sep=', 'a']" "$(printf 'sep=,a\n1,x\n' | "$tsr" -I csv -e 'list(_)')"
# zeros before a number, which postal codes have
printf 'zip,n\n01234,1\n01234,2\n' >"$work/z.csv"
run -o csv -e '_.by("zip")["n"].sum()' "$work/z.csv"; is 'zeros that a number does not keep' "tsr: $work/z.csv: line 2, column 1: '01234' is read as a number; --text zip reads words" "$err"
run --text zip -o csv -e '_.by("zip")["n"].sum()' "$work/z.csv"; is 'words keep them' 'zip,n 01234,3 ' "$(echo $out) $err"
run --columns n -e '_.sum()' "$work/z.csv"; is 'a column that is not read' '' "$err"
run --dtype int64 -e '_.sum()' "$work/z.csv"; is 'where numbers are asked for' '' "$err"
# columns of numbers by the names that are made where two are equal or nothing stands
printf 'a,a,a.1,,,_1,b\\c,a\n1,2,3,4,5,6,7,8\n' >"$work/odd.csv"
run -e '[_[k].item() for k in columns(_)], columns(_)' "$work/odd.csv"
is 'each column by its name' "([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], ['a', 'a.1', 'a.1.1', '', '_1', '_1.1', 'b\\\\c', 'a.2'])" "$out"
run -e '_["a\0b"]' "$work/odd.csv"; is 'a name that goes on behind a NUL' "KeyError: 'a\\x00b'" "$(last)"
# numbers with a decimal comma
printf 'name;price;n\r\n"a;b";1.234,50;1.000\r\nv1,2;-0,5e1;7\r\n31.12.2024;;"+,25"\r\n' >"$work/comma.csv"
run --decimal , -o jsonl -e _ "$work/comma.csv"; is 'a decimal comma' '{"name": "a;b", "price": 1234.50, "n": 1000}
{"name": "v1,2", "price": -0.5e1, "n": 7}
{"name": "31.12.2024", "price": null, "n": 0.25}' "$out"
run --decimal , -o csv -e '_["twice"] = _["price"] * 2; _' "$work/comma.csv"; is 'it is written as a point' 'name,price,n,twice
a;b,1234.50,1000,2469
"v1,2",-0.5e1,7,-10
31.12.2024,,+.25,' "$(echo "$out" | tr -d '\r')"
is 'columns without names' '[[1.5, 2.5], [3.0, 4.0]]' "$(printf '1,5;2,5\n3;4\n' | "$tsr" -I csv --decimal , -e '_.tolist()')"
is 'one column' '[[1.5], [2.5]]' "$(printf '1,5\n2,5\n' | "$tsr" -I csv --decimal , -e '_.tolist()')"
is 'between blanks, behind a byte order mark' '[[1.5, -2.5]]' "$(printf '\357\273\2771,5  -2,5\n' | "$tsr" -I csv --decimal , -e '_.tolist()')"
is 'in quotes between commas' '[[1.5, 2000.75]]' "$(printf 'n,m\n"1,5","2.000,75"\n' | "$tsr" -I csv --decimal , -e '_.tolist()')"
is 'a delimiter that is told' '[[1.5, 2.5]]' "$(printf 'sep=|\n1,5|2,5\n' | "$tsr" -I csv --decimal , -e '_.tolist()')"
is 'lines within quotes' "['x\\n1,5']" "$(printf 'a;b\n"x\n1,5";2,5\n' | "$tsr" -I csv --decimal , -e '_["a"].tolist()')"
is 'in pieces no more' '1.5' "$(printf 'a;b\n1,5;x\n' | "$tsr" -I csv --decimal , -e '_["a"].sum().item()')"
is 'of a text' '[[1.5, 2.0]]' "$("$tsr" -e 'loads("a;b\n1,5;2\n", "csv", decimal=",").tolist()')"
run -e 'loads("a;b\n1,5;2.50\n", "csv", decimal=",")'; is 'a point that separates no thousands' "ValueError: <text>: line 2: '2.50' has a point, and numbers have a decimal comma" "$(last)"
run -e 'loads("a\n1\n", "csv", decimal=";")'; is 'another mark' "ValueError: load(): decimal is ',' or '.', not ';'" "$(last)"
run -I csv --decimal , -e _ <<'END'
a;b
1,234,567;2
END
is 'no decimal commas that it could read' "    hint: --text, or load(path, text='a,c'), names columns that are words; --columns takes some" "$(grep hint "$work/err")"
run --in-place --decimal , -e _ "$work/comma.csv"; is 'not in place' 2 "$status"
exit $bad
