# Every function called with arguments nobody meant; `any_call.sh TSR FROM TO CALLS` runs other seeds than the fixed sample.
. "$(dirname "$0")/lib.sh"
program=$(dirname "$0")/any_call.tsr
for kind in dense sparse; do
    for seed in $(seq "${2:-1}" "${3:-8}"); do
        out=$(timeout 120 "$tsr" --max-memory 1G "$program" "$seed" "${4:-2000}" $kind 2>"$work/err" | tail -1)
        is "calls of $kind tensors, seed $seed" 'calls made' "$out"
        [ "$out" = 'calls made' ] || grep -v '^  ' "$work/err" | tail -5
    done
done
exit $bad
