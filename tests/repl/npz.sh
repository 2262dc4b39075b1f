# .npz: NumPy's archives (tests/oracle/make_npz.py) are read, whoever packed them; what tsr writes comes back; what is damaged is refused by name.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data/npz" && pwd)
f=$work/x.npz

run -e "x = load('$data/types.npz'); [v.tolist() == [[0, 1, 2], [3, 4, 5]] for k, v in x.items() if k != 'bool'].count(True), x['fortran'].stride(), x['scalar'], x['empty'].shape, x['big endian'], x['bool'].tolist(), x['é😀']"
values="(14, (1, 2), tensor(2.5000, dtype=torch.float64), torch.Size([0, 3]), tensor([0, 1, 2], dtype=torch.int32), [[False, True, True], [True, True, True]], tensor([1.], dtype=torch.float64))"
is 'every dtype' "$values" "$out"
run --diff "$data/types.npz" "$data/types_deflated.npz"; is 'deflated the same' '0 ' "$status $out"
for options in '' ', compress=True'; do
    run -e "save(load('$data/types.npz'), '$f'$options)"
    run --diff "$data/types.npz" "$f"; is "written and read$options" '0 ' "$status $out"
done
run -e "save(load('$data/types.npz'), '$f'); x = load('$f'); x['fortran'].stride(), memory()['mapped'] > 0"
is 'what tsr stores is mapped' '((1, 2), True)' "$out"
if python3 -c 'import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None and "é😀.npy" in z.namelist()' "$f"; then ok 'another program reads the archive'; else fail 'another program reads the archive'; fi
run -o npz -e 'arange(3)' && "$tsr" -l - <"$work/out" >"$work/list"
is 'one tensor, to standard output and from standard input' 'arr_0 [3] int64 24 24' "$(tail -1 "$work/list" | tr -s ' ')"
for name in folders streamed wide dots; do
    run -e "load('$data/$name.npz')"
    case $name in
    folders) wanted="{'x/a': tensor([1]), 'plain': tensor([2])}" ;;
    streamed) wanted="{'a': tensor([1, 2, 3]), 'b': tensor([4.], dtype=torch.float64)}" ;;
    wide) wanted="{'a': tensor([1, 2, 3])}" ;;
    dots) wanted="{'../../a': tensor([1]), '/b': tensor([2])}" ;;
    esac
    is "$name" "$wanted" "$out"
done
cp "$data/nothing.npz" "$f" && run -e "len(load('$f'))"; is 'nothing' 0 "$out"
run -e "save({}, '$f')" && cmp -s "$f" "$data/nothing.npz" && ok 'nothing, written' || fail 'nothing, written'
cp "$data/types.npz" "$work/y" && run -l "$work/y"; is 'known by its first bytes' 0 "$status"
run -e "load('$data/types.npz', mode='r+')"
is "mode 'r+'" "ValueError: $data/types.npz: mode 'r+' can't write through to an archive, whose checksums would be wrong then" "$(last)"
run -e "save({'a': ones(2, dtype=bfloat16)}, '$f')"; is 'a dtype that npy has not' 'ValueError: npy has no dtype for torch.bfloat16' "$(last)"

# an archive of many zeros is small
run -e "save({'a': zeros(4000000)}, '$f', compress=True); save({'a': zeros(4000000)}, '$work/stored.npz')"
[ "$(wc -c <"$f")" -lt 20000 ] && ok 'compressed' || fail 'compressed'
run --max-memory 8M -e "load('$f')"
is 'and too large for the limit' "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 16000128 bytes. Error code 12 (Cannot allocate memory)" "$(last)"
run --max-memory 8M -e "load('$work/stored.npz')['a'].sum()"; is 'stored it is mapped, which does not count' 'tensor(0.)' "$out"
run -e "save({str(i): zeros(500000) for i in range(20)}, '$f', compress=True)"
run --max-memory 8M -e "load('$f')"
case "$status $(last)" in "1 RuntimeError: "*"can't allocate memory"*) ok 'and many that are too large together' ;; *) fail "and many that are too large together: $err" ;; esac
printf x | dd of="$work/stored.npz" bs=1 seek=1000000 conv=notrunc 2>"$work/err"
is 'a wrong checksum is seen in memory' "ValueError: <stdin>: 'a.npy': its checksum is wrong: the file is damaged" \
    "$(cat "$work/stored.npz" | "$tsr" -e 'load("-", format="npz")' 2>&1 | tail -1)"

refused() { # NAME WANTED
    run -e "load('$data/bad_$1.npz', unknown='error')"
    is "refused: $1" "ValueError: $data/bad_$1.npz: $2" "$(last)"
}
refused checksum "'a.npy': its checksum is wrong: the file is damaged"
refused checksum_deflated "'a.npy': its checksum is wrong: the file is damaged"
refused bytes "'a.npy': its compressed bytes are damaged"
refused twice "the name 'a.npy' is there twice"
refused twice_stripped "the name 'a' is there twice"
refused encrypted "'a.npy': it is encrypted"
refused method "'a.npy': its compression is neither none nor deflate"
refused name "'a.npy': its header has another name than the directory"
refused sizes "'a.npy': it is stored, but in another size than its own"
refused bomb "'a.npy': so many bytes can't be inflated from what is there"
refused shape "'a.npy': it says that it has 192 bytes, the directory of the archive 200"
refused short "'a.npy': the shape needs 72 bytes of data from byte 128 on, there are 64"
refused text "'a.txt': it is no npy file"
refused objects "'a.npy': it holds pickled objects (dtype '|O'), which are never executed"
refused nested "'b.npy': its bytes are another member's, too"
refused nul "'a': a NUL in its name"
refused utf8 "'\\xff.npy': its name is not UTF-8"
refused overlap "'b.npy': its bytes are another member's, too"
refused prefix 'its name says npz, but its content is not'
run -e "load('$data/bad_prefix.npz', format='npz')"; is 'nor by force' "ValueError: $data/bad_prefix.npz: the directory of its archive is damaged" "$(last)"
refused count 'the directory of its archive is damaged'
refused behind 'the end of a zip archive is missing or damaged'
refused wide_disagrees 'the end of a zip archive is missing or damaged'
refused wide_far 'the end of a zip archive is missing or damaged'
refused wide_short 'the directory of its archive is damaged'
refused wide_twice 'the directory of its archive is damaged'
run -e "load('$data/wide_directory.npz')['a'].sum()"; is 'a directory in 64 bits' 'tensor(0., dtype=torch.float64)' "$out"
refused end 'the end of a zip archive is missing or damaged'
exit $bad
