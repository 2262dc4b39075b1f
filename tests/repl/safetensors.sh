# safetensors: the files of the safetensors package (tests/oracle/make_safetensors.py) are read, and what tsr writes are its very bytes.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data/safetensors" && pwd)
f=$work/x.safetensors

same() { # NAME CODE FILE
    rm -f "$f"
    run -e "$2"
    if [ $status = 0 ] && cmp -s "$f" "$data/$3.safetensors"; then ok "$1"; else fail "$1: $(last)"; fi
}
same 'every dtype' "x, m = load('$data/types.safetensors', metadata=True); save(x, '$f', metadata=m)" types
same 'names with escapes, in the order of the package' "save(load('$data/names.safetensors'), '$f')" names
same 'float8 of all kinds, in the order of the package' "
save({name: tensor([1., 2., 4., 0.5]).to(getattr(torch, name)) for name in 'float16 int8 float8_e4m3fn float8_e8m0fnu float8_e5m2 float8_e5m2fnuz float8_e4m3fnuz'.split()}, '$f')" small_floats
same 'no tensor' "save({}, '$f')" nothing
same 'a dict in any order, rows of a transposed tensor' "
x = {'scalar': tensor(2.5, dtype=float64), 'empty': zeros(0, 3)}
for name in 'bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8_e4m3fn float8_e5m2 float16 bfloat16 float32 float64 complex64'.split():
    x[name] = arange(6).view(2, 3).t().contiguous().t().to(float32).to(getattr(torch, name))
save(x, '$f', metadata={'format': 'pt'})" types
run -e "x = load('$data/types.safetensors'); [v.tolist() == [[0, 1, 2], [3, 4, 5]] for k, v in x.items() if v.dim() == 2 and k not in ('bool', 'empty')].count(True), x['bool'].tolist(), x['scalar'], x['empty'].shape"
is 'its values' '(15, [[False, True, True], [True, True, True]], tensor(2.5000, dtype=torch.float64), torch.Size([0, 3]))' "$out"
run -e "x = load('$data/names.safetensors'); sorted(x)"
is 'its names' "['', 'B', 'a', 'b', 'quote \" \\\\ / \\n \\x01 é 😀']" "$out"
run -e "x, m = load('$data/by_hand.safetensors', metadata=True); x, m"
is 'a file made by hand' "({'later': tensor([ 1.5000, -2.0000]), 'first': tensor([True])}, {'made': 'by hand', 'é\\n': '\\x01'})" "$out"

# listing, comparing, streams
run -l "$data/by_hand.safetensors"
is 'a listing' 'name   shape  dtype    bytes  stored
later  [2]    float32      8       8
first  [1]    bool         1       1
total: 2 tensors, 3 elements, 9 bytes
metadata made: by hand
metadata é\n: \x01' "$out"
cp "$data/types.safetensors" "$work/y"
run --diff "$data/types.safetensors" "$work/y"
is 'known by its first bytes' '0 ' "$status $out"
run -I safetensors -e '_["int16"].sum()' <"$work/y"; is 'from standard input' 'tensor(15)' "$out"
run -o safetensors -e '{"a": arange(3)}' && "$tsr" -e '_' <"$work/out" >"$work/again"
is 'to standard output' "{'a': tensor([0, 1, 2])}" "$(cat "$work/again")"

# mapping
cp "$data/types.safetensors" "$f"
run -e "x = load('$f'); x['int32'].zero_(); load('$f')['int32'].sum()"; is 'by default the file is left alone' 'tensor(15)' "$out"
run -e "load('$f', mode='r')['int32'].zero_()"; is "mode 'r' is read-only" 1 "$status"
run -e "x = load('$f', mode='r+'); x['int32'].zero_(); load('$f')['int32'].sum()"; is "mode 'r+' writes through" 'tensor(0)' "$out"
run -e "load('$data/by_hand.safetensors', mode='r+')"
is 'which it can not where elements are not on multiples of their size' "ValueError: $data/by_hand.safetensors: mode 'r+' can't write through to elements that are not as memory has them (byte order, alignment, values of bool)" "$(last)"
run -e "x = load('$f'); y = x['int64']; del x; memory()['mapped'] > 0, y.sum(), inspect(y)['storage_bytes']"
is 'one tensor holds the mapping, and its own bytes' '(True, tensor(15), 48)' "$out"
run -e "x = load('$f'); del x; memory()['mapped']"; is 'which goes with the last of them' 0 "$out"

# what shares memory
shared="RuntimeError: Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them again: 'a' and 'b'"
for b in x 'x[1]' 'x.t()' 'x.view(6)[2:4]'; do
    run -e "x = arange(6.).view(2, 3); save({'a': x, 'b': $b, 'c': zeros(1)}, '$f')"
    is "shared: $b" "$shared" "$(last)"
done
run -e "x = arange(6.).view(2, 3); save({'a': x[0], 'b': x[1], 'c': x[:0], 'd': zeros(2)}, '$f'); load('$f')['b']"
is 'parts of one storage that share nothing' 'tensor([3., 4., 5.])' "$out"
run -e "x = arange(6.).view(2, 3); save({'a': x[:, 0], 'b': x[:, 1]}, '$f'); load('$f')['b']"
is 'among one another, too' 'tensor([1., 4.])' "$out"
run -e "x = arange(3.); save({'a': x, 'b': x}, '$f', untie=True); x = load('$f'); x['a'].zero_(); x['b']"
is 'untie=True writes each' 'tensor([0., 1., 2.])' "$out"
run --untie -o "$f" -e 'x = arange(3.); {"a": x, "b": x.flip(0), "c": x}'; is 'and so does --untie' 0 "$status"

# what it can't hold
refused() { # NAME WANTED CODE
    run -e "save($3, '$f')"
    is "$1" "$2" "$(last)"
}
refused 'one tensor' 'ValueError: safetensors holds tensors with names: save a dict of them' 'ones(3)'
refused 'a dtype' 'ValueError: safetensors has no dtype for torch.complex128' '{"a": ones(3, dtype=complex128)}'
refused 'a sparse tensor' 'ValueError: safetensors holds dense tensors; convert with to_dense()' '{"a": eye(3).to_sparse()}'
refused 'the name of the metadata' "ValueError: safetensors keeps the name '__metadata__' for itself" '{"__metadata__": ones(3)}'
run -e "save({'a': ones(3)}, '$f', metadata={'a': 1})"
is 'metadata that is no text' "TypeError: save(): a value of 'metadata' must be str, not int" "$(last)"
exit $bad
