# .pt: PyTorch's files (tests/oracle/make_pt.py) are read without running anything, what tsr writes comes back, what is damaged is refused by name.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data/pt" && pwd)
f=$work/x.pt
all=$data/everything.pt

run -e "x = load('$all'); [str(v.dtype)[6:] == k and v.double().tolist() in ([[0, 1, 2], [3, 4, 5]], [[0, 1, 1], [1, 1, 1]]) for k, v in x['tensors'].items() if not v.is_complex()].count(True), x['tensors']['complex64'].tolist()"
is 'every dtype' '(15, [[0j, (1+0j), (2+0j)], [(3+0j), (4+0j), (5+0j)]])' "$out"
run -e "x = load('$all'); x['again'] is x['base'], x['transposed'].stride(), [x['base'].untyped_storage().data_ptr() == v.untyped_storage().data_ptr() for v in (x['row'], x['transposed'], x['state']['weight'])], x['loop'][1] is x['loop']"
is 'sharing' '(True, (1, 3), [True, True, True], True)' "$out"
run -e "x = load('$all'); x['row'].zero_(); x['base']"; is 'a write shows in the other views' 'tensor([[0., 1., 2.],
        [0., 0., 0.]])' "$out"
run -e "x = load('$all'); [x[k] for k in ('conj', 'neg', 'scalar', 'empty', 'parameter')], x['conj'].is_conj(), x['neg'].is_neg()"
is 'tensors of all kinds' '([tensor([1.-2.j]), tensor([-2.]), tensor(2.5000), tensor([], size=(0, 3)), tensor([1., 1.])], True, True)' "$out"
run -e "x = load('$all'); [x[k] for k in ('none', 'true', 'false', 'float', 'complex', 'text', 'set', 'size', 'dtype', 'device', 'tuples', 7, (1, 2))], x['bytes'] == bytes(range(256)), type(x['state']).__name__"
is 'values of all kinds' "([None, True, False, 1.5, (1+2j), 'héllo 😀\\n', {3}, torch.Size([2, 3]), torch.bfloat16, device(type='cpu'), [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], 'key', 'key'], True, 'OrderedDict')" "$out"
run -e "load('$all')['ints'] == [0, 255, 256, 65536, -1, -70000, 2**31, 2**63, -(2**63), 2**64, -(2**100)]"; is 'ints of all lengths' True "$out"
run -e "load('$data/tensor.pt'), load('$data/big_endian.pt')"
is 'one tensor, and another order of bytes' '(tensor([0, 1, 2]), tensor([[0., 1., 2.],
        [3., 4., 5.]]))' "$out"
cp "$data/tensor.pt" "$work/y" && run -e _ "$work/y"; is 'known by its first bytes' 'tensor([0, 1, 2])' "$out"
python3 - "$data/tensor.pt" "$work/again.pt" <<'P'
import sys, zipfile
old, new = zipfile.ZipFile(sys.argv[1]), zipfile.ZipFile(sys.argv[2], "w")
for name in reversed(old.namelist()): new.writestr(name, old.read(name))
P
run -e _ "$work/again.pt"; is 'packed again, with another member first' 'tensor([0, 1, 2])' "$out"
"$tsr" -o "$work/arrays.npz" -e '{"a": arange(3)}' && cp "$work/arrays.npz" "$work/arrays.pt"
run -e _ "$work/arrays.pt"; is "another program's archive" "ValueError: $work/arrays.pt: an archive without data.pkl is none of PyTorch's" "$(last)"
run -I npz -e _ "$work/arrays.pt"; is 'read as what it is' "{'a': tensor([0, 1, 2])}" "$out"
run -e _ - <"$data/tensor.pt"; is 'from standard input' 'tensor([0, 1, 2])' "$out"

# written again: the same values, the same sharing (tests/oracle/make_pt.py --check compares in PyTorch)
run -e "save(load('$all'), '$f')"
run --diff "$all" "$f"; is 'written and read' '0 ' "$status $out"
run -e "x = load('$f'); x['again'] is x['base'], x['loop'][1] is x['loop'], x['row'].untyped_storage().data_ptr() == x['base'].untyped_storage().data_ptr(), x['conj'].is_conj(), x['neg'].is_neg(), load('$f')['transposed'].stride()"
is 'with its sharing' '(True, True, True, True, True, (1, 3))' "$out"
run -o pt -e '[1, arange(3)]' && "$tsr" -e _ <"$work/out" >"$work/again"
is 'through a pipe' '[1, tensor([0, 1, 2])]' "$(cat "$work/again")"
run -e "save(zeros(1000)[3], '$f')"
is 'a view drags its storage along, which is said' "note: $f: storages of 4000 bytes were written, of which the tensors reach 4; compact=True (--compact) writes those" "$err"
run -l "$f"; is 'and listed' '(tensor) [] float32 4 4000' "$(tail -1 "$work/out" | tr -s ' ')"
run --compact -o "$f" -e 'arange(1000)[3:9:2]'; is 'unless it is to be compact' '' "$err"
run -e "load('$f'), load('$f').untyped_storage().nbytes()"; is 'a view of its own' '(tensor([3, 5, 7]), 24)' "$out"
run -e "x = arange(100).view(10, 10); save([x[2], x[4, 3:5]], '$f', compact=True); y = load('$f'); y, y[0].untyped_storage().nbytes(), y[0].untyped_storage().data_ptr() == y[1].untyped_storage().data_ptr()"
is 'views that share go on sharing' '([tensor([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]), tensor([43, 44])], 200, True)' "$out"

# what it names is never called
run -e "load('$data/opaque.pt', unknown='error')"
is 'an unknown class' "ValueError: $data/opaque.pt: 'opaque/data.pkl': it names collections.Counter, which is not among the few names that are read, and nothing in a file is called" "$(last)"
run -e "x = load('$data/opaque.pt'); x"
is 'read as something opaque' "{'a': tensor([1., 1.]), 'counter': <opaque collections.Counter>, 'numpy': [3.0]}" "$out"
for name in system eval; do
    run -e "x = load('$data/bad_$name.pt'); x, list(x)"
    case $out in "(<opaque posix.system>, [0])"|"(<opaque __builtin__.eval>, [0])") ok "$name is not called" ;; *) fail "$name is not called: $out" ;; esac
done

# one odd entry loses no other
for name in odd old_odd numpy1; do
    p=$data/$name.pt
    run -e "x = load('$p'); x['w'], x['array'].tolist(), x['fortran'].stride(), x['fortran'].tolist(), x['empty'].shape, x['zero'], x['scalars']"
    is "$name: arrays and numbers" '(tensor([1., 1.]), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], (1, 2), [[0, 1, 2], [3, 4, 5]], torch.Size([0, 3]), tensor(2.5000, dtype=torch.float64), [3.5, -7, True, (1+2j), 0.5, '"<opaque numpy.$([ $name = numpy1 ] || echo _)core.multiarray.scalar>])" "$out"
    run -e "x = load('$p'); [x[k].to_dense().tolist() for k in ('sparse', 'hybrid', 'csr', 'csc')], x['sparse'].is_coalesced(), x['hybrid'].is_coalesced(), [str(x[k].layout)[6:] for k in ('sparse', 'csr', 'csc')]"
    is "$name: sparse tensors" "([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 0.0], [4.0, 6.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]], True, False, ['sparse_coo', 'sparse_csr', 'sparse_csc'])" "$out"
    run -e "x = load('$p'); x['attributed'], x['parameter'], x['net'].fc.weight, x['net']['mean'], x['net'].dims, x['args'].lr, x['args'].weights, x['args'].me is x['args']"
    is "$name: what odd things hold" '(tensor([7.]), tensor([8.]), tensor([[0., 1.],
        [2., 3.],
        [4., 5.]]), tensor([1., 2.]), (2, 3), 0.1, tensor([5.]), True)' "$out"
    run -e "x = load('$p'); x['point'][0], x['slots'].a, x['slots'].b, x['names']['a'], x['row'][0], x['default']['k'], x['partial'][0], x['quantised']"
    is "$name: and how they were made" '(tensor([3.]), tensor([1.]), 2, tensor([6.]), tensor([9.]), tensor([4.]), <opaque __builtin__.getattr>, tensor([1., 1., 1.]))' "$out"
    run -e "x = load('$p'); [x[k] for k in ('objects', 'fields', 'texts', 'args', 'net', 'colour', 'class', 'known', 'layout', 'frozen')], [str(k) for k in x if not isinstance(k, str)]"
    is "$name: shown by name" "([<opaque numpy.ndarray>, <opaque numpy.ndarray>, <opaque numpy.ndarray>, <opaque argparse.Namespace>, <opaque models.Net>, <opaque models.Colour>, <opaque torch.nn.modules.linear.Linear>, <opaque collections.OrderedDict>, <opaque torch.strided>, <opaque __builtin__.frozenset>], ['<opaque models.Colour>'])" "$out"
    run -e '_["w"].sum()' "$p"; is "$name: from the command line" 'tensor(2.)' "$out"
    run -l "$p"; is "$name: listed" '0 w [2] float32 8 8' "$status $(sed -n 2p "$work/out" | tr -s ' ')"
    is "$name: with what is odd" 'net <opaque models.Net>' "$(grep '^net ' "$work/out" | tr -s ' ')"
    is "$name: and its tensors" 'net._modules.fc._parameters.weight [3, 2] float32 24 24' "$(grep 'fc._parameters.weight' "$work/out" | tr -s ' ')"
    for use in '+ 1' '(1)' '.shape' '.sum()' '[0][0][0][0]' '.__class__.__base__.__subclasses__()'; do
        run -e "load('$p')['colour']$use"; is "$name: can't be used: $use" 1 "$status"
    done
    run -e "save(load('$p'), '$f')"; is "$name: nor written" 1 "$status"
done
run -e "load('$data/odd.pt')['w']"
is 'quantised tensors are told of' "tsr: $data/odd.pt: 1 quantised tensor is given as the float32 numbers that it stands for" "$err"
run -e "load('$data/device.pt')[0]"; is 'a device keeps its number' "device(type='cuda', index=1)" "$out"
run -l "$data/device.pt"; is 'a storage is listed on one line' '[1] <UntypedStorage of 12 bytes>' "$(sed -n 3p "$work/out" | tr -s ' ')"
run -e "x = load('$data/module.pt'); x, x.fc.bias.shape, x.training, [k for k in x if k[0] != '_']"
is 'a whole module' "(<opaque models.Net>, torch.Size([3]), True, ['training', 'dims'])" "$out"
run -e "x = load('$data/old_everything.pt'); y = load('$all'); [(k, x['tensors'][k].dtype, x['tensors'][k].tolist()) for k in x['tensors']] == [(k, y['tensors'][k].dtype, y['tensors'][k].tolist()) for k in y['tensors']], x['again'] is x['base'], x['loop'][1] is x['loop'], x['row'].untyped_storage().data_ptr() == x['base'].untyped_storage().data_ptr()"
is 'the format before 1.6' '(True, True, True, True)' "$out"
run --diff "$data/old_everything.pt" "$all"; is 'holds the same' '0 ' "$status $out"
cp "$data/old_everything.pt" "$work/z" && run -e 'len(_)' "$work/z"; is 'is known by its first bytes' 27 "$out"
run -e 'len(_)' - <"$data/old_everything.pt"; is 'and read from standard input' 27 "$out"
run -e "load('$data/opaque.pt')['counter'].most_common()"
is 'which can not be used' "AttributeError: a value of collections.Counter can't be used ('most_common'): it was read from a file as something opaque" "$(last)"
run -l "$data/opaque.pt"; is 'listed' 'counter <opaque collections.Counter>' "$(sed -n 3p "$work/out" | tr -s ' ')"
run -e "save(load('$data/opaque.pt'), '$f')"; is 'nor written' "TypeError: save(): a .pt file can't hold a value of type opaque" "$(last)"
run -e "save({'f': len}, '$f')"; is 'a function is not written' "TypeError: save(): a .pt file can't hold a value of type builtin_function_or_method" "$(last)"
run -e "x = []
for i in range(600): x = [x]
save(x, '$f')"; is 'nor what is nested too deep' 'ValueError: save(): values nested deeper than 500 can'\''t be written' "$(last)"
run -e "x = arange(4.); save([x, x.view(int32)], '$f')"
is 'nor one storage as two dtypes' 'RuntimeError: Cannot save multiple tensors or storages that view the same data as different types' "$(last)"
run -e "save([eye(2).to_sparse()], '$f')"; is 'nor sparse tensors' 'ValueError: sparse tensors are not written; convert with to_dense()' "$(last)"
run -e "save([empty(2, device='meta')], '$f')"; is 'nor what has no elements' 'ValueError: a tensor on the meta device has no elements to write' "$(last)"

refused() { # NAME WANTED
    run -e "load('$data/bad_$1.pt', unknown='error')"
    is "refused: $1" "ValueError: $data/bad_$1.pt: $2" "$(last)"
}
named=', which is not among the few names that are read, and nothing in a file is called'
p="'archive/data.pkl': "
refused system "${p}it names posix.system$named"
refused eval "${p}it names __builtin__.eval$named"
refused outside "${p}byte 149: a tensor that reaches beyond its storage"
refused overflow "${p}byte 149: a tensor that reaches beyond its storage"
refused negative "${p}byte 149: a tensor whose sizes and strides are none"
refused stride "${p}byte 149: a tensor whose sizes and strides are none"
refused missing "the storage '1' is not in the archive"
refused elsewhere "the storage '../../0' is not in the archive"
refused count "the storage '0' has other than the 24 bytes that are there"
refused class "${p}byte 82: a storage of an unknown class"
refused opcode "${p}byte 2: the opcode 0x49, which torch.save never writes"
refused protocol "${p}a pickle of protocol 4, where 2 is read"
refused no_end "${p}byte 3: the pickle has no end"
refused more "${p}byte 4: bytes behind the pickle's end"
refused two "${p}byte 5: the pickle ends with other than one value"
refused empty "${p}byte 3: the pickle ends with other than one value"
refused mark "${p}byte 3: a mark is missing"
refused across_mark "${p}byte 5: too few values for a container"
refused memo "${p}byte 4: what was never put aside"
refused memo_far "${p}byte 8: a place put aside out of turn"
refused append "${p}byte 5: items for what is no list"
refused setitem "${p}byte 6: items for what is no dict"
refused odd "${p}byte 6: a key without a value"
refused key "${p}byte 6: a key that can't be one"
refused name "${p}byte 15: a name where a value was expected"
refused build "${p}byte 5: attributes for what has none"
refused utf8 "${p}byte 8: a text that is not UTF-8"
refused long "${p}byte 7: the pickle ends inside a value"
refused deep "${p}byte 2002: values nested too deep"
refused copies "${p}byte 2193: the same values are copied too often"
refused old_version 'a version of PyTorch'\''s files that is unknown'
refused old_key 'a storage that nothing in the file speaks of, and so has no known size'
run -e "load('$data/bad_states.pt')"
case $(last) in *'the same values are copied too often') ok 'refused: states' ;; *) fail 'refused: states' ;; esac
run -e "load('$data/bad_old_short.pt')"
case $(last) in *'is cut off') ok 'refused: old_short' ;; *) fail 'refused: old_short' ;; esac
run -e "load('$data/bad_old_count.pt')"
case $(last) in *'has another number of elements than its tensors say') ok 'refused: old_count' ;; *) fail 'refused: old_count' ;; esac
run -e "load('$data/bad_sparse.pt')"
is 'refused: sparse' 'RuntimeError: size is inconsistent with indices: for dim 0, size is 2 but found index 5' "$(last)"
refused byteorder "'archive/byteorder': an unknown order of bytes"
run -e "load('$data/bad_itself.pt')"; is 'a list in a tuple in itself' '[([...],)]' "$out"
run -e "load('$all', mode='r+')"; is "mode 'r+'" "ValueError: $all: mode 'r+' can't write through to an archive, whose checksums would be wrong then" "$(last)"

# under PyTorch's own names
run -e "d = {'w': ones(2), 'step': 3}; torch.save(d, '$f'); print(torch.load('$f', map_location='cpu', weights_only=True), torch.load(open('$f', 'rb'), lambda storage, place: storage)['step'])"
is 'torch.save and torch.load' "{'w': tensor([1., 1.]), 'step': 3} 3" "$out"
run -e "torch.load('$f', map_location={'cuda:0': 'cuda:1'})"
case $(last) in "RuntimeError: Attempting to deserialize object on a CUDA device"*) ok 'no CUDA' ;; *) fail 'no CUDA' ;; esac
run -e "a = arange(6.); torch.save({'a': a[1:4], 'b': a, 't': ones(2, 3).t()}, '$f'); x = torch.load('$f', 'meta'); x['a'].device, x['a'].shape, x['a'].storage_offset(), x['t'].stride(), x['b'].untyped_storage().nbytes()"
is 'meta keeps geometry' "(device(type='meta'), torch.Size([3]), 1, (1, 3), 24)" "$out"
run -e "torch.load('$f', 'xpu')"; is 'no other device' "ValueError: load(): storages can be mapped to the cpu, cuda and meta, not to xpu" "$(last)"
run -e "torch.load('$f.none', map_location='cuda')"; is 'the file comes before the device' "FileNotFoundError: [Errno 2] No such file or directory: '$f.none'" "$(last)"
# What PyTorch sets on a module's state goes along: a module that is loaded looks at its versions.
versions="OrderedDict([('', {'version': 1}), ('0', {'version': 1}), ('1', {'version': 2})])"
run -e '_["state"]._metadata' "$data/state.pt"; is 'the versions of a state' "$versions" "$out"
cp "$data/state.pt" "$work/state.pt"
run --in-place -e '_["state"]["0.bias"] *= 2; _' "$work/state.pt"
run -e '_["state"]._metadata' "$work/state.pt"; is 'written in place' "$versions" "$out"
run -o "$work/copy.pt" -e 'import copy
copy.deepcopy(_["state"])' "$data/state.pt"
run -e '_._metadata' "$work/copy.pt"; is 'and of a copy' "$versions" "$out"
run -e "import collections; s = collections.OrderedDict(a=1); s.note = {'by': s, 'n': 3}; save(s, '$f'); t = load('$f'); t.note['by'] is t, t.note['n']"; is 'what it holds may hold it' '(True, 3)' "$out"
echo 1,2 >"$work/d.csv"
run -e "torch.load('$work/d.csv')"; is 'and no other format' 1 "$status"
exit $bad
