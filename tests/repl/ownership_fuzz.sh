# Random programs over everything that counts references; `ownership_fuzz.sh TSR FROM TO STEPS` runs others than the fixed sample
# (`scripts/test --long` a hundred thousand short ones).
. "$(dirname "$0")/lib.sh"
programs "$(dirname "$0")/ownership_fuzz.tsr" "${2:-0}" "${3:-60}" "${4:-120}"
is 'random programs keep the counts right' 'programs run' "$out"
exit $bad
