# Every save of the text formats and raw is read back: all dtypes, nan and infinities, empty, 0-d to 4-d, wide integers, names of all kinds.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
cat >save.tsr <<'E2'
floats = [float16, bfloat16, float32, float64]
ends = {torch.uint8: (0, 255), int8: (-128, 127), int16: (-32768, 32767), int32: (-2**31, 2**31 - 1), int64: (-2**63, 2**63 - 1), uint16: (0, 65535), uint32: (0, 2**32 - 1), uint64: (0, 2**64 - 1)}
shapes = [(), (0,), (1,), (5,), (0, 3), (3, 0), (1, 1), (2, 3), (2, 1, 3), (2, 2, 1, 2)]

def values(dtype, shape):
    n = math.prod(shape)
    if dtype == torch.bool:
        return tensor([i % 2 == 0 for i in range(n)], dtype=dtype).view(shape)
    if dtype in ends:
        low, high = ends[dtype]
        return tensor([[low, high, 1, 0][i % 4] for i in range(n)], dtype=dtype).view(shape)
    return tensor([[0.1, -1e-3, math.inf, math.nan, -math.inf, -0.0, 3, 1e4][i % 8] for i in range(n)], dtype=dtype).view(shape)

def same(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype in floats:
        return bool((((a == b) & (a.signbit() == b.signbit())) | (a.isnan() & b.isnan())).all())
    return a.tolist() == b.tolist()

def wanted(x, format):
    """What a format makes of a shape: a table has two dimensions, JSON lines have at least one."""
    if format in ('csv', 'tsv'):
        return x.view(-1, 1) if x.ndim < 2 else x
    return x.view(1) if format == 'jsonl' and x.ndim == 0 else x

def empty(format, x):
    """An empty table or an empty list of lines has no dtype and no width to tell."""
    return x.numel() == 0 and format != 'raw'

failed = 0
for format in ('csv', 'tsv', 'json', 'jsonl', 'raw'):
    for dtype in [torch.bool, *ends, *floats]:
        for shape in shapes:
            x = values(dtype, shape)
            if format in ('csv', 'tsv') and x.ndim > 2 or empty(format, x):
                continue
            path = f't.{format}'
            save(x, path, json_nan='token') if format[0] == 'j' else save(x, path)
            y = load(path, dtype=dtype, shape=shape) if format == 'raw' else load(path, dtype=dtype)
            if not same(wanted(x, format), y):
                failed += 1
                print('differs:', format, dtype, shape, x, y)
for x in (torch.zeros(0), torch.zeros(2, 0), torch.zeros(0, 3)):
    save(x, 't.raw')
    assert load('t.raw', dtype=float32, shape=tuple(x.shape)).shape == x.shape
for x in (tensor([], dtype=float64), torch.zeros(2, 0, dtype=float64)):
    save(x, 't.json')
    assert load('t.json').shape == x.shape
for dtype in (torch.bool, int64, float64):
    x = values(dtype, (2, 3))
    save(x, 't.json', json_nan='token')
    assert same(load('t.json'), x), dtype
save(tensor([2**64 - 1, 0], dtype=uint64), 't.json')
assert load('t.json').dtype == uint64 and load('t.json').tolist() == [2**64 - 1, 0]

names = ['a', 'b "x"', 'c, d', 'e\nf', '', ' g ', 'é', '\t', ';', "'", '漢字', 'a b', '1a', '#', 'nan x']
for format in ('csv', 'tsv', 'json', 'jsonl'):
    save({name: tensor([i, 7.5]) for i, name in enumerate(names)}, f't.{format}')
    back = load(f't.{format}', header=True) if format[2] == 'v' else load(f't.{format}')
    assert (columns(back) if format[2] == 'v' else list(back)) == names, (format, columns(back) if format[2] == 'v' else list(back))
    if format[2] == 'v':
        for i, name in enumerate(names):
            quoted = '"' + name.replace('"', '""') + '"'
            assert load(f't.{format}', header=True, columns=[name])[:, 0].tolist() == [i, 7.5], (format, name)
for delimiter in (' ', ';', '|', '\t'):
    save({name: tensor([1.5, math.nan, -math.inf]) for name in names}, 't.csv', delimiter=delimiter)
    back = load('t.csv', delimiter=delimiter, header=True)
    assert columns(back) == names and back.isnan().sum().item() == len(names), (delimiter, columns(back))

any = [None, True, 1, -2.5, 'x', '', '"\\\n\t\0\x7f', '\ud800', '\udc00\ud800é', [], {}, [[]], [1, [2]], [[1, 2], [3]], {'a': None, 'b': [None, 'x'], '': {'c': [1.5, 2.5]}, 'k\0': 1},
       ['a', ['b', ['c']]], {'a"b': 'x'}, [True, 'x'], [1, None, 'x'], 2**63, -2**63, 2**64 - 1]
def text(path):
    with open(path) as f:
        return f.read()
for x in any:
    save(x, 'a.json')
    save(load('a.json'), 'b.json')
    if text('a.json') != text('b.json'):
        failed += 1
        print('differs:', repr(x), text('a.json'), text('b.json'))
deep = 'x'
for i in range(400):
    deep = [deep] if i % 2 else {'k': deep}
save(deep, 'a.json')
assert load('a.json') == deep
print('failed:', failed)
E2
run save.tsr
is 'every value is read back' 'failed: 0' "$out$(last | grep Error)"

# integers of JSON
json() { # NAME TEXT WANTED NOTE [OPTIONS...]
    printf '%s' "$2" >t.json
    name=$1 wanted=$3 note=$4
    shift 4
    run -e '_.dtype, _.tolist()' "$@" t.json
    is "$name" "$wanted" "$out$(grep Error "$work/err")"
    is "$name: the note" "${note:+tsr: t.json: $note}" "$(grep -q Error "$work/err" || grep '^tsr' "$work/err")"
}
rounds='float64 rounds this whole number'
json 'beside a float' '[0.5,
 9007199254740993]' '(torch.float64, [0.5, 9007199254740992.0])' "line 2, column 2: $rounds"
json 'beside null' '[null, -9007199254740993]' '(torch.float64, [nan, -9007199254740992.0])' "line 1, column 8: $rounds"
json 'that float64 has' '[0.5, 9007199254740994, 1e300]' '(torch.float64, [0.5, 9007199254740994.0, 1e+300])' ''
json 'beside 1.0' '[1.0, 9007199254740993]' '(torch.float64, [1.0, 9007199254740992.0])' "line 1, column 7: $rounds; --dtype int64 keeps it"
json 'beside 1.0, beyond int64' '[1.0, 18446744073709551615]' '(torch.float64, [1.0, 1.8446744073709552e+19])' "line 1, column 7: $rounds; --dtype uint64 keeps it"
json 'beyond 64 bits' '[36893488147419103233]' '(torch.float64, [3.6893488147419103e+19])' "line 1, column 2: $rounds"
json 'beyond int64' '[18446744073709551615, 0]' '(torch.uint64, [18446744073709551615, 0])' ''
json 'beyond int64, and a negative one' '[9223372036854775809, -1]' '(torch.float64, [9.223372036854776e+18, -1.0])' "line 1, column 2: $rounds"
json 'as uint64' '[18446744073709551615, 1.0]' '(torch.uint64, [18446744073709551615, 1])' '' --dtype uint64
json 'as int64, beside 1.0' '[1.0, 9007199254740993]' '(torch.int64, [1, 9007199254740993])' '' --dtype int64
json 'that do not fit' '[18446744073709551616]' 'ValueError: t.json: number 1, 1.8446744073709552e+19, does not fit torch.uint64' '' --dtype uint64
json 'negative as uint64' '[-1]' 'ValueError: t.json: number 1, -1, does not fit torch.uint64' '' --dtype uint64
json 'of uint64 as int64' '[9223372036854775808]' 'ValueError: t.json: number 1, 9.2233720368547758e+18, does not fit torch.int64' '' --dtype int64
printf '{"id": 9007199254740993, "x": 1}\n{"id": null, "x": 2}\n' >t.jsonl
run -e '_["id"].tolist()' t.jsonl; is 'of JSON lines, with a null, exactly' '[9007199254740993, None]' "$out$err"
printf '{"id": 9007199254740993, "x": 1}\n{"id": 0.5, "x": 2}\n' >t.jsonl
run -e '_["x"].tolist()' t.jsonl; is 'beside a fraction' "tsr: t.jsonl: line 1, column 8: $rounds
[1, 2]" "$err
$out"
run -o json -e 'tensor([math.nan, math.inf])'; is 'nan and infinity are null' 'tsr: <stdout>: null stands for 2 numbers that are nan or infinite; --json-nan, or json_nan=, says what else' "$err"
run -o json -e '[math.nan, "x"]'; is 'of a list' 'tsr: <stdout>: null stands for 1 number that is nan or infinite; --json-nan, or json_nan=, says what else' "$err"
run --json -e '[math.nan, "x"]'; is 'of --json' '{"note": "<stdout>: null stands for 1 number that is nan or infinite; --json-nan, or json_nan=, says what else"}' "$err"
run --json --json-nan null -e '[math.nan]'; is 'unless it was asked for, there' '[null]' "$out$err"
run -o jsonl --json-nan null -e 'tensor([math.nan])'; is 'not when that was asked for' 'null' "$out$err"
exit $bad
