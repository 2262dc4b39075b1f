# NumPy's arrays of records are tables, quantised tensors the numbers they stand for, and what is odd in an archive spoils nothing (tests/oracle/make_records.py).
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)

run -e _ "$data/npy/mixed.npy"
is 'every kind of field' 'city    qty  price  day         t                           ok     s                     id  h
Rome      1    1.5  2024-01-02  2024-01-02T03:04:05.678000  True   ab   1152921504606846977  2024-01-02T03:00:00
Oslo      2    nan              2024-01-02T03:04:05.000001  False  abc                    2  2024-01-02T04:00:00
Zürich   -3    2.0  1969-12-31  2024-01-02T00:00:00.000000  True                          3' "$out"
run -e '_["qty"].dtype, _["price"].sum(), _["city"].words' "$data/npy/mixed.npy"
is 'its columns' "(torch.int32, tensor(nan, dtype=torch.float64), ['Rome', 'Oslo', 'Zürich'])" "$out"
run -e '_.tolist(), columns(_)' "$data/npy/numbers.npy"; is 'all numbers' "([[0.5, 0.0, 3.0], [1.0, 0.0, 4.0]], ['x', 'flag', 'y'])" "$out"
run -e '_' "$data/npy/numbers.npy:y"; is 'a column by its name' 'tensor([3., 4.], dtype=torch.float64)' "$out"
run -e "save(load('$data/npy/mixed.npy'), '$work/x.npy')"; is 'written' '0 ' "$status $err"
run --diff "$data/npy/mixed.npy" "$work/x.npy"; is 'and read' '0 ' "$status $out"
is 'its header' "{'descr': [('city', '<U6'), ('qty', '<i4'), ('price', '<f8'), ('day', '<M8[D]'), ('t', '<M8[us]'), ('ok', '|b1'), ('s', '|S3'), ('id', '<i8'), ('h', '<M8[h]')], 'fortran_order': False, 'shape': (3,), }" "$(head -c 250 "$work/x.npy" | tail -c +13 | head -1 | sed 's/ *$//')"
printf 'city,n,day\nRome,1,2024-01-02\nOslo,2,2024-01-03\n' | "$tsr" -o "$work/t.npy" -e _ && run -o csv -e _ "$work/t.npy"
is 'from csv and back' 'city,n,day
Rome,1,2024-01-02
Oslo,2,2024-01-03' "$out"
printf 'w,n\ncaf\351,1\nna\357ve,2\n\237\235\234,3\nZ\303\274rich\360\237\230\200,4\n' | "$tsr" -o "$work/l.npy" -e _ && run -o csv -e _ "$work/l.npy"
is 'bytes that are no UTF-8 are U+FFFD, and no others change' "$(printf 'w,n\ncaf\357\277\275,1\nna\357\277\275ve,2\n\357\277\275\357\277\275\357\277\275,3\nZ\303\274rich\360\237\230\200,4')" "$out"
printf 'a,,c\n1,5,9007199254740993\n' | "$tsr" -o "$work/u.npy" -e _ && run -o csv -e _ "$work/u.npy"
is 'a column without a name' 'a,,c
1,5,9007199254740993' "$out"
printf 'id,d\n9007199254740993,a\n,b\n' | "$tsr" -o "$work/m.npy" -e _ >"$work/out" 2>"$work/err"; is 'a number that is missing' "ValueError: npy has no number for what is missing in the column 'id'" "$(last)"
run -e _ "$data/npy/v2.npy"; is 'two bytes of no type' "tensor([ 1.0000, -2.5000], dtype=torch.bfloat16)tsr: $data/npy/v2.npy: bfloat16 is what its elements, two bytes of no type, are taken for" "$out$err"
run -e _ "$data/npy/odd.npz"; is 'odd members' "{'a': tensor([0, 1, 2]), 'w': Column(['x', 'yy'], words=2), 'o': <opaque array of |O>, 'r': tensor([[0.5000, 0.0000, 3.0000],
        [1.0000, 0.0000, 4.0000]], dtype=torch.float64), 'z': tensor([1., 1.], dtype=torch.float64)}" "$out"
run -e "load('$data/npy/odd.npz', unknown='error')"; is 'or an error' "ValueError: $data/npy/odd.npz: 'o.npy': it holds pickled objects (dtype '|O'), which are never executed" "$(last)"
run -e 'for k, v in _.items(): print(k, v.tolist() if k != "grid" else v)' "$data/npy/arrays.npz"
is 'arrays of words, times and differences of them' "words ['Rome', 'é😀', '', 'Rome']
bytes ['ab', 'c']
big ['ab', 'c']
days ['2024-01-02', None, '1969-12-31']
ns ['2024-01-02T03:04:05.123456789']
months ['2024-02-01', '1969-11-01', '0001-01-01']
years ['1970-01-01', '1600-01-01']
hours ['2024-01-02T05:00:00']
spans [1, -2]
gaps [5, None]
table [{'city': 'Rome', 'qty': 1, 'day': '2024-01-02'}, {'city': 'Oslo', 'qty': 2, 'day': None}, {'city': 'Zürich', 'qty': -3, 'day': '1969-12-31'}]
none []
grid <opaque array of <U1>" "$out"
run -o "$work/a.npz" -e '{k: v for k, v in _.items() if k not in ("grid",)}' "$data/npy/arrays.npz"; is 'written' '0 ' "$status $err"
is 'and read' "$("$tsr" -e '[v.tolist() for k, v in _.items() if k not in ("grid",)]' "$data/npy/arrays.npz")" "$("$tsr" -e '[v.tolist() for v in _.values()]' "$work/a.npz")"
"$tsr" -o npy -e '_["words"]' "$data/npy/arrays.npz" >"$work/w.npy"; is 'a column alone' "{'descr': '<U4', 'fortran_order': False, 'shape': (4,), }" "$(head -c 127 "$work/w.npy" | tail -c +11 | sed 's/ *$//')"
is 'comes back' "Column(['Rome', 'é😀', '', 'Rome'], words=3)" "$("$tsr" -e _ "$work/w.npy")"
# header of CODE: the type of what the code makes of arrays.npz, and its bytes behind
written_as() { # NAME CODE WANTED
    "$tsr" -o npy -e "$2" "$data/npy/arrays.npz" >"$work/w.npy"
    is "$1" "$3" "$(head -c 127 "$work/w.npy" | tail -c +11 | sed -n "s/.*'descr': '\([^']*\)'.*/\1/p") $("$tsr" -e '_.tolist()' "$work/w.npy")"
}
written_as 'differences of times, one missing' '_["gaps"]' '<m8[D] [5, None]'
written_as 'differences of times' '_["spans"]' '<m8[s] [1, -2]'
written_as 'some of them' '_["spans"][tensor([1, 0, 1])]' '<m8[s] [-2, 1, -2]'
written_as 'what was computed is a number' '_["spans"] + 1' '<i8 [2, -1]'
written_as 'bytes' '_["bytes"]' "|S2 ['ab', 'c']"
written_as 'months' '_["months"]' "<M8[M] ['2024-02-01', '1969-11-01', '0001-01-01']"
written_as 'years' '_["years"][1:]' "<M8[Y] ['1600-01-01']"
written_as 'hours' '_["hours"]' "<M8[h] ['2024-01-02T05:00:00']"
written_as 'a day that no month begins with' '_["months"] + 1' "<M8[D] ['2024-02-02', '1969-11-02', '0001-01-02']"
refused() { # NAME WANTED
    run -e "load('$data/npy/bad_$1.npy')"
    is "refused: $1" "ValueError: $data/npy/bad_$1.npy: $2" "$(last)"
}
refused nested "the field 'a' has fields itself, which no column has"
refused array "the field 'a' is an array, which no column is"
refused object "the dtype '|O' of its field 'a' is that of no column"
refused matrix 'records of 2 dimensions are no table'
refused short 'the shape needs 24 bytes of data from byte 192 on, there are 23'
refused many 'the shape needs 108 bytes of data from byte 192 on, there are 24'

run --diff "$data/pt/quantised.pt" "$data/pt/dequantised.pt"; is 'quantised tensors' '0 ' "$status $out"
run --diff "$data/pt/quantised_old.pt" "$data/pt/dequantised.pt"; is 'before PyTorch 1.6' '0 ' "$status $out"
exit $bad
