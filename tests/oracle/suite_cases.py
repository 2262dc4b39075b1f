#!/usr/bin/env python3
"""Write the cases of suites of tests/core with PyTorch and NumPy (pip install torch numpy): suite_cases.py NAME >FILE.

engine, tests/core/engine/engine_cases.def, for test_iter.c and test_copy.c:
STRIDES(number of inputs, {dimensions, sizes, strides, 0} of the result, {the same of each input}): how elementwise
results lie.
OVERLAP({dimensions, sizes, strides, offset} of out, the same of in, whether it is accepted, the buffer afterwards):
`out += in` of two views of one buffer that holds 0, 1, 2, ..., as float32.
COPY(the same of `out.copy_(in)`).

layout, tests/core/tensor/layout_cases.def: GEOMETRY({dimensions, sizes, strides}, is contiguous, in channels last,
dense in some order, overlaps itself (torch._debug_has_internal_overlap), is like channels last, strides of empty_like);
FRESH(dimensions, sizes, strides in row-major order, in channels last or {-1}); VIEW({...}, {dimensions, sizes},
strides or {-1}); EXPAND({...}, {dimensions, sizes}, {dimensions, sizes, strides}, error);
BROADCAST({...}, {...}, {...}, error); INFER(elements, {...}, {...}, error).

gemm, tests/core/engine/gemm_cases.def: DOT(dtype, n, digest): the bytes of the product of two vectors of halves, which
PyTorch sums itself; of others MKL does, whose last digits depend on the processor.
rng, tests/core/engine/rng_cases.def: WORDS(seed, how many words were drawn before, the next four) of NumPy's mt19937;
UNIFORM, DOUBLE and NORMAL(seed, values) of PyTorch's generator, STATE(seed, drawn, digest of get_rng_state()).
print, tests/core/io/print_cases.def: PRINT(dtype, {dimensions, sizes}, options, whether the values are 0, 1, 2, ...,
else the values, text).

A digest is FNV-1a of 64 bits over the bytes. What vectors hold is said at `numbers_of`; number_of in
tests/core/some_tensors.h is the same."""
import random
import sys
import textwrap

import torch

random.seed(15)
torch.set_num_threads(1)
BUFFER = 96


def numbers(values):
    return "{" + ", ".join(map(str, values)) + "}" if values else "{0}"


def row(text):
    print(textwrap.fill(text, 118, subsequent_indent="    "))


def geometry(shape):
    """An input that broadcasts to `shape`: turned, gapped, expanded, channels last, or with dimensions of size 1."""
    sizes = [1 if random.random() < 0.2 else s for s in shape][random.choice([0, 0, 0, 1]) if len(shape) > 1 else 0:]
    if len(sizes) == 4 and random.random() < 0.4:
        return torch.empty(sizes).to(memory_format=torch.channels_last)
    order = list(range(len(sizes)))
    if random.random() < 0.6:
        random.shuffle(order)
    strides, step = [0] * len(sizes), 1
    for d in order[::-1]:
        strides[d] = 0 if random.random() < 0.1 else step
        step *= max(sizes[d], 1) * random.choice([1, 1, 1, 1, 2])
    return torch.empty_strided(sizes, strides)


def strides_case():
    ndim = random.choice([1, 2, 3, 4, 4])
    shape = [random.choice([1, 2, 3, 4, 5, 2, 3, 0 if random.random() < 0.1 else 2]) for _ in range(ndim)]
    n = random.choice([1, 2, 2, 3])
    inputs = [geometry(shape) for _ in range(n)]
    result = [torch.neg, torch.add, torch.addcmul][n - 1](*inputs)
    lie = [f"{{{t.dim()}, {numbers(t.shape)}, {numbers(t.stride())}, 0}}" for t in [result, *inputs]]
    row(f"STRIDES({n}, {lie[0]}, {{{', '.join(lie[1:])}}})")


def view(sizes):
    dense = random.random() < 0.5
    strides, step = [], 1 if dense else random.choice([1, 2, 3])
    for s in sizes[::-1]:
        strides.insert(0, random.choice([step, step, 1, 2, 0 if random.random() < 0.2 else step]))
        step = max(step, strides[0]) * s
    reach = sum((s - 1) * t for s, t in zip(sizes, strides))
    if reach >= BUFFER:
        return view(sizes)
    return sizes, strides, random.randrange(min(BUFFER - reach, 8))


def overlap_case(name, function):
    sizes = [random.choice([2, 3, 5, 20, 33]) for _ in range(random.choice([1, 1, 2]))]
    if len(sizes) == 2 and sizes[0] * sizes[1] > BUFFER:
        sizes = [2, 33]
    out, of = view(sizes), view(sizes)
    buffer = torch.arange(BUFFER, dtype=torch.float32)
    accepted = True
    try:
        function(buffer.as_strided(*out), buffer.as_strided(*of))
    except RuntimeError:
        accepted = False
    if buffer.abs().max() > 2**24:
        return overlap_case(name, function)
    lie = [f"{{{len(g[0])}, {numbers(g[0])}, {numbers(g[1])}, {g[2]}}}" for g in (out, of)]
    row(f"{name}({lie[0]}, {lie[1]}, {str(accepted).lower()}, {numbers([int(v) for v in buffer] if accepted else [])})")


def engine():
    for _ in range(300):
        strides_case()
    for _ in range(60):
        overlap_case("OVERLAP", torch.Tensor.add_)
    for _ in range(50):
        overlap_case("COPY", torch.Tensor.copy_)


def shape_of(sizes):
    return f"{{{len(sizes)}, {numbers(list(sizes))}}}"


def lying(t):
    return f"{{{t.dim()}, {numbers(t.shape)}, {numbers(t.stride())}}}"


def answer(text, error):
    """The end of a row: an error's text in pieces that fit a line."""
    row(text + ("" if error else ' "")'))
    pieces = [(error or "")[i : i + 100] for i in range(0, len(error or ""), 100)]
    for piece in pieces:
        print("    " + quoted(piece) + (")" if piece is pieces[-1] else ""))


def tried(function):
    """What it gives, and the text of its error, of which one is None."""
    try:
        return function(), None
    except RuntimeError as e:
        return None, str(e)


def some_sizes(most=5):
    ndim = random.randrange(most + 1)
    return [random.choice([1, 2, 3, 4, 2, 1, 0 if random.random() < 0.2 else 3]) for _ in range(ndim)]


def some_geometry():
    """Strides of a permuted or gapped tensor, of an expanded one, of a slice, or any."""
    sizes = some_sizes()
    if len(sizes) in (4, 5) and random.random() < 0.4:
        last = torch.channels_last if len(sizes) == 4 else torch.channels_last_3d
        strides = list(torch.empty(sizes, device="meta").to(memory_format=last).stride())
    elif random.random() < 0.7:
        order, strides, step = list(range(len(sizes))), [0] * len(sizes), 1
        if random.random() < 0.6:
            random.shuffle(order)
        for d in order[::-1]:
            strides[d] = step
            step *= max(sizes[d], 1) * random.choice([1, 1, 1, 2])
    else:
        strides = [random.choice([0, 1, 2, 3, 4, 6, 12]) for _ in sizes]
    for d in range(len(sizes)):
        if random.random() < 0.08:
            strides[d] = random.choice([0, 1, 5, 24])
    return torch.empty_strided(sizes, strides)


def layout():
    from torch._prims_common import suggest_memory_format

    for _ in range(400):
        t = some_geometry()
        last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(t.dim())
        facts = [t.is_contiguous(), last is not None and t.is_contiguous(memory_format=last),
                 torch.ops.aten.is_non_overlapping_and_dense(t), torch._debug_has_internal_overlap(t),
                 last is not None and suggest_memory_format(t) == last]
        row(f"GEOMETRY({lying(t)}, {', '.join(str(int(f)) for f in facts)}, {numbers(torch.empty_like(t).stride())})")
    for _ in range(60):
        sizes = some_sizes()
        last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(len(sizes))
        given = numbers(torch.empty(sizes, device="meta", memory_format=last).stride()) if last else "{-1}"
        row(f"FRESH({len(sizes)}, {numbers(sizes)}, {numbers(torch.empty(sizes, device='meta').stride())}, {given})")
    made = 0
    while made < 250:
        t = some_geometry()
        sizes, n = [], t.numel()
        while n > 1 and len(sizes) < 5:
            f = random.choice([d for d in range(1, n + 1) if n % d == 0])
            sizes.append(f)
            n //= f
        sizes = (sizes if n <= 1 else sizes + [n])[:5]
        random.shuffle(sizes)
        if t.numel() == 0:
            sizes = random.choice([[0], [2, 0], [0, 3, 2], list(t.shape)])
        given, error = tried(lambda: t.view(sizes))
        if given is not None or "not compatible" in error:
            row(f"VIEW({lying(t)}, {shape_of(sizes)}, {numbers(given.stride()) if error is None else '{-1}'})")
            made += 1
    for _ in range(150):
        t = some_geometry()
        sizes = [s if random.random() < 0.6 else random.choice([-1, 3, 4, 0, 1, -2]) for s in t.shape]
        more = random.choice([0, 0, 1, 2])
        sizes = [random.choice([2, 1, 0, 3, -1 if random.random() < 0.2 else 4]) for _ in range(more)] + sizes
        if random.random() < 0.05:
            sizes = sizes[1:]
        given, error = tried(lambda: t.expand(sizes))
        if given is not None and min([0, *given.shape]) < 0:
            continue  # of a size below 0 beside one of 0, which PyTorch takes
        answer(f"EXPAND({lying(t)}, {shape_of(sizes)}, {lying(given) if error is None else '{0}'},", error)
    for _ in range(120):
        a, b = some_sizes(), some_sizes()
        if random.random() < 0.6:
            b = [random.choice([s, s, 1]) for s in a][random.randrange(len(a) + 1):]
        given, error = tried(lambda: torch.add(torch.empty(a), torch.empty(b)))
        answer(f"BROADCAST({shape_of(a)}, {shape_of(b)}, {shape_of(given.shape) if error is None else '{0}'},", error)
    wanted = [(6, [-1, 3]), (6, [2, 3]), (6, [-1, 4]), (6, [-1, -1]), (0, [-1, 0]), (0, [0, 3]), (0, [0, -1]),
              (0, [-1, 3]), (6, []), (1, []), (6, [-2, 3]), (6, [3, -5]), (6, [7]), (6, [0]), (6, [0, -1]), (0, [2, 2]),
              (1, [-1]), (1, [1, 1, -1]), (24, [2, -1, 3]), (6, [2**40, 2**40]), (0, [0, 2**40, 2**40]),
              (0, [2**40, 2**40, 0]), (0, [2**31, 0, 2**31]), (0, [0, 2**62, 4]), (6, [-1, 2**62, 4]),
              (0, [5, 0, 2**31, 2**32]), (0, [2**62, 1, 2**61, 3 * 2**61, 0, 2]), (0, [3, 0, 2**62, 6]),
              (0, [0, 2**63 - 1, 2])]
    for n, sizes in wanted:
        given, error = tried(lambda: torch.empty(n).view(sizes))
        answer(f"INFER({n}, {shape_of(sizes)}, {shape_of(given.shape) if error is None else '{0}'},", error)


def digest(t):
    value = 0xCBF29CE484222325
    for byte in t.contiguous().view(-1).view(torch.uint8).tolist():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"0x{value:016X}"


def numbers_of(n, start):
    """n numbers in [-0.5, 0.5): (i * 7919 % 104729) / 104729 - 0.5 for i from start on, as float64."""
    return ((torch.arange(start, start + n, dtype=torch.int64) * 7919 % 104729).double() / 104729 - 0.5)


def name_of(dtype):
    return "TSR_" + str(dtype)[6:].upper()


def gemm():
    for dtype in [torch.float16, torch.bfloat16]:
        for n in [1, 2, 3, 5, 8, 12, 15, 16, 17, 31, 40, 63, 64, 65, 80, 100, 127, 128, 200, 1024, 1030, 1100, 2051]:
            x, y = numbers_of(n, 0).to(dtype), numbers_of(n, 1000).to(dtype)
            print(f"DOT({name_of(dtype)}, {n}, {digest(torch.dot(x, y))})")


def rng():
    import numpy

    for seed in [0, 1, 42, 123456789, 2**32 - 1]:
        words = numpy.frombuffer(numpy.random.RandomState(seed).bytes(4 * 2000), dtype="<u4")
        for drawn in [0, 1, 620, 623, 624, 1247, 1248, 1990]:
            print(f"WORDS({seed}u, {drawn}, {{{', '.join(f'{w}u' for w in words[drawn:drawn + 4])}}})")
    for seed in [0, 42, 67280421310721]:
        torch.manual_seed(seed)
        row(f"UNIFORM({seed}, {{{', '.join(float(torch.rand(())).hex() for _ in range(4))}}})")
        torch.manual_seed(seed)
        row(f"DOUBLE({seed}, {{{', '.join(float(torch.rand((), dtype=torch.float64)).hex() for _ in range(4))}}})")
        torch.manual_seed(seed)
        row(f"NORMAL({seed}, {{{', '.join(float(torch.randn((), dtype=torch.float64)).hex() for _ in range(5))}}})")
    for seed in [0, 5, 2**40 + 3]:
        for doubles in [0, 1, 3, 312, 700]:
            torch.manual_seed(seed)
            for _ in range(doubles):
                torch.randn((), dtype=torch.float64)
            print(f"STATE({seed}, {doubles}, {digest(torch.get_rng_state())})")


def in_c(value):
    return {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}.get(str(value), repr(value))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


# dtype, sizes, what set_printoptions is told, values
PRINTED = [
    ("float32", [4], {}, [1, 2, 3, 4]),
    ("float32", [3], {}, [1.5, -2.25, 1000]),
    ("float32", [3], {}, [1e-5, 1, 100]),
    ("float32", [2], {}, [1e9, 1]),
    ("float32", [4], {}, [float("nan"), float("inf"), -float("inf"), 1]),
    ("float32", [2], {}, [float("nan"), float("inf")]),
    ("float32", [], {}, [0.1]),
    ("float32", [0], {}, []),
    ("float32", [0, 3], {}, []),
    ("float64", [2, 2], {}, [0.1, 0.2, 0.3, 0.4]),
    ("float16", [3], {}, [0.1, 65504, -1]),
    ("bfloat16", [2], {}, [0.1, 3e38]),
    ("int64", [2, 3], {}, [1, -20, 300, 4, 5, 6]),
    ("int32", [2], {}, [7, 8]),
    ("uint8", [2], {}, [255, 0]),
    ("bool", [2, 2], {}, [1, 0, 0, 1]),
    ("int64", [1100], {}, range(1100)),
    ("int64", [40, 30], {}, range(1200)),
    ("float32", [12, 10, 11], {}, range(1320)),
    ("float32", [30], {}, range(30)),
    ("float32", [2, 30], {}, [i / 7 for i in range(60)]),
    ("float32", [2, 1, 2, 2], {}, range(8)),
    ("float32", [3], {"precision": 2}, [1.23456, 2, 3]),
    ("float32", [3], {"precision": 0}, [1.5, 2.5, 3.5]),
    ("float32", [3], {"sci_mode": True}, [1.5, 2, 3]),
    ("float32", [3], {"sci_mode": False}, [1e-6, 2, 3e5]),
    ("int64", [20], {"threshold": 10}, range(20)),
    ("int64", [20], {"threshold": 10, "edgeitems": 1}, range(20)),
    ("int64", [6, 6], {"threshold": 10, "edgeitems": 2}, range(36)),
    ("int64", [20], {"linewidth": 40}, range(20)),
    ("float32", [12], {"linewidth": 30, "precision": 1}, [i / 3 for i in range(12)]),
    ("float32", [7], {"threshold": 6, "edgeitems": 3}, range(7)),
    ("float32", [6], {"threshold": 5, "edgeitems": 3}, range(6)),
    ("complex64", [2], {}, [1.5, -2]),
    ("float32", [2], {}, [-0.0, 0.0]),
    ("float32", [2, 2], {}, [1e-4, 1, 2, 3]),
    ("float32", [2], {}, [0.99e-4, 1e-4]),
    ("float32", [2], {}, [1e8, 1e8]),
    ("float32", [2], {}, [1.01e8, 1e8]),
    ("float32", [2], {}, [1.5, 1501]),
    ("float32", [2], {}, [1.5, 1499]),
    ("float32", [2], {}, [123456.5, 1000.25]),
]


DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": -1}


def print_():
    for dtype, shape, options, values in PRINTED:
        x = torch.tensor([float(v) for v in values], dtype=torch.float64).to(getattr(torch, dtype)).view(shape)
        torch.set_printoptions(profile="default")
        torch.set_printoptions(**options)
        known = DEFAULTS | {k: int(v) for k, v in options.items()}
        counted = values == range(len(values)) and len(values) > 40
        given = [] if counted else [in_c(float(v)) for v in values]
        row(f"PRINT(TSR_{dtype.upper()}, {{{len(shape)}, {numbers(shape)}}}, {numbers(known.values())}, "
            f"{str(counted).lower()}, {numbers(given)},")
        for line in repr(x).split("\n")[:-1]:
            print("    " + quoted(line + "\n"))
        print("    " + quoted(repr(x).split("\n")[-1]) + ")")


{"engine": engine, "layout": layout, "gemm": gemm, "rng": rng, "print": print_}[sys.argv[1]]()
