# The manual's list of operators is what the program prints (make man writes it).
. "$(dirname "$0")/lib.sh"
page=$(cd "$(dirname "$0")/../.." && pwd)/man/tsr-ops.7
"$tsr" --print-man ops >"$work/ops.7"
is 'man/tsr-ops.7' '' "$(diff "$page" "$work/ops.7" | head -10)"
exit $bad
