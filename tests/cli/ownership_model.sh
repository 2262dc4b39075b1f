. "$(dirname "$0")/lib.sh"
# refcount, holders, storage_refcount and leaks against a model, after each step of random programs; `ownership_model.sh TSR FROM TO STEPS` runs others
# than the fixed sample.
out=$(timeout "${TEST_TIME:-120}" "$tsr" "$(dirname "$0")/ownership_model.tsr" "${2:-0}" "${3:-25}" "${4:-60}" 2>"$work/err")
is 'counts, holders and leaks are what a model says' 'programs run' "$out"
[ "$out" = 'programs run' ] || tail -5 "$work/err"
exit $bad
