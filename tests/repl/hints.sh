# Every piece of code that a hint shows, in advice.def or given to tsr_error_hint, is run and works.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$(python3 "$root/tests/repl/hints.py" "$tsr" "$root" 2>&1)
status=$?
is 'hints that show code' 0 "$status"
[ $status -eq 0 ] || echo "$out"
exit $bad
