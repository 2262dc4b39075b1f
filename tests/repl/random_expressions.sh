# random expressions give what CPython gives; `random_expressions.sh TSR FROM TO` runs other lots than the fixed sample (1500 expressions each)
. "$(dirname "$0")/lib.sh"
out=$(python3 -W ignore "$(dirname "$0")/random_expressions.py" check "$tsr" "${2:-0}" "${3:-3}" 2>&1)
is 'random expressions give what CPython gives' 'expressions agree' "$out"
exit $bad
