# Random functions: what golden() says of them and what their calls do agree; `golden_programs.sh TSR FROM TO STATEMENTS` runs others than the fixed
# sample (`scripts/test --long` twenty thousand).
. "$(dirname "$0")/lib.sh"
programs "$(dirname "$0")/golden_programs.tsr" "${2:-0}" "${3:-100}" "${4:-4}"
is 'golden finds what the calls do' 'programs run' "$out"
exit $bad
