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
guess 'a letter in a number' '1O0\n2\n' "['1O0']" "$(like 1O0 1)"
guess 'currency' 'x,$10\n2,3\n' "['x', '\$10']" "$(like '$10' 1)"
guess 'a time' '12:30\n2\n' "['12:30']" "$(like 12:30 1)"
guess 'a date, below a blank line' '\n2024-01-02,b\n1,2\n' "['2024-01-02', 'b']" "$(like 2024-01-02 2)"
guess 'a percentage' '-5%%,b\n1,2\n' "['-5%', 'b']" "$(like -5% 1)"
guess 'in quotes' '"1,000",b\n1,2\n' "['1,000', 'b']" "$(like 1,000 1)"
guess 'names' 'a,b2,-c\n1,2,3\n' "['a', 'b2', '-c']" ''
guess 'numbers' '1,2\n3,4\n' None ''
guess "pandas' index above columns without names" ',0,1\n0,5.5,6\n1,7,8\n' "['', '0', '1']" 'line 1 is taken for a header: it counts 0, 1, ... above an index; --header no reads it as numbers'
guess 'years' '2023,2024\n1.5,2\n' None 'line 1 is read as numbers; if it is a header, --header yes says so'
guess 'numbered columns' '0,1,2\n0.5,1,7\n' None 'line 1 is read as numbers; if it is a header, --header yes says so'
guess 'numbers that go on counting' '0,1,2\n3,4,5\n' None ''
guess 'an empty cell before numbers' ',5,7\n1,2,3\n' None ''
printf ',0,1\n0,5,6\n' >t.csv
run --header no -e '_.shape' t.csv; is '--header no' 'torch.Size([2, 3])' "$out$err"
printf '2023,2024\n1,2\n' >t.csv
run --header yes -e 'columns(_)' t.csv; is '--header yes' "['2023', '2024']" "$out$err"
printf '1O0\n2\n' >t.csv
run --header yes -e 'columns(_)' t.csv; is 'what was asked for is not told' "['1O0']" "$out$err"
run --json -e '_' t.csv; is 'nor is it among objects' '[[2.0]]' "$out$err"
run -l t.csv; is 'of -l, too' "tsr: t.csv: $(like 1O0 1)" "$err"
echo 'load("t.csv")' | "$tsr" - 2>err; is 'and of load()' "tsr: t.csv: $(like 1O0 1)" "$(cat err)"
exit $bad
