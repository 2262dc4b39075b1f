# Whether a table's first row is a header is guessed: what may be wrong about the guess is told, with the option that decides it.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
# guess NAME BYTES COLUMNS NOTE
guess() {
    printf -- "$2" >t.csv
    run -e '[columns(_)]' t.csv
    is "$1" "[$3]" "$out"
    is "$1: the note" "${4:+tsr: t.csv: $4}" "$err"
}
like() { echo "line $2 is taken for a header, for no cell of it is a number, though '$1' begins like one; --header no reads it as a row"; }
beside='line 1 is taken for a header: it has whole numbers above columns beside an index; --header no reads it as numbers'
maybe='line 1 is read as numbers; if it is a header, --header yes says so'
guess 'a letter in a number' '1O0\n2\n' "['1O0']" "$(like 1O0 1)"
guess 'currency' 'x,$10\n2,3\n' "['x', '\$10']" "$(like '$10' 1)"
guess 'a time' '12:30\n2\n' "['12:30']" "$(like 12:30 1)"
guess 'a date, below a blank line' '\n2024-01-02,b\n1,2\n' "['2024-01-02', 'b']" "$(like 2024-01-02 2)"
guess 'a percentage' '-5%%,b\n1,2\n' "['-5%', 'b']" "$(like -5% 1)"
guess 'in quotes' '"1,000",b\n1,2\n' "['1,000', 'b']" "$(like 1,000 1)"
guess 'names' 'a,b2,-c\n1,2,3\n' "['a', 'b2', '-c']" ''
guess 'numbers' '1,2\n3,4\n' None ''
guess "pandas' index above columns without names" ',0,1\n0,5.5,6\n1,7,8\n' "['', '0', '1']" "$beside"
guess "pandas' years" ',2023,2024\n0,1,2\n1,3,4\n' "['', '2023', '2024']" "$beside"
guess "pandas' years with a gap" ',2020,2023\n0,1.5,2\n' "['', '2020', '2023']" "$beside"
guess 'one year, below a blank line' '\n,2023\n0,5\n' "['', '2023']" "line 2${beside#line 1}"
guess 'years' '2023,2024\n1.5,2\n' None "$maybe"
guess 'years above whole numbers' '2023,2024\n1,2\n3,4\n' None "$maybe"
guess 'years with a gap, a blank line below' '2020,2023\n\n10,11\n' None "$maybe"
guess 'years above years' '2023,2024\n2021,2022\n' None ''
guess 'a first year that is missing' ',2024\n35,2022\n' None "$maybe"
guess 'numbers in quotes above others' '"1","5"\n1,2\n' None "$maybe"
guess 'fractions above an index' ',0.5,0.75\n0,1,2\n' None "$maybe"
guess 'truth values above an index' ',False,True\n0,1,2\n' None "$maybe"
guess 'a first cell that is missing in both rows' ',5\n,6\n' None ''
guess 'words for what is missing' 'NA,-\n1,2\n' "['NA', '-']" "line 1 is taken for a header, for no cell of it is a number, though 'NA' may stand for a missing one; --header no reads it as a row"
guess 'numbered columns' '0,1,2\n0.5,1,7\n' None "$maybe"
guess 'numbers that go on counting' '0,1,2\n3,4,5\n' None ''
guess 'an empty cell before numbers' ',5,7\n1,2,3\n' None "$maybe"
printf ',0,1\n0,5,6\n' >t.csv
run --header no -e '_.shape' t.csv; is '--header no' 'torch.Size([2, 3])' "$out$err"
printf '2023,2024\n1,2\n' >t.csv
run --header yes -e 'columns(_)' t.csv; is '--header yes' "['2023', '2024']" "$out$err"
printf '1O0\n2\n' >t.csv
run --header yes -e 'columns(_)' t.csv; is 'what was asked for is not told' "['1O0']" "$out$err"
run --json -e '_' t.csv; is 'and it is an object among objects' "{\"note\": \"t.csv: $(like 1O0 1)\"}[[2.0]]" "$err$out"
run -l t.csv; is 'of -l, too' "tsr: t.csv: $(like 1O0 1)" "$err"
echo 'load("t.csv")' | "$tsr" - 2>err; is 'and of load()' "tsr: t.csv: $(like 1O0 1)" "$(cat err)"
printf ',2023,2024\n0,1,2\n' >t.csv
run --in-place -e '_[:, 1:] *= 2; _' t.csv; is 'years stay above what is changed' ',2023,2024
0,2,4' "$(cat t.csv)"
printf ',2023,2024\na,1,2\n' >t.csv
run -e 'list(_)' t.csv; is 'years beside an index of words' "['', '2023', '2024']tsr: t.csv: $beside" "$out$err"
printf 'x,2023\na,1\n' >t.csv
run -e '_' t.csv; is 'a word beside numbers' '    hint: if line 1 is a header, --header yes, or header=True, says so; --header no reads columns of words, too' "$(grep hint: "$work/err")"
run --header yes -e 'list(_)' t.csv; is 'which then works' "['x', '2023']" "$out$err"
exit $bad
