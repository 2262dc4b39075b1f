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
run -e 'm = load("m.npy", mode="r"); print(explain("m[0] = 5"))'
is 'a mapping for reading' 'm[0] = ...: refused
  the memory of m is read-only (mmap); m.clone() may be written: 12 bytes
RuntimeError: this tensor'"'"'s memory is read-only (mmap): clone() it before writing' "$out"

# What moves, and what only goes by.
run -e 'x = arange(6.); print(explain("x.untyped_storage().resize_(100)")); print(x.untyped_storage().nbytes())'
is 'a storage that grows is not freed' 'x.untyped_storage().resize_(100): storage #1 (24 bytes) moved: 100 bytes allocated, 24 copied, 24 freed
this ran: what it changed stays
100' "$out"
run -e 'x = arange(6.); y = x[1:]; print(explain("x.data = y"))'
is 'assigned data' 'x.data = ...: a view of y: the same storage #1, no bytes copied
  strides (1,) as before, shape (5,), offset 1
this ran: what it changed stays' "$out"
run -e 'x = arange(6.); print(explain("del x"))'
is 'del ran' 'freed: storage #1 (24 bytes)
this ran: what it changed stays' "$out"
run -e 'x = arange(6.); print(explain("x = 3"))'
is 'a name of no tensor' 'freed: storage #1 (24 bytes)
x names no tensor now; the one it named had no other holder and is freed
this ran: what it bound stays' "$out"
run -e 'x = y = arange(6.); print(explain("x += 1; x = x * 2"))'
is 'what changed before it lost a name' 'x names another tensor now; the one it named stays with y' "$(echo "$out" | grep names)"
exit $bad
