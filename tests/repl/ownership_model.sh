# refcount, holders, storage_refcount and leaks against a model, after each step of random programs; `ownership_model.sh TSR FROM TO STEPS` runs others
# than the fixed sample (`scripts/test --long` a hundred thousand short ones).
. "$(dirname "$0")/lib.sh"
programs "$(dirname "$0")/ownership_model.tsr" "${2:-0}" "${3:-25}" "${4:-60}"
is 'counts, holders and leaks are what a model says' 'programs run' "$out"
exit $bad
