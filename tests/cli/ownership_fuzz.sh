. "$(dirname "$0")/lib.sh"
# Random programs over everything that counts references; `ownership_fuzz.sh TSR FROM TO STEPS` runs others than the fixed sample
# (`scripts/test --long` a hundred thousand short ones).
fuzz=$(dirname "$0")/ownership_fuzz.tsr
out=$(timeout "${TEST_TIME:-120}" "$tsr" "$fuzz" "${2:-0}" "${3:-60}" "${4:-120}" 2>"$work/err")
is 'random programs keep the counts right' 'programs run' "$out"
[ "$out" = 'programs run' ] || tail -5 "$work/err"
exit $bad
