# Tables of words, times and ids from and to files: what is written is what was read, by every format that has tables.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
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
run --columns city,city -e _.columns t.csv; is 'a column named twice' "['city', 'city.1']" "$out"
run -l t.csv; is '-l' "name  shape  dtype                 bytes  stored
city  [3]    int64, 3 words           24      24
n     [3]    float64                  24      24" "$(printf '%s' "$out" | sed -n 1,3p)"
run -e _ t.md; is 'markdown is not read' 1 "$status"
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
exit $bad
