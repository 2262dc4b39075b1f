# Rows of tables that are short or long: an error, unless --ragged is said or they reach to the last column taken.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
printf 'a,b,c\n1,2,3\n4\n5,6,7,8\n' >n.csv
printf 'a,b,c\n1,x,2024-01-02\n4\n5,y,2024-01-03,8\n,z\n' >w.csv
run -e _ n.csv; is 'a short row' "    hint: --ragged, or load(path, ragged=True), fills short rows with missing cells and cuts long ones
ValueError: n.csv: line 3 has 1 field, the first row has 3" "$(tail -n 2 "$work/err")"
run --ragged -o csv -e _ n.csv; is 'numbers' 'a,b,c
1,2,3
4,nan,nan
5,6,7' "$out"
run --ragged -o csv -e _ w.csv; is 'words and times' 'a,b,c
1,x,2024-01-02
4,,
5,y,2024-01-03
,z,' "$out"
run -e 'load("w.csv", ragged=True)["c"].missing'; is 'are missing' 'tensor([False,  True, False,  True])' "$out"
run --ragged --dtype int64 -e _ n.csv; is 'but integers can not be' "ValueError: n.csv: line 3, column 2: '' is not an integer" "$(last)"
run --ragged -I csv -e '_["a"].sum(), _["b"].nansum()' - <n.csv; is 'in a stream' '(tensor(10., dtype=torch.float64), tensor(8., dtype=torch.float64))' "$out"
run --columns a -e '_.tolist()' n.csv; is 'behind the last column taken' '[[1.0], [4.0], [5.0]]' "$out"
run --columns a -e '_["a"]' w.csv; is 'of a table with words' 'tensor([1., 4., 5., nan], dtype=torch.float64)' "$(printf '%s' "$out" | sed 's/^.*tensor/tensor/')"
run --columns b -e _ n.csv; is 'before it' 'ValueError: n.csv: line 3 has 1 field, and the columns that are taken reach to field 2' "$(last)"
run --in-place --ragged -e _ n.csv; is 'not in place' 2 "$status"
run --ragged -e _ x.npy; is 'of no other format' 1 "$status"
"$tsr" -e 'print("a," * 999 + "b"); [print(1) for i in range(100000)]' >bomb.csv
run --ragged -e _ bomb.csv; is 'not a thousand cells for two bytes' 1 "$status"
exit $bad
