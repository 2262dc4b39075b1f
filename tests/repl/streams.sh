# A table that comes through a pipe, in pieces: the same answers as of the file, in memory that does not grow; what can't be answered so is read as a whole.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
awk 'BEGIN { print "city,day,price,qty,opt";
    city[0] = "Rome"; city[1] = "Oslo"; city[2] = "\"Ho, Chi\""; city[3] = "\"a \"\"b\"\"\""
    for (i = 0; i < 640000; i++)
        printf "%s,2024-0%d-1%d,%d.%03d,%d,%s\n", city[i * 7 % 4], i % 9 + 1, i % 10, i * 31 % 100, i * 17 % 1000, i % 51, i % 10 ? i % 6 : "" }' >big.csv
# pieces NAME CODE: the answers of the file and of the pipe are the same bytes
pieces() {
    wanted=$("$tsr" -e "$2" big.csv 2>&1)
    is "$1" "$wanted" "$(cat big.csv | timeout 60 "$tsr" --max-memory 300M -e "$2" 2>&1)"
}
is 'longer than what is read ahead' 1 "$(($(wc -c <big.csv) > 17000000))"
pieces 'counts' 'len(_), _["qty"].sum(), (_["qty"] > 25).any(), (_["qty"] > 3).all(), _["qty"].count_nonzero()'
pieces 'whole sums and means' '_["qty"].mean(), _["qty"].double().std(), _["price"].double().mean()'
pieces 'ends' '_["price"].min(), _["price"].max(), _["price"].argmax(), _["qty"].argmin(), _["day"].min(), _["city"].max()'
pieces 'arithmetic of columns' '(_["qty"] * 2 + 1).sum() / len(_)'
pieces 'rows that a mask picks' '_[_["city"] == "Rome"]["qty"].sum(), _[(_["city"] == "Oslo") & (_["qty"] > 25)]["qty"].max()'
pieces 'groups' '_.by("city")["qty"].sum()'
pieces 'groups of two keys' '_.by("city", "opt").count()'
pieces 'means of groups' '_.by("day")["qty"].mean()'
pieces 'spreads of groups' '_.by("city", "opt")["qty"].std()'
pieces 'ends of groups' '_.by("city")["price"].max(), _.by("city")["day"].min()'
pieces 'histograms' '_["price"].histc(10, 0, 100), _["qty"].long().bincount()'
pieces 'values that are kept' '_["price"].median(), _["city"].unique(), _["price"].quantile(0.9)'
pieces 'the first rows' '_[:3]'
pieces 'the first that fit' '_[_["qty"] == 50].head(2)'
pieces 'all columns' '_.min(), _.max()'
pieces 'names of before' 'x = 3
_["qty"][_["qty"] > x].sum()'
pieces 'an error at its place' '_["city"].mean()'
pieces 'two passes: as a whole' '(_["qty"] - _["qty"].mean()).abs().sum()'
pieces 'sorting: as a whole' '_.sort_by("qty")[0]'
# written NAME OPTION... CODE: rows that are written as they come, too
written() {
    name=$1
    shift
    "$tsr" "$@" big.csv >wanted 2>&1
    is "$name" "0$(md5sum <wanted)" "$(cat big.csv | timeout 60 "$tsr" --max-memory 64M "$@" >found 2>&1; echo $?)$(md5sum <found)"
}
written 'all rows' -o csv -e _
written 'rows that fit' -o csv -e '_[_["qty"] == 50]'
written 'none' -o csv -e '_[_["qty"] > 50]'
written 'some columns of them' -o tsv -e '_[(_["city"] == "Rome") & (_["qty"] > 3)][["day", "price"]]'
written 'as JSON lines' -o jsonl -e '_[["city", "opt"]]'
written 'without a header' --no-header -o csv -e '_[_["qty"] == 50]'
written 'columns that are asked for' --columns price,qty --precision 2 -o csv -e _
written 'one column' -o csv -e '_["day"]'
written 'behind what is printed' -o csv -e 'print("x")
_[_["opt"].isnan()]'
written 'new columns' -o csv -e '{**_, "twice": _["qty"] * 2, "why": "x"}'
written 'assigned columns' -o csv -e '_["twice"] = _["qty"] * 2; _["qty"] = _["twice"] + 1; _["why"] = "x"; _[_["qty"] > 40][["why", "qty", "day"]]'
written 'assigned behind a name of before' -o jsonl -e 'x = 3
_["more"] = _["price"] * x; _'
written 'of rows that fit' -o jsonl -e '{**_[_["qty"] > 40], "less": _[_["qty"] > 40]["price"] - 1}'
written 'new columns alone' -o tsv -e '{"n": _["qty"] + _["price"], "day": _["day"]}'
written 'of a column with gaps' -o jsonl -e '{"n": _["opt"] + _["qty"], "old": _["opt"]}'
{ printf '\357\273\277"city", "n"\r\n'; yes 'Rome,1' | head -n 3000000 | sed 's/$/\r/'; } >marked.csv
is 'a byte order mark, a header and line ends as they stand' "$(md5sum <marked.csv)" "$(cat marked.csv | "$tsr" -o csv -e _ | md5sum)"
is 'no header' "$(tail -n +2 marked.csv | md5sum)" "$(tail -n +2 marked.csv | "$tsr" -I csv --header no -o csv -e _ | md5sum)"
rm marked.csv
whole() {
    is "not so: $1" "$("$tsr" -o csv -e "$2" big.csv 2>&1 | md5sum)" "$(cat big.csv | "$tsr" -o csv -e "$2" 2>&1 | md5sum)"
}
whole 'columns of other rows' '{**_[_["qty"] > 40], "less": _["price"] - 1}'
whole 'a sum beside them' '{**_, "part": _["qty"] / _["qty"].sum()}'
whole 'an assigned column of other rows' '_["less"] = _[_["qty"] > 40]["price"]; _'
whole 'an assigned list' '_["k"] = [1, 2]; _'
whole 'an assigned column that is summed' '_["k"] = _["qty"] * 2; _["k"].sum()'
whole 'values alone' '{"a": 1}'
is 'not so: changed rows' "$("$tsr" -o csv -e '_["qty"] * 2' big.csv | md5sum)" "$(cat big.csv | "$tsr" -o csv -e '_["qty"] * 2' | md5sum)"
{ cat big.csv; printf 'Rome,2024-01-11\n'; } | "$tsr" -o csv -e '_[_["qty"] == 50]' >found 2>err
is 'rows before an error are written' 'ValueError: <stdin>: line 640002 has 2 fields, the first row has 5 yes' "$(tail -1 err) $([ "$(wc -l <found)" -gt 10000 ] && echo yes)"
"$tsr" -o jsonl -e _ big.csv >big.jsonl
{ cat big.jsonl; sed 's/"opt"/"other"/' big.jsonl; } >other.jsonl
is 'other keys' "$(md5sum <other.jsonl)" "$("$tsr" -o jsonl -e _ <other.jsonl | md5sum)"
is 'other columns' "$(md5sum <other.jsonl)" "$(cat other.jsonl | "$tsr" -o jsonl -e _ | md5sum)"
is 'below a header' 'ValueError: the columns change where rows were written already' "$(cat other.jsonl | "$tsr" -o csv -e _ 2>&1 >/dev/null | tail -1)"
is 'explain: rows' 'a long input comes in pieces, in memory that does not grow with -o csv, tsv or jsonl: _[["qty"]]; columns that are not "qty" are skipped' "$("$tsr" -e 'explain("_[[\"qty\"]]")' </dev/null 2>&1 | head -1)"
rm -f big.jsonl other.jsonl
gzip -k big.csv
is 'packed' "$("$tsr" -e '_["qty"].sum()' big.csv)" "$("$tsr" -e '_["qty"].sum()' big.csv.gz)"
head -c 2000000 big.csv.gz >cut.gz
run -I csv -e '_["qty"].sum()' cut.gz; is 'packed and cut off' 'ValueError: cut.gz: its bytes packed by gzip end too early' "$(last)"
{ cat big.csv; printf 'Rome,2024-01-11,nothing,1,1\n'; } >bad.csv
is 'a cell that is no number' "ValueError: <stdin>: line 640002, column 3: 'nothing' is not a number" "$("$tsr" -e '_["price"].sum()' <bad.csv 2>&1 | tail -1 | sed s/stdin/stdin/)"
is 'in a pipe' "ValueError: <stdin>: line 640002, column 3: 'nothing' is not a number" "$(cat bad.csv | "$tsr" -e '_["price"].sum()' 2>&1 | tail -1)"
is 'not asked for, not looked at' "$("$tsr" -e '_["qty"].sum() + 1' big.csv)" "$(cat bad.csv | "$tsr" -e '_["qty"].sum()' 2>&1 | tail -1)"
is 'stream()' "$(printf '[250000, 250000, 140000]')" "$(cat big.csv | "$tsr" -e '[len(c) for c in stream(rows=250000)]')"
is 'stream() of some columns' "$("$tsr" -e '_["qty"].sum().long()' big.csv)" "$("$tsr" -e 's = 0
for c in stream("big.csv.gz", columns="qty"): s += c.sum()
s.long()')"
run -e 'list(stream("x.npy"))'; is 'no file' "FileNotFoundError: [Errno 2] No such file or directory: 'x.npy'" "$(last)"
"$tsr" -o x.npy -e 'arange(3)'
run -e 'stream("x.npy")'; is 'another format' 'ValueError: x.npy: npy is not read in pieces: csv, tsv and jsonl are' "$(last)"
run -e 'stream("big.csv", rows=0)'; is 'no rows' 'ValueError: stream(): pieces have at least 1 row, not 0' "$(last)"
is 'explain: pieces' 'a long input comes in pieces, in memory that does not grow: _["qty"].sum(), len(_); columns that are not "qty" are skipped' "$("$tsr" -e 'explain("_[\"qty\"].sum() / len(_)")' </dev/null | head -1)"
is 'explain: as a whole' 'the input is read as a whole: _.sort_by takes all rows at once' "$("$tsr" -e 'explain("_.sort_by(\"qty\")")' </dev/null | head -1)"
# Ten times the file through a pipe.
is 'memory that does not grow' '6400000' "$({ head -1 big.csv; for i in 1 2 3 4 5 6 7 8 9 10; do tail -n +2 big.csv; done; } | "$tsr" --max-memory 64M -e 'len(_)')"
yes 1,2 | timeout -s INT 1.3 "$tsr" -e '_.sum()' >/dev/null 2>err
is 'interrupted' 'KeyboardInterrupt' "$(tail -1 err)"
# stream() without a path is the command line's file
printf 'a\n1\n2\n3\n' >first.csv
run -e '[len(c) for c in stream(rows=2)]' first.csv; is 'stream() of the file that is given' '[2, 1]' "$out"
is 'of each' 'first.csv: [2, 1]
second.csv: [2, 1]' "$(cp first.csv second.csv; "$tsr" --each -e '[len(c) for c in stream(rows=2)]' first.csv second.csv)"
is 'of standard input' '[3]' "$("$tsr" -e '[len(c) for c in stream()]' <first.csv)"
is 'which - is' '[3]' "$("$tsr" -e '[len(c) for c in stream("-")]' second.csv <first.csv)"
# The header is told of by its own text, though the rows of the first piece need more room than the buffer has.
awk 'BEGIN { print "a,b"; cell = sprintf("%1000s", "x"); for (i = 0; i < 40000; i++) print "1," cell i }' >long.csv
run -e 'for c in stream(rows=36000): print(len(c))' long.csv
is 'a long first piece' "36000
4000" "$out$err"
out=$(cat long.csv | "$tsr" -e 'for c in stream(rows=36000): print(len(c))' 2>&1)
is 'and of a pipe' "36000
4000" "$out$err"
exit $bad
