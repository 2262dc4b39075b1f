"""Calls over tensors of many sizes, strides and values, in PyTorch and in tsr, compared to the last bit: which operators differ, and by how much.

    python3 tests/oracle/digits.py --tsr build/tsr [--seed N] [--each N] [--op REGEX] [--show N] [--family WORD]
    python3 tests/oracle/digits.py --tsr build/tsr --line 'r = torch.log1p(P["float32 edge"][3:40:2])'     one call, both answers
    python3 tests/oracle/digits.py --tsr build/tsr --seed 7 --each 6 --record tests/data/digits    for tests/repl/digits.sh

The calls are made from the templates below, in which {x}, {y}, {z} stand for tensors of one shape and dtype, <a|b> for one of the words, and @a|b@ for
each of them. Their elements
come from pools, one for each dtype and kind of value, which both programs make by the same exact operations. Prints, for each operator and dtype, how many calls differ
and the largest distance in units of the last place (of the result's dtype; `inf` where one of the two is not finite).
"""
import argparse
import collections
import gzip
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
FLOATS = ["float32", "float64", "float16", "bfloat16"]
SMALL = ["float8_e5m2", "float8_e4m3fn"]
COMPLEX = ["complex64", "complex128"]
INTS = ["uint8", "int8", "int16", "int32", "int64"]
SETS = {"F": FLOATS, "f": FLOATS[:2], "C": COMPLEX, "I": INTS, "B": ["bool"], "S": SMALL, "H": ["complex32"], "U": ["uint16", "uint32", "uint64"], "L": ["int64"]}
POOL = 4096
MANTISSA = {"float32": (23, -126), "float64": (52, -1022), "float16": (10, -14), "bfloat16": (7, -126), "float8_e5m2": (2, -14), "float8_e4m3fn": (3, -6),
            "complex64": (23, -126), "complex128": (52, -1022), "complex32": (10, -14)}
SIZES = [0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 100, 129, 257, 1000]
SHAPES = [[3, 5], [7, 33], [33, 7], [1, 17], [17, 1], [3, 5, 17], [16, 16], [40, 25], [4, 4, 4, 4], [2, 3, 9, 10], [0, 4], [65, 3]]

# ---- the templates: family, dtypes, kinds of values, call ----
KINDS = {"n": ["normal", "normal", "unit", "wide", "edge", "small"], "p": ["positive", "normal"], "u": ["unit", "normal"], "o": ["normal"], "e": ["edge", "wide", "small"]}

sys.path.insert(0, HERE)


def templates():
    from digits_calls import CALLS

    for line in CALLS.splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            family, dtypes, kinds, shapes, call = line.split(None, 4)
            before, *names = re.split(r"@(.*?)@", call)
            for name in names[0].split("|") if names else [""]:
                yield family, [d for s in dtypes for d in SETS[s]], KINDS[kinds], shapes, before + name + "".join(names[1:])


# ---- the calls ----

def tensor_source(rng, dtype, kind, shape, layout):
    n = math.prod(shape)
    base = f'P["{dtype} {kind}"]'
    begin = rng.randrange(0, 64)
    tail = "" if len(shape) == 1 else f".view({', '.join(map(str, shape))})"
    if layout == "step" and n * 3 + 64 < POOL:
        step = rng.choice([2, 3])
        return f"{base}[{begin}:{begin + n * step}:{step}]{tail}"
    if layout == "turned" and len(shape) > 1:
        order = list(range(len(shape)))
        rng.shuffle(order)
        inner = [0] * len(shape)
        for i, o in enumerate(order):
            inner[o] = shape[i]
        return f"{base}[{begin}:{begin + n}].view({', '.join(map(str, inner))}).permute({', '.join(map(str, order))})"
    if layout == "gaps" and len(shape) > 1 and (n // max(shape[-1], 1)) * (shape[-1] + 3) + 64 < POOL:
        wide = shape[:-1] + [shape[-1] + 3]
        return f"{base}[{begin}:{begin + math.prod(wide)}].view({', '.join(map(str, wide))})[..., 1:{shape[-1] + 1}]"
    if layout == "spread" and len(shape) > 1 and n:
        row = [1] + shape[1:]
        return f"{base}[{begin}:{begin + math.prod(row)}].view({', '.join(map(str, row))}).expand({', '.join(map(str, shape))})"
    return f"{base}[{begin}:{begin + n}]{tail}"


def shape_of(rng, shapes):
    if shapes == "*":
        return [rng.choice(SIZES)] if rng.random() < 0.6 else rng.choice(SHAPES)
    if shapes == "1":
        return [rng.choice(SIZES)]
    if shapes == "+":
        return rng.choice(SHAPES)
    return [int(rng.choice(s.split("/"))) for s in shapes.split("x")]


def choose_words(rng, call):
    while True:
        m = re.search(r"<([^<>]*\|[^<>]*)>", call)
        if not m:
            return call
        call = call[:m.start()] + rng.choice(m.group(1).split("|")) + call[m.end():]


def make_call(rng, dtypes, kinds, shapes, call):
    dtype = rng.choice(dtypes)
    shape = shape_of(rng, shapes)
    kind = rng.choice(kinds)
    layouts = ["plain", "plain", "step", "turned", "gaps", "spread"]
    call = choose_words(rng, call)
    call = call.replace("{t}", "torch." + dtype).replace("{d}", dtype).replace("{n}", str(math.prod(shape)))
    for m in sorted(set(re.findall(r"\{([xyzw])(?::([^{}]*))?\}", call))):
        slot, own = m
        own_dtype, own_kind, own_shape = dtype, kind, shape
        for word in own.split(","):
            if word in ("normal", "unit", "positive", "wide", "edge", "small"):
                own_kind = word
            elif word in MANTISSA or word in INTS or word == "bool":
                own_dtype = word
            elif word:
                own_shape = [int(s) for s in word.split("x")]
        text = tensor_source(rng, own_dtype, own_kind, own_shape, rng.choice(layouts))
        call = call.replace("{" + slot + (":" + own if own else "") + "}", text)
    return dtype, call if "r = " in call else "r = " + call


# What both programs run: it makes the pools by operations that are exact, so that no file is needed.
RUNNER = os.path.join(os.path.dirname(HERE), "data/digits/runner.py")


def answers(command, lines, folder):
    """One text a line; 'ended' for a call that ended the program."""
    calls = os.path.join(folder, "calls")
    with open(calls, "w") as f:
        f.writelines(line + "\n" for line in lines)
    found = []
    while len(found) < len(lines):
        p = subprocess.run(command + [RUNNER, calls, str(len(found))], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        found += p.stdout.splitlines()
        if len(found) < len(lines):
            found.append("ended")
    return found


# ---- comparing ----

def unit(dtype, v):
    mantissa, least = MANTISSA[dtype]
    return 2.0 ** (max(math.frexp(v)[1] - 1, least) - mantissa)


def distance(dtype, a, b):
    if a == b and math.copysign(1, a) == math.copysign(1, b) or (a != a and b != b):
        return 0
    if a - a != 0 or b - b != 0 or dtype not in MANTISSA:
        return math.inf
    if a == b:
        return 0.25  # the sign of zero
    return abs(a - b) / unit(dtype, b)


def distances(g, w):
    """The largest distance and the number of elements that differ, or words."""
    if type(g) is not type(w) or not isinstance(g, list):
        return (0, 0) if g == w else "result"
    if g[:1] == ["raised"] or w[:1] == ["raised"]:
        return (0, 0) if g == w else "words" if g[:1] == w[:1] else "accepted" if w[:1] == ["raised"] else "refused"
    if len(g) == 3 and isinstance(g[0], str) and isinstance(g[2], list):
        if len(w) != 3 or g[:2] != w[:2] or len(g[2]) != len(w[2]):
            return "shape"
        if not isinstance(g[2][0] if g[2] else 0.0, float):
            bad = sum(a != b for a, b in zip(g[2], w[2]))
            return (math.inf if bad else 0, bad)
        d = [distance(w[0], a, b) for a, b in zip(g[2], w[2])]
        return max(d, default=0), sum(x > 0 for x in d)
    if len(g) != len(w):
        return "result"
    most, count = 0, 0
    for a, b in zip(g, w):
        d = distances(a, b)
        if isinstance(d, str):
            return d
        most, count = max(most, d[0]), count + d[1]
    return most, count


def read(text):
    return eval(text, {"nan": math.nan, "inf": math.inf}) if text[:1] in "[('\"" else text


def compare(calls, ours, theirs):
    for (family, name, dtype, line), g, w in zip(calls, ours, theirs):
        if g == w:
            yield family, name, dtype, line, None, g, w
        else:
            d = distances(read(g), read(w))
            yield family, name, dtype, line, d if isinstance(d, str) or d[1] else None, g, w


def first_difference(g, w):
    g, w = read(g), read(w)
    if isinstance(g, str) or isinstance(w, str) or g[:1] == ["raised"] or w[:1] == ["raised"]:
        return f"{str(g)[:300]}   PYTORCH {str(w)[:300]}"
    if len(g) == 3 and isinstance(g[0], str) and len(w) == 3 and g[:2] == w[:2] and isinstance(g[2], list):
        bad = [(i, a, b) for i, (a, b) in enumerate(zip(g[2], w[2])) if not (a != a and b != b) and repr(a) != repr(b)]
        return f"{g[0]} {g[1]}: {len(bad)} of {len(g[2])}: " + ", ".join(f"[{i}] {a!r} PYTORCH {b!r}" for i, a, b in bad[:4])
    if len(g) == len(w) and isinstance(g[0], list):
        return " ; ".join(first_difference(str(a), str(b)) for a, b in zip(g, w) if str(a) != str(b))
    return f"{str(g)[:300]}   PYTORCH {str(w)[:300]}"


def record(options, calls, theirs, folder):
    """Writes in one file the calls on which tsr agrees whatever instructions it
    takes, each behind a checksum of its answer. Products of matrices are left out: they are BLAS's, by processor."""
    lines = [line for _, _, _, line in calls]
    agreed = [family != "mat" and w != "ended" and len(w) < 20000 for (family, _, _, _), w in zip(calls, theirs)]
    for isa in ("base", "avx2", "avx512"):
        os.environ["TSR_ISA"] = isa
        ours = answers([options.tsr, "--max-memory", "4G"], lines, folder)
        agreed = [a and g == w for a, g, w in zip(agreed, ours, theirs)]
    with gzip.GzipFile(os.path.join(options.record, "sample.gz"), "wb", 9, mtime=0) as f:
        f.writelines(f"{zlib.crc32(w.encode()):08x}\t{line}\n".encode() for a, line, w in zip(agreed, lines, theirs) if a)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tsr", default="build/tsr")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=20, help="calls of each template")
    parser.add_argument("--op", default="")
    parser.add_argument("--family", default="")
    parser.add_argument("--show", type=int, default=1)
    parser.add_argument("--kinds", help="words: of these kinds of values only")
    parser.add_argument("--line")
    parser.add_argument("--record", help="a folder for the calls on which both agree: tests/data/digits")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    calls = []
    for family, dtypes, kinds, shapes, call in templates():
        kinds = [k for k in kinds if not options.kinds or k in options.kinds.split()] or kinds
        if options.family in family and re.search(options.op, call):
            for _ in range(options.each):
                dtype, line = make_call(rng, dtypes, kinds, shapes, call)
                calls.append((family, call, dtype, line))
    if options.line:
        calls = [("", options.line, "", options.line)]
    with tempfile.TemporaryDirectory() as folder:
        lines = [c[3] for c in calls]
        theirs = answers([sys.executable], lines, folder)
        ours = answers([options.tsr, "--max-memory", "4G"], lines, folder)
        if options.record:
            record(options, calls, theirs, folder)
    if options.line:
        print("tsr     ", ours[0][:3000])
        print("PyTorch ", theirs[0][:3000])
    found, total = collections.defaultdict(list), collections.Counter()
    for family, name, dtype, line, d, g, w in compare(calls, ours, theirs):
        total[name, dtype] += 1
        if d is not None:
            found[family, name, dtype].append((d, line, g, w))
    for (family, name, dtype), list_of in sorted(found.items()):
        worst = max((d[0] for d, _, _, _ in list_of if not isinstance(d, str)), default="")
        words = sorted({d for d, _, _, _ in list_of if isinstance(d, str)})
        print(f"{family:10} {len(list_of):4} of {total[name, dtype]:4}  {worst if worst == '' else format(worst, '.3g'):>8} {' '.join(words)}  {dtype}  {name}")
        for d, line, g, w in list_of[: options.show]:
            print("      " + line + "\n         " + first_difference(g, w)[:900])
    print(f"{len(calls)} calls, {sum(map(len, found.values()))} differ")


if __name__ == "__main__":
    main()
