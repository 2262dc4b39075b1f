# random programs give what CPython gives; `random_programs.sh TSR FROM TO` runs others than the fixed sample (`scripts/test --long` a hundred thousand).
. "$(dirname "$0")/lib.sh"
size=2500
seq "${2:-0}" $size $((${3:-4000} - 1)) | xargs -P "$(nproc)" -I{} sh -c '
    to=$(($3 + $5))
    python3 -W ignore "$1" check "$2" "$3" $((to < $4 ? to : $4)) >"$6/run.$3" 2>&1 || { tail -20 "$6/run.$3" >"$6/failed.$3"; exit 1; }
    ' sh "$(dirname "$0")/random_programs.py" "$tsr" {} "${3:-4000}" $size "$work" && out='programs agree' || out=$(cat "$work"/failed.*)
is 'random programs give what CPython gives' 'programs agree' "$out"
exit $bad
