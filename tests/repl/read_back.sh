# Every save of a binary format is read back, whatever the dtype, the shape, the layout and the name (read_back.tsr).
. "$(dirname "$0")/lib.sh"
program=$(cd "$(dirname "$0")" && pwd)/read_back.tsr
cd "$work" || exit 1
"$tsr" "$program" >out 2>err
is 'all that was saved' '0 ' "$? $(grep -v 'read back$' out; grep -v '^note: ' err)"
[ "$(sed -n 's/ read back$//p' out)" -gt 1000 ] && ok 'and that is much' || fail 'and that is much'
exit $bad
