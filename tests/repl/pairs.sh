# Options that have no meaning beside one another are refused, not passed over: the first line of standard error says which.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
printf 'a,b\n1,2\n' >x.csv
printf '{"a": 1, "b, c": 2}\n' >x.jsonl
run -o x.npy -e 'ones(2)'; run -o x.json -e 'ones(2)'
echo 'print(1)' >p.tsr
wrong() { # MESSAGE ARGS...
    wanted="2 tsr: $1"
    shift
    run "$@"
    is "wrong: $*" "$wanted" "$status $(head -n 1 "$work/err")"
}
for option in '--columns a' '--header no' '--delimiter ;' '--na NA' '--dtype int8' '--shape 2' '-I csv'; do
    name=${option%% *}
    [ "$name" = -I ] && name=--input
    wrong "$name needs -e, -l or --diff" $option p.tsr
    wrong "$name needs -e, -l or --diff" $option --doctest p.tsr
done
for option in '-o csv' --in-place --each '--precision 3' --no-header --compact --untie '--json-nan null'; do
    name=${option%% *}
    [ "$name" = -o ] && name=--output
    wrong "$name needs -e" $option p.tsr
    wrong "$name needs -e" $option -l x.csv
done
wrong "-l can't stand beside another of -e, -l, --echo, --doctest, --diff, --lesson and --page" -e 1 -l x.csv
wrong "--diff can't stand beside another of -e, -l, --echo, --doctest, --diff, --lesson and --page" -l --diff x.csv x.csv
wrong '--precision is for text, not for npy' -o npy --precision 3 -e 1
wrong '--precision is for text, not for npy' --in-place --precision 3 -e 1 x.npy
wrong '--no-header is for csv, tsv, json and jsonl, not for text' --no-header -e 1
wrong '--no-header is for csv, tsv, json and jsonl, not for npy' -o y.npy --no-header -e 1
wrong '--json-nan is for json and jsonl, not for csv' -o csv --json-nan error -e 1
wrong '--json-nan is for json and jsonl, not for text' --json-nan error -e 1
wrong '--in-place and -o exclude each other' --in-place -o csv -e 1 x.csv
unread() { # MESSAGE ARGS...
    wanted="1 ValueError: $1"
    shift
    run "$@"
    is "unread: $*" "$wanted" "$status $(last)"
}
unread 'x.npy: npy has no use for dtype' --dtype float64 -e _ x.npy
unread 'x.npy: npy has no use for columns' --columns 0 -e _ x.npy
unread 'x.npy: npy has no use for columns' --columns 0 -l x.npy
unread 'x.json: json has no use for columns' --columns a -e _ x.json
unread 'x.csv: csv has no use for shape' --shape 2 -e _ x.csv
unread 'x.npy: npy has no use for dtype' -e 'load("x.npy", dtype=float64)'
run --columns a,a -e _ x.jsonl; is 'a key named twice' "a
1" "$out"
run --columns '"b, c"' -e _ x.jsonl; is 'a key with a comma' "b, c
   2" "$out"
run --columns a,a -e '_.tolist()' x.csv; is 'a column named twice is there twice' '[[1.0, 1.0]]' "$out"
run -o csv --na NA -e '_ * math.nan' x.npy; is '--na is for writing, too' 'NA
NA' "$out"
run --header yes -e '[len(x) for x in inputs]' x.csv x.npy; is 'a header is for the table among the files' '[1, 2]' "$out"
# the same of save()
refused() { run -e "save($1)"; is "save($1)" "ValueError: save(): $2" "$(last)"; }
refused 'ones(1), "x.npy", precision=3' 'precision is for text, not for npy'
refused 'ones(1), "-", format="pt", json_nan="error"' 'json_nan is for json and jsonl, not for pt'
refused 'ones(1), "x.csv", json_nan="null"' 'json_nan is for json and jsonl, not for csv'
run -o markdown --precision 3 -e 'tensor([[1 / 3]])'; is 'digits of a Markdown table' '| 0.333 |' "$(tail -1 "$work/out")"
run -e 'save(tensor([[1 / 3]]), "-", format="markdown", precision=3)'; is 'by save()' '| 0.333 |' "$(tail -1 "$work/out")"
refused 'ones(1), "-", format="text", precision=3' 'the digits of text are those of torch.set_printoptions(precision=)'
refused 'ones(1), "x.npy", compress=True' 'compress is for npz, not for npy'
exit $bad
