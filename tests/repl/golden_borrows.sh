# Random functions that borrow: what golden() says of them and what becomes of their borrows agree; `golden_borrows.sh TSR FROM TO STATEMENTS`
# runs others than the fixed sample.
. "$(dirname "$0")/lib.sh"
programs "$(dirname "$0")/golden_borrows.tsr" "${2:-0}" "${3:-200}" "${4:-5}"
is 'golden finds the borrows that dangle' 'programs run' "$out"
exit $bad
