# The names of a table's columns: kept from what was read to what is written, told by columns(), given by save(header=).
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
printf 'a,"b, ""x""",c\n1,2,3\n4,5,6\n' >d.csv
# header NAME WANTED CODE [FILE...]: the first line of the value as csv
header() {
    name=$1 wanted=$2 code=$3
    shift 3
    run -o csv -e "$code" "$@"
    is "$name" "$wanted" "$(printf '%s' "$out" | head -n 1)"
}
header 'as many columns: the same names' 'a,"b, ""x""",c' '_ * 2' d.csv
header 'rows' 'a,"b, ""x""",c' '_[_[:, 0] > 1]' d.csv
header 'another number of rows' 'a,"b, ""x""",c' '_.mean(0, keepdim=True)' d.csv
header 'a view of columns' 'a,c' '_[:, ::2]' d.csv
header 'a vector' c '_[:, 2]' d.csv
header 'columns by number' c,a '_[:, [2, 0]]' d.csv
header 'by a mask' a,c '_[:, tensor([True, False, True])]' d.csv
header 'by name' 'c' '_[:, columns(_).index("c")]' d.csv
header 'of rows, of columns' 'c,"b, ""x"""' '_[_[:, 0] > 1][:, [2, 1]][:, :]' d.csv
header 'all of them in another order' 'c,a,"b, ""x"""' '_[:, [2, 0, 1]]' d.csv
header 'another order is remembered by what was taken alone' 6,2,4 'x = _[:, [2, 0, 1]]; x + x.clone()' d.csv
header 'transposed twice' 'a,"b, ""x"""' '_.T[:2].T' d.csv
header 'a square transposed has other columns' 1,4 '_[:, :2].T' d.csv
header 'a row is no column' 1 '_[0]' d.csv
header 'new columns' 6 '_.sum(1)' d.csv
header 'fewer new columns' 2,4 '_[:, :2] * 2' d.csv
header 'a number' 1 '_[0, 0]' d.csv
header 'a dict has its own' s 'dict(s=_.sum(1))' d.csv
header 'the first of the files' 'a,"b, ""x""",c' 'inputs[1] - inputs[0]' d.csv d.csv
header 'not what was not read' 1,1,1 'ones(2, 3)' d.csv
run -o csv --no-header -e _ d.csv; is '--no-header' '1,2,3
4,5,6' "$out"
run -o tsv -e '_[:, :2]' d.csv; is 'as tsv' 'a	"b, ""x"""
1	2
4	5' "$out"
run -o json -e _ d.csv; is 'json has them in each row' '[{"a": 1, "b, \"x\"": 2, "c": 3},
 {"a": 4, "b, \"x\"": 5, "c": 6}]' "$out"
run -o o.csv -e _ d.csv; is 'a file' 'a,"b, ""x""",c' "$(head -n 1 o.csv)"
header 'a pipe' 'a,"b, ""x""",c' _ <d.csv
header '--columns' 'c,"b, ""x"""' _ --columns 'c,"b, ""x"""' d.csv
header 'the name of a bound tensor is no matter' a,c '_ = _[:, [0, 2]]; _' d.csv

edit() { # NAME BEFORE CODE AFTER, both as printf takes them
    printf "$2" >e.csv
    run --in-place -e "$3" e.csv
    printf "$4" >wanted
    if cmp -s e.csv wanted; then ok "in place: $1"; else is "in place: $1" "$(cat wanted)" "$(cat e.csv) $err"; fi
}
edit 'a header' 'x,y\n1,2\n' '_ + 1' 'x,y\n2,3\n'
edit 'none' '1,2\n' '_ + 1' '2,3\n'
edit 'its delimiter' 'x;y\n1;2\n' '_ + 1' 'x;y\n2;3\n'
edit 'tabs' 'x\ty\n1\t2\n' '_ + 1' 'x\ty\n2\t3\n'
edit 'spaces' 'x   y\n1   2\n' '_ + 1' 'x   y\n2   3\n'
edit 'one column' '1\n2\n' 'cat([_, _], 1)' '1,1\n2,2\n'
edit 'CRLF and a byte order mark' '\357\273\277x,y\r\n1,2\r\n' '_ + 1' '\357\273\277x,y\r\n2,3\r\n'
edit 'a name of two lines' '"x\ny",z\n1,2\n' '_ + 1' '"x\ny",z\n2,3\n'
edit 'equal names' 'x,x\n1,2\n' '_ + 1' 'x,x\n2,3\n'
edit 'a column without a name' ',x\n1,2\n' '_ + 1' ',x\n2,3\n'
edit 'spaces around a name stay inside quotes' '" x ",y z\n1,2\n' '_ + 1' '" x ",y z\n2,3\n'
edit 'names in Latin-1' '\351,y\n1,2\n' '_ + 1' '\351,y\n2,3\n'
edit 'a header and no rows' 'x,y\n' '_ + 1' 'x,y\n'
edit 'no column left' '1,2\n' '_[:, :0]' ''

run -e 'columns(_), columns(_[:, 1]), columns(_.T), columns(_ * 2), columns(ones(2))' d.csv
is 'columns()' "(['a', 'b, \"x\"', 'c'], ['b, \"x\"'], None, None, None)" "$out"
run -e 'load("d.csv", columns=["b, \"x\"", 0, "c"])[0].tolist()'; is 'a list of columns' '[2.0, 1.0, 3.0]' "$out"
printf '2,1\n5,6\n' >n.csv
run --header yes --columns 1 -e '_.item()' n.csv; is 'a name before a number' 6.0 "$out"
run --header yes --columns 0 -e '_.item()' n.csv; is 'a number where no name is so' 5.0 "$out"
run -l d.csv; is '-l' "name      shape   dtype    bytes  stored
(tensor)  [2, 3]  float64     48      48
columns: a, 'b, \"x\"', c" "$out"
sed 's/c$/z/' d.csv >z.csv
run --diff d.csv z.csv; is '--diff' 1 "$status"; is 'of names' "column 2: 'c' and 'z'" "$out"
run -e 'save(ones(2, 1), "s.csv", header=[""])'; run --header yes -o csv -e _ s.csv; is 'one column without a name' '""
1
1' "$out"
exit $bad
