# What explain tells is what happened: held against the trace of the same run, for the example of every operator and for random programs.
# `explain.sh TSR COUNT SEED` makes other programs than the fixed sample.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
sed -n 's/^ *>>> //p' "$here/../../man/tsr-ops.7" | sed 's/\\-/-/g; s/\\e/\\/g; s/\\(aq/'"'"'/g' >"$work/examples"
[ "$(wc -l <"$work/examples")" -gt 500 ] || fail "the examples of the operators were not found"
out=$(cd "$work" && timeout 300 "$tsr" "$OLDPWD/$here/explain.tsr" "${3:-1}" "${2:-400}" "$work/examples" 2>"$work/err" | tail -60)
is "claims of explain that the trace did not see" "0 claims of explain are not what the trace saw" "$out"
[ -z "$out" ] && cat "$work/err"

# A mapped file.
cd "$work" || exit 1
run -e 'save(arange(3.), "m.npy")'
run -e 'm = load("m.npy"); print(explain("m[0] = 5")); print(load("m.npy"))'
is 'a write into a private mapping' "m[0] = ...: writes into m, in place: no new memory; its version is now 1
  its memory is a private mapping (copy-on-write): the file m.npy stays as it is
this ran: what it changed stays
tensor([0., 1., 2.])" "$out"
run -e 'm = load("m.npy", mode="r+"); print(explain("m[0] = 5")); print(load("m.npy"))'
is 'a write into a shared mapping' "m[0] = ...: writes into m, in place: no new memory; its version is now 1
  its memory is a shared mapping: the write goes to the file m.npy
this ran: what it changed stays
tensor([5., 1., 2.])" "$out"
exit $bad
