# Cells that nobody changed are written byte for byte: by rows, columns and new columns of csv, tsv and JSON lines.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
same() { # NAME WANTED-FILE ARGS...
    name=$1 wanted=$2
    shift 2
    "$tsr" "$@" >out 2>err
    if cmp -s out "$wanted"; then ok "$name"; else is "$name" "$(cat -A "$wanted")" "$(cat -A out err)"; fi
}

# spellings of all kinds: `rows PATTERN` is the header and the lines that fit
cat >odd.csv <<'END_OF_TABLE'
"city", day ,"price",qty,code,ok,note
Rome,2024-01-31,2.50,3,007,TRUE,"x"
Oslo,2024-02-01,+3.25,1e1,012,false,"say ""hi"""
"Ho, Chi",2024-01-02,1.,7,1e5,True,
"Rome" , 2024-03-05,4.0,"1",+3,true, sp 
Bonn,2024-03-05,.75,,0010,false,"two
lines"
END_OF_TABLE
rows() { sed ':a;$!{N;ba};s/two\n/two\x01/' odd.csv | sed -n "1p;$1" | tr '\001' '\n' >wanted; }
same 'all of it' odd.csv -o csv -e _ odd.csv
same 'from standard input' odd.csv -o csv -e _ <odd.csv
cat odd.csv | same 'from a pipe' odd.csv -o csv -e _
gzip -k odd.csv
same 'what is packed' odd.csv -o csv -e _ odd.csv.gz
rows '5p;6p'; same 'a slice' wanted -o csv -e '_[3:]' odd.csv
rows '3p;5p'; same 'a mask' wanted -o csv -e '_[_["price"] > 3]' odd.csv
rows '2p;4p;6p'; same 'every second' wanted -o csv -e '_[::2]' odd.csv
rows '3p'; same 'a selection of a selection' wanted -o csv -e '_[_["qty"] > 2][[1, 0]].sort_by("code")[1:]' odd.csv
{ rows 6p; cat wanted; rows 4p; tail -n +2 wanted; rows 2p; tail -n +2 wanted; rows 3p; tail -n +2 wanted; rows 5p; tail -n +2 wanted; } >sorted
same 'sorted' sorted -o csv -e '_.sort_by("price")' odd.csv
printf '"price",code,twice\n2.50,007,5\n+3.25,012,6.5\n1.,1e5,2\n' >wanted
same 'columns and a new one' wanted -o csv -e '_["twice"] = _["price"] * 2; _[["price", "code", "twice"]][:3]' odd.csv
printf '"price",code\n9,007\n+3.25,012\n' >wanted
same 'a cell that was written to' wanted -o csv -e '_["price"][0] = 9; _[["price", "code"]][:2]' odd.csv
printf 'p\tcode\n2.50\t007\n+3.25\t012\n' >wanted
same 'between other delimiters the digits' wanted -o tsv -e '_.rename({"price": "p"})[["p", "code"]][:2]' odd.csv
printf '"price",code\n2.5,7\n3.2,12\n' >wanted
same '--precision is asked for' wanted -o csv --precision 2 -e '_[["price", "code"]][:2]' odd.csv
sed 's/$/\r/; 1s/^/\xef\xbb\xbf/' odd.csv | sed 's/two\r/two/' >dos.csv
same 'a mark and line ends' dos.csv -o csv -e _ dos.csv
{ head -n 1 dos.csv; sed -n 4p dos.csv; } >wanted; same 'of some rows' wanted -o csv -e '_[2:3]' dos.csv

printf 'a,"a",a\nx,1,2\n' >twice.csv
same 'names that are there twice' twice.csv -o csv -e _ twice.csv

# numbers alone are a tensor
printf ' a,"b"\n1.50,007\n,+2\n3e0,4\n' >n.csv
same 'numbers' n.csv -o csv -e _ n.csv
printf ' a,"b"\n3e0,4\n1.50,007\n' >wanted
same 'rows of them' wanted -o csv -e '_[[2, 0]]' n.csv
same 'and by a mask' wanted -o csv -e '_[[1, 2, 0]][_[[1, 2, 0]][:, 1] > 3]' n.csv
printf '"b", a\n007,1.50\n+2,\n4,3e0\n' >wanted
same 'columns in another order' wanted -o csv -e '_[:, [1, 0]]' n.csv
"$tsr" -o csv -e '_ * 1' n.csv >out; is 'what was computed is written anew' '1.5,7' "$(sed -n 2p out)"
"$tsr" -o csv -e '{"x": _["b"], "y": _["a"]}' n.csv >out; is 'in a dict' 'x,y
007,1.50
+2,
4,3e0' "$(cat out)"
printf 'a\tb\tc\n\t\t1\n2\t3\t4\n' >t.tsv
same 'cells with nothing between tabs' t.tsv -o tsv -e _ t.tsv
"$tsr" -o tsv -e '_[["a", "b"]]' t.tsv >out; is 'but no line of tabs alone, which would be passed over' '""	' "$(sed -n 2p out)"
is 'and it is read back' "$("$tsr" -e '_[["a", "b"]]' t.tsv)" "$("$tsr" -I tsv -e _ out)"

# JSON lines and lists
cat >x.jsonl <<'END_OF_LINES'
{"ts":"2024-01-02T03:04:05Z","user":"ann","ms":12.50,"ok":true}
{"ms":7, "user":"b\u00f6b" ,"ts":"2024-01-02T03:04:06Z","ok":false}
{"ts":"2024-01-03T03:04:07Z","user":"ann","ms":1e2,"ok":true,"note":null}
{"ts":"2024-01-03T03:04:08Z","user":"a\/b","ms":-0.0,"ok":true,"note":"caf\u00e9"}
END_OF_LINES
same 'lines' x.jsonl -o jsonl -e _ x.jsonl
{ sed -n 3p x.jsonl; sed -n 1p x.jsonl; } >wanted; same 'some, in another order' wanted -o jsonl -e '_[_["ms"] > 10].sort_by("ms", descending=True)' x.jsonl
sed -n '1p;3p' x.jsonl | sed 's/}$/,"half":6.25}/; 2s/6.25/50/' >wanted
same 'with a new key' wanted -o jsonl -e '_["half"] = _["ms"] / 2; _[_["ms"] > 10]' x.jsonl
printf '{"user":"ann","ms":12.50}\n{"user":"b\\u00f6b","ms":7}\n' >wanted
same 'some keys' wanted -o jsonl -e '_[["user", "ms"]][:2]' x.jsonl
same 'or read alone' wanted --columns user,ms -o jsonl -e '_[:2]' x.jsonl
printf '{"a": 1.0, "b": 1e1}\r\n{"a": 2.50, "b": 3}\r\n' >n.jsonl
same 'numbers alone, and line ends' n.jsonl -o jsonl -e _ n.jsonl
printf '[{"a": 2.50, "b": "x"}]\n' >wanted
printf '[ {"a": 1, "b": "y"},\n{"a": 2.50, "b": "x"} ]' >l.json
same 'of a list' wanted -o json -e '_[_["a"] > 1]' l.json
printf 'ts,ms\n2024-01-02T03:04:05Z,12.50\n2024-01-02T03:04:06Z,7\n2024-01-03T03:04:07Z,1e2\n2024-01-03T03:04:08Z,-0.0\n' >wanted
same 'as csv the digits' wanted -o csv -e '_[["ts", "ms"]]' x.jsonl

# many rows, in threads; another program sorts the same lines
"$tsr" -e 'import random
random.seed(3)
for i in range(70000):
    k = random.randrange(10**9)
    print(random.choice(["", "+", "0", "00"]) + str(k), f"\"w{k % 97}\"" if k % 3 else f" w{k % 97} ", f"{k % 1000 / 8:.3f}", sep=",")' >body
{ echo 'k,w,x'; cat body; } >big.csv
{ echo 'k,w,x'; sed 's/^+*0*//' body | paste -d'|' - body | sort -t, -s -n -k1,1 | sed 's/^[^|]*|//'; } >wanted
same '70,000 rows, sorted' wanted -o csv -e '_.sort_by("k")' big.csv
cut -d, -f1,3 big.csv >numbers.csv
cut -d, -f1,3 wanted >wanted2
same 'of numbers, by an index' wanted2 -o csv -e '_[_[:, 0].argsort(stable=True)]' numbers.csv
same 'in pieces' big.csv -e 'save(next(iter(stream("big.csv", rows=70000))), "-", format="csv")'
"$tsr" -e 'for c in stream("big.csv", rows=1000): save(c, "-", format="csv")' | grep -v '^k,w,x$' | cmp -s - body && ok 'piece by piece' || fail 'piece by piece'

# the text may be gone, or another: the values are written then
cat >p.tsr <<'END_OF_PROGRAM'
t = load("copy.csv")
open("copy.csv", "w").write("k,w,x\n")
save(t[:3], "out.csv")
END_OF_PROGRAM
cp big.csv copy.csv
run p.tsr; is 'a file that became shorter' 0 "$status"
is 'is written from its values' "$("$tsr" -e '_[:3]' big.csv)" "$("$tsr" -e _ out.csv)"
cp odd.csv copy.csv
cat >p.tsr <<'END_OF_PROGRAM'
t = load("copy.csv")
f = open("copy.csv", "r+b"); f.seek(54); f.write(b"9.99"); f.close()
save(t[["price", "qty"]][:1], "-", format="csv")
END_OF_PROGRAM
run p.tsr; is 'a file that was written to says nothing of the old values' '"price",qty
2.5,3' "$out"
exit $bad
