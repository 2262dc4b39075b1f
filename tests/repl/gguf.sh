# .gguf: ggml's models (tests/oracle/make_gguf.py): packed types give the numbers that ggml gives, keys are kept, what lies is refused.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data/gguf" && pwd)
f=$work/x.gguf

run --diff "$data/packed.gguf" "$data/packed.npz"; is 'every packed type, bit by bit' '0 ' "$status $out$err"
run -e "x = load('$data/plain.gguf'); [(k, v.dtype, v.tolist() == [[0, 1, 2], [3, 4, 5]]) for k, v in x.items()].count((0,)), [str(v.dtype)[6:] for v in x.values()], all([v.tolist() == [[0, 1, 2], [3, 4, 5]] for v in x.values()]), memory()['mapped'] > 0"
is 'plain types are views' "(0, ['float32', 'float16', 'float64', 'int8', 'int16', 'int32', 'int64', 'bfloat16'], True, True)" "$out"
run -e "load('$data/plain.gguf', metadata=True)[1]"
is 'keys and values' "{'general.architecture': 'llama', 'general.description': 'two words', 'a.u32': '7', 'a.i8': '-7', 'a.u64': '18446744073709551615', 'a.f32': '0.1', 'a.f64': '0.1', 'a.bool': 'true', 'a.words': '[\"one\", \"t\\\\\"wo\", \"drei ß\"]', 'a.numbers': '[1, 2, 3]'}" "$out"
run -l "$data/packed.gguf"; is 'a list unpacks nothing' 'q4_k [2, 512] float32 from Q4_K 4096 576' "$(echo "$out" | grep '^q4_k' | tr -s ' ')"
run --max-memory 50K -e "load('$data/packed.gguf')"; is 'unpacked, memory counts' '1' "$status"
run -e 'x = _; x.shape, memory()["peak"]' "$data/packed.gguf:q6_k"; is 'a part unpacks itself alone' '(torch.Size([2, 512]), 4096)' "$out"
run -e "save({'a': arange(6.).view(2, 3).half(), 'b': ones(2, dtype=bfloat16), 'c': ones([])}, '$f', metadata={'general.name': 'x'})" && run -e "load('$f', metadata=True)"
is 'written and read' "({'a': tensor([[0., 1., 2.],
        [3., 4., 5.]], dtype=torch.float16), 'b': tensor([1., 1.], dtype=torch.bfloat16), 'c': tensor(1.)}, {'general.name': 'x'})" "$out"
cp "$data/plain.gguf" "$f"; before=$("$tsr" -l "$f" | grep metadata)
run --in-place -e '{**_, "f32": _["f32"] + 1}' "$f"; is 'in place' "$before" "$("$tsr" -l "$f" | grep metadata)"
head -c 700 "$data/plain.gguf" >"$work/head"
head -c 700 "$f" | cmp -s - "$work/head" && ok 'keys keep their types' || fail 'keys keep their types'
run -o "$f" -e '{**_, "f32": _["f32"] + 1}' "$data/plain.gguf"
head -c 700 "$f" | cmp -s - "$work/head" && ok 'and in another file of the format' || fail 'and in another file of the format'
run --diff "$data/plain.gguf" "$f"; is 'one tensor alone changes' 'f32: 6 of 6 elements differ' "$(echo "$out" | head -1 | cut -d, -f1)"
cp "$data/packed.gguf" "$f"
run --in-place -e '_' "$f"; is 'packed numbers are not written over' "ValueError: $f: it packs its numbers in few bits, and would be written with all of theirs" "$(last)"
run -e "save(ones(2), '$f')"; is 'without a name' 'ValueError: gguf holds tensors with names: save a dict of them' "$(last)"
run -e "save({'a': ones(2, dtype=complex64)}, '$f')"; is 'a dtype it has not' 'ValueError: gguf has no dtype for torch.complex64' "$(last)"
run -e "save({'a' * 64: ones(2)}, '$f')"; is 'a name too long' 'ValueError: gguf has names of 1 to 63 bytes, not of 64' "$(last)"

# forged FILE WANTED: bytes of the header at a place, as printf has them
forged() { # NAME OFFSET BYTES WANTED
    cp "$data/plain.gguf" "$f"
    printf "$3" | dd of="$f" bs=1 seek="$2" conv=notrunc 2>"$work/dd"
    run -e "load('$f')"
    is "refused: $1" "ValueError: $f: $4" "$(last)"
}
forged version 4 '\1' 'gguf version 1 is unknown; 2 and 3 are read'
forged 'big-endian' 4 '\0\0\0\3' 'a gguf file of a big-endian machine, which is not read'
forged 'count of tensors' 8 '\377\377\377\377\377\377\377\377' 'gguf, byte 359: more tensors than the file has room for'
forged 'count of keys' 16 '\377\377\377\377\377\377\377\377' 'gguf, byte 24: more keys than the file has room for'
forged 'length of a name' 24 '\377\377\377\377\377\377\377\177' 'gguf, byte 32: a text is longer than the file'
forged 'type of a value' 52 '\77' 'gguf, byte 56: a value of an unknown type'
run -e "import sys; b = open('$data/plain.gguf', 'rb').read()[:700]; open('$f', 'wb').write(b); load('$f')"
is 'refused: cut off' "1 ValueError: $f" "$status $(last | cut -d: -f1,2)"
exit $bad
