"""Random calls of everything that tsr's table of operators offers, with PyTorch's answers, compared with tsr's.

    python3 tests/oracle/calls.py --tsr build/tsr [--seed N] [--calls N] [--op WORD] [--keep FILE] [--show N]
    python3 tests/oracle/calls.py --tsr build/tsr --record FILE [--seed N] [--calls N]   those on which both agree: the sample under tests/data/calls
    python3 tests/oracle/calls.py --tsr build/tsr --line 'a = ...; r = torch.neg(a)'     one call, both answers

A call is a line of source that means the same in Python and tsr, so each finding can be tried as it is. The arguments come from the rows'
schemas (tsr --print-man schemas), from the signatures of what is written in the language (tsr --print-man ops), and from the shapes and
values that tests/core/op/op_hints.def knows operators to need; some are wrong on purpose. A seed gives the same calls each time.
PyTorch runs in a process of its own: what ends or hangs it is skipped and counted. tests/repl/oracle_calls.tsr compares, and lists the permitted differences.
"""
import argparse
import collections
import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
COMPARE = os.path.join(HERE, "..", "repl", "oracle_calls.tsr")
FUNCTION, METHOD, INPLACE, OUT, PROPERTY, INPLACE_ONLY, INPLACE_FUNCTION = 1, 2, 4, 8, 16, 32, 64
RANDOM, HIDDEN = 1 << 11, 1 << 13  # TSR_OP_RANDOM, TSR_OP_HIDDEN (src/core/op.h)

FLOATS = ["float32", "float64", "float16", "bfloat16"]
SMALL_FLOATS = ["float8_e5m2", "float8_e4m3fn"]
COMPLEX = ["complex64", "complex128", "complex32"]
RANGES = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-2 ** 15, 2 ** 15 - 1), "int32": (-2 ** 31, 2 ** 31 - 1), "int64": (-2 ** 63, 2 ** 63 - 1),
          "uint16": (0, 2 ** 16 - 1), "uint32": (0, 2 ** 32 - 1), "uint64": (0, 2 ** 64 - 1)}
DTYPES = (["float32"] * 8 + ["float64"] * 4 + ["float16", "bfloat16"] * 3 + ["int64"] * 4 + ["int32", "int16", "int8", "uint8"] * 2 + ["bool"] * 3
          + ["complex64"] * 3 + ["complex128"] * 2 + ["complex32", "uint16", "uint32", "uint64"] + SMALL_FLOATS)
REAL_OF = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}
EXTREMES = {"float32": ["1e-45", "1e-38", "3.4e38", "-3.4e38", "16777217.0"], "float64": ["5e-324", "1e-308", "1.7e308", "-1e300", "9007199254740993.0"],
            "float16": ["6e-08", "65504.0", "-65504.0", "2049.0"], "bfloat16": ["1e-40", "3e38", "-3e38", "257.0"], "float8_e5m2": ["57344.0", "1.6e-05"],
            "float8_e4m3fn": ["448.0", "0.002"]}

# What takes its time, waits, ends the program, changes what later calls do, or tells of the machine.
SKIPPED = set("""set_ set_default_dtype set_default_device set_num_threads set_printoptions manual_seed seed initial_seed get_rng_state set_rng_state data_ptr share_memory_ pin_memory
    is_pinned typename from_file frombuffer from_numpy numpy __array__ save load compile _values _indices _coalesced_ _nnz print set_flush_denormal cuda apply_ map_ map2_ use_deterministic_algorithms
    element_size get_default_dtype get_num_threads version set_float32_matmul_precision set_num_interop_threads storage untyped_storage dlpack from_dlpack to_dlpack
    register_hook retain_grad requires_grad_ backward _is_view is_shared resize_storage module_load storage_type share_memory record_stream
    vmap cond while_loop sym_int sym_float sym_not sym_max sym_min sym_sum sym_sqrt sym_ite batch_norm_update_stats lobpcg svd_lowrank pca_lowrank dim_order get_device_module""".split())


# ---- what there is to call ----

def split_top(text):
    """Splits at commas outside brackets and quotes."""
    parts, depth, begin, quoted = [], 0, 0, None
    for i, c in enumerate(text):
        if quoted:
            quoted = None if c == quoted else quoted
        elif c in "'\"":
            quoted = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [p for p in parts + [text[begin:].strip()] if p]


class Param:
    def __init__(self, text, keyword_only):
        m = re.match(r"(\S+?(?:\([^)]*\))?\S*) (\w+)(?:=(.*))?$", text)
        self.type, self.name, self.default = m.group(1), m.group(2), m.group(3)
        self.keyword_only = keyword_only
        self.kind = re.sub(r"\([^)]*\)|\?|\[.*?\]|Sym", "", self.type).lower()
        array = re.search(r"\[(\d*)\]", self.type)
        self.array, self.fixed = array is not None, int(array.group(1) or 0) if array else 0
        self.optional = self.type.endswith("?") or self.default == "None"


class Row:
    def __init__(self, forms, flags, category, name, params):
        self.forms, self.flags, self.category, self.name, self.params = forms, flags, category, name, params


def parse_schema(schema):
    name, rest = schema.split("(", 1)
    params, keyword_only = [], False
    for p in split_top(rest[: rest.rindex("->")].rstrip()[:-1]):
        if p == "*":
            keyword_only = True
        else:
            params.append(Param(p, keyword_only))
    return name, params


def table_rows(tsr):
    rows = []
    for line in subprocess.run([tsr, "--print-man", "schemas"], capture_output=True, text=True, check=True).stdout.splitlines():
        forms, flags, category, schema = line.split("\t")
        name, params = parse_schema(schema)
        base = name.rsplit(".", 1)[-1]
        if base not in SKIPPED and not name.startswith(("_", "sparse.")) and "sparse" not in base and category != "sparse":
            rows.append(Row(int(forms), int(flags), category, name, params))
    return rows


# Types of the parameters of functions without a schema, by name; those not here go by their default.
TENSORS = """input other target tensor weight bias anchor positive negative input1 input2 x1 x2 mask x y values log_probs query key value attn_mask var std mean
    running_mean running_var u v embeddings""".split()
GUESSED = {"dim": "int", "dims": "int[]", "axis": "int", "size": "int[]", "p": "float", "eps": "float", "n": "int", "tensors": "Tensor[]", "kernel_size": "int", "stride": "int", "padding": "int",
           "output_size": "int", "num_classes": "int", "margin": "float", "reduction": "str", "mode": "str", "dtype": "ScalarType", "sym": "bool", "M": "int", "norm": "str",
           "scale_factor": "float", "upscale_factor": "int", "downscale_factor": "int", "groups": "int", "num_groups": "int", "repeats": "int", "sizes": "int[]", "shape": "int[]"}


def guess_type(name, default):
    if name in TENSORS:
        return "Tensor?" if default == "None" else "Tensor"
    if name in GUESSED:
        return GUESSED[name] + ("?" if default == "None" else "")
    if default in ("True", "False"):
        return "bool"
    if default is None or default == "None":
        return "Tensor" if default is None else None
    if default[0] in "'\"":
        return "str"
    return "float" if re.match(r"-?\d*\.\d*|-?\d+e", default) else "int" if re.match(r"-?\d+$", default) else None


def written_rows(tsr):
    """What stands under COMPOSITIONS: torch.NAME(signature)"""
    page = subprocess.run([tsr, "--print-man", "ops"], capture_output=True, text=True, check=True).stdout
    page = page[page.index(".SH COMPOSITIONS\n"):].replace("\\-", "-").replace("\\e", "\\").replace("\n             ", " ")
    rows, known = [], set()
    for space in ("", "Tensor", "nn.functional", "linalg", "fft", "special", "signal.windows"):
        for heading, body in re.findall(r"^\.SS (\S+)\n\.nf\n(.*?)^\.fi", page, re.M | re.S):
            parent, _, base = heading.rpartition(".")
            m = re.search(r"^[\w.]*\b" + re.escape(base) + r"\(((?:[^()]|\([^()]*\))*)\)", body, re.M)
            if parent != space or m is None or base in SKIPPED or base.startswith("_") or "*" in m.group(1).replace(" ", "").replace("*,", "") or heading in known:
                continue
            known.add(heading)
            params, keyword_only = [], False
            for p in split_top(re.sub(r"\s+", " ", m.group(1))):
                name, _, default = p.partition("=")
                default = default or None
                kind = guess_type(name, default)
                if p == "*":
                    keyword_only = True
                elif kind is not None and p != "/":
                    params.append(Param(kind + " " + name + ("" if default is None else "=" + default), keyword_only))
            rows.append(Row(METHOD if space == "Tensor" else FUNCTION, 0, "written", base if space == "Tensor" else heading, params))
    return rows


# ---- hints ----

def read_hints():
    text = open(os.path.join(HERE, "..", "core", "op", "op_hints.def")).read()
    return [m for m in re.findall(r'^HINT\("([^"]*)", "([^"]*)", "([^"]*)", (\w+)\)', text, re.M)]


HINTS = read_hints()


def find_hint(name, param):
    if name.endswith(("logdet", "det")) and param in ("self", "A"):
        return (name, param, "*nn", "DEFINITE")
    best = ("", "", "", "ANY")
    for h in HINTS:
        fits = name.startswith(h[0][:-1]) if h[0].endswith("*") else name == h[0]
        if h[1] == param and fits and len(h[0]) > len(best[0]):
            best = h
    return best


# ---- one call ----

WORDS = {"reduction": "mean sum none", "mode": "nearest bilinear constant reflect", "approximate": "none tanh", "ord": "fro nuc", "padding_mode": "zeros border",
         "return_complex": "", "side": "left right", "rounding_mode": "floor trunc", "norm": "ortho forward backward", "indexing": "ij xy", "correction": "0", "driver": "gesvd"}
WRONG = ["'abc'", "None", "1.5", "(1, 2)", "torch.float32", "True", "[]", "-1", "7", "2j", "torch.tensor([1, 2, 3])", "torch.tensor(2.5)", "slice(None)"]


def product(sizes):
    return math.prod(sizes)


class Call:
    """One call in the making: `steps` are the assignments before it."""

    def __init__(self, rng, row):
        self.rng, self.row = rng, row
        self.dtype = rng.choice(DTYPES)
        self.wild = rng.random() < 0.35
        self.extreme = self.wild and rng.random() < 0.5
        self.plain = rng.random() < 0.45
        self.ndim = rng.choice([0, 1, 1, 2, 2, 2, 3, 4])
        self.sizes = [rng.choice([1, 2, 2, 3, 3, 4]) for _ in range(self.ndim)]
        self.letters = {c: rng.choice([1, 2, 2, 3, 3, 4]) for c in "abcdefghijklmnopqrstuvwxyz"}
        way = rng.random()
        if way < 0.1 and self.ndim:
            self.sizes[rng.randrange(self.ndim)] = 0
            self.letters[rng.choice("nmkbc")] = 0
        elif way < 0.3:
            self.letters[rng.choice("nmk")] = rng.choice([1, 5, 7, 8, 9])
            if self.ndim in (1, 2):
                self.sizes[rng.randrange(self.ndim)] = rng.choice([1, 7, 8, 9, 16, 17, 33])
        self.steps, self.names, self.first = [], "", None

    def letter(self, c):
        return 0 if c == "." else int(c) if c.isdigit() else self.letters[c]

    # -- tensors --

    def shape(self, hint):
        rng = self.rng
        if hint[2]:
            text, sizes = hint[2], []
            if text[0] == "*":
                sizes, text = self.sizes[:2], text[1:]
            sizes = sizes + [self.letter(c) for c in text if c not in ".="]
            return sizes if rng.random() > 0.04 else sizes[1:] if rng.random() < 0.5 else [2] + sizes
        way = 9 if self.first is None else rng.randrange(8)
        if way == 5:
            return self.sizes[1:]
        if way == 6:
            return [1 if rng.random() < 0.5 else n for n in self.sizes]
        if way == 7:
            return [] if rng.random() < 0.6 else [rng.choice([0, 1, 2, 3]) for _ in range(rng.randrange(3))]
        return list(self.sizes)

    def dtype_for(self, values):
        rng = self.rng
        fixed = {"INDEX": "int64", "INT64S": "int64", "INT32S": "int32", "BOOLS": "bool"}
        if values in fixed:
            return fixed[values] if rng.random() > 0.08 else rng.choice(DTYPES)
        if values == "FLOATS":
            return self.dtype if self.dtype in FLOATS else "float32"
        if values == "REAL":
            return REAL_OF.get(self.dtype, self.dtype)
        return rng.choice(DTYPES) if self.first is not None and rng.random() < 0.2 else self.dtype

    def number(self, dtype, values):
        rng = self.rng
        if dtype == "bool":
            return rng.choice(["True", "False"])
        if values == "INDEX":
            top = max(1, min([n for n in self.sizes + [self.letters["k"]] if n > 0] or [1]))
            return str(rng.randrange(top) if rng.random() > 0.03 else rng.choice([-1, top, 5]) if dtype not in RANGES or RANGES[dtype][0] < 0 else 5)
        if values == "INT32S":
            return str(rng.randrange(1, 3))
        if dtype in RANGES:
            low, high = RANGES[dtype]
            if self.extreme and rng.random() < 0.3:
                return str(rng.choice([low, high, high - 1, low + 1, high // 2 + 1]))
            return str(max(low, rng.randrange(0 if values in ("POSITIVE", "UNIT") else -5, 9)))
        if dtype in COMPLEX:
            re_, im = self.real(REAL_OF[dtype], values), self.real(REAL_OF[dtype], values)
            return f"complex({re_}, {im})" if "n" in re_ + im or im.startswith("-") else f"{re_}+{im}j"
        return self.real(dtype, values)

    def real(self, dtype, values):
        rng = self.rng
        if values == "UNIT":
            return repr(rng.randrange(5) / 4)
        if values == "POSITIVE":
            return repr(rng.randrange(1, 17) / 4)
        if self.wild and rng.random() < 0.3:
            odd = ["nan", "inf", "-inf", "0.0", "-0.0", "0.5", "1.0"] if dtype != "float8_e4m3fn" else ["nan", "0.0", "-0.0", "1.0"]
            return rng.choice(odd + (EXTREMES[dtype] if self.extreme else []))
        return repr(rng.randrange(-16, 17) / 4)

    def definite(self, n, dtype):
        rows = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i):
                rows[i][j] = rows[j][i] = self.rng.randrange(-8, 9) / 4
            rows[i][i] = min(8.0 * n + i, 100.0)
        flat = [x for r in rows for x in r]
        return [str(int(abs(x))) if dtype in RANGES else "True" if dtype == "bool" else repr(x) for x in flat]

    def source_of(self, sizes, dtype, values):
        rng, base, view = self.rng, list(sizes), ""
        way = "plain" if self.plain or values == "DEFINITE" else rng.choice(["plain", "transposed", "offset", "stepped", "expanded", "strided"])
        n = len(sizes)
        if way == "transposed" and n > 1:
            i, j = rng.sample(range(n), 2)
            base[i], base[j] = base[j], base[i]
            view = ".t()" if n == 2 else f".transpose({i}, {j})"
        elif way == "offset":
            d = rng.randrange(n) if n else 0
            base = [2] if n == 0 else base[:d] + [base[d] + 1] + base[d + 1:]
            view = "[1]" if n == 0 else f"[{':, ' * d}1:]"
        elif way == "stepped" and n:
            d = rng.randrange(n)
            base[d] *= 2
            view = f"[{':, ' * d}::2]"
        elif way == "expanded" and n:
            d = rng.randrange(n)
            base[d] = 1
            view = f".expand({sizes})"
        elif way == "strided" and n > 1:
            base[-1] += 1
            view = f"[..., :{sizes[-1]}]"
        count = product(base)
        if count == 0:
            text = f"torch.empty({base}, dtype=torch.{dtype})"
        else:
            if values == "DEFINITE" and n > 1 and base[-1] == base[-2]:
                some = self.definite(base[-1], dtype)
            else:
                some = [self.number(dtype, values) for _ in range(min(count, rng.choice([3, 5, 8, 12])))]
            if values == "RISING":
                some = sorted(some, key=lambda x: float(x) if re.match(r"-?[\d.e]+$", x) else 0)
            if len(base) == 0:
                text = f"torch.tensor({some[0]}, dtype=torch.{dtype})"
            else:
                data = "[" + ", ".join(some) + "]"
                if len(some) < count:
                    data += f" * {-(-count // len(some))}"
                    if count % len(some):
                        data = f"({data})[:{count}]"
                text = f"torch.tensor({data}, dtype=torch.{dtype})" + (f".view({base})" if len(base) != 1 else "")
        if dtype in COMPLEX and rng.random() < 0.1:
            view += ".conj()"
        return text + view

    def name(self, source, sizes):
        name = "abcdefghij"[len(self.names)]
        self.names += name
        self.steps.append(f"{name} = {source}")
        if self.first is None:
            self.first = sizes
        return name

    def tensor(self, hint):
        if self.names and self.rng.random() < 0.05:
            return self.rng.choice(self.names)
        sizes = self.shape(hint)
        while product(sizes) > 300:
            sizes = [min(n, 4) for n in sizes]
            sizes = sizes[1:] if product(sizes) > 300 else sizes
        return self.name(self.source_of(sizes, self.dtype_for(hint[3]), hint[3]), sizes)

    # -- the other kinds --

    def scalar(self):
        rng = self.rng
        way = rng.random()
        if way < 0.1:
            return rng.choice(["nan", "inf", "-inf", "-0.0", "2 ** 40", "-1", "300", "1e30", "2 ** 63", "-2 ** 63", "0"])
        if self.dtype in COMPLEX and way < 0.5:
            return f"{rng.randrange(-8, 9) / 4}+{rng.randrange(5) / 2}j"
        if way < 0.4 or (self.dtype in FLOATS and way < 0.7):
            return repr(rng.randrange(-12, 13) / 4)
        return rng.choice(["True", "False"]) if self.dtype == "bool" and way < 0.7 else str(rng.randrange(-2, 5))

    def is_dim(self, name):
        return name.startswith(("dim", "axis")) or name in ("source", "destination", "start_dim", "end_dim")

    def dim(self):
        n = max(1, len(self.first) if self.first is not None else self.ndim)
        return self.rng.choice([n, -n - 1, 5, -7]) if self.rng.random() < 0.06 else self.rng.randrange(-n, n)

    def integer(self, p, hint):
        if p.name in ("interpolation_mode", "padding_mode"):  # PyTorch leaves what the memory held for others
            return self.rng.randrange(3)
        if hint[2] and self.rng.random() < 0.8:
            return self.letter(hint[2][0] if hint[2][0] != "=" else hint[2][1])
        if self.is_dim(p.name):
            return self.dim()
        return self.rng.choice([0, 1, 1, 2, 2, 3, 3, -1, -2, 4])

    def integers(self, p, hint):
        rng, sizes = self.rng, list(self.first if self.first is not None else self.sizes)
        if hint[2] and rng.random() < 0.85:
            return [self.letter(c) for c in hint[2]]
        if p.name in ("size", "sizes", "shape"):
            return rng.choice([sizes, sizes, sizes[::-1], [-1], [product(sizes)], sizes + [1], [1] + sizes])
        if self.is_dim(p.name):
            if "permute" in self.row.name or "dims" == p.name and rng.random() < 0.3:
                order = list(range(len(sizes)))
                rng.shuffle(order)
                return [d - len(sizes) if rng.random() < 0.2 else d for d in order]
            some = [d for d in range(len(sizes)) if rng.random() < 0.5]
            return some if rng.random() > 0.15 else [self.dim() for _ in range(rng.randrange(4))]
        if p.name == "stride" and not p.fixed:
            out, step = [], 1
            for n in reversed(sizes):
                out.insert(0, step)
                step *= max(n, 1)
            return out
        return [rng.choice([0, 1, 1, 2, 2, 3]) for _ in range(p.fixed or rng.randrange(1, 4))]

    def argument(self, p):
        """Its source; None: leave it out."""
        rng, hint = self.rng, find_hint(self.row.name, p.name)
        if p.default is not None and rng.random() < 0.5:
            return None
        if p.optional and rng.random() < 0.15:
            return "None"
        if p.kind in ("layout", "device", "generator") or p.name in ("requires_grad", "pin_memory"):
            return None if p.default is not None or p.optional else "torch.strided" if p.kind == "layout" else "'cpu'" if p.kind == "device" else None
        if p.array and p.kind != "tensor" and p.fixed and rng.random() < 0.3:
            return str(self.integer(p, hint))
        if p.kind == "tensor":
            if not p.array:
                return self.tensor(hint)
            n = p.fixed or rng.choice([0, 1, 2, 2, 3] if rng.random() < 0.3 else [1, 2, 3])
            return "[" + ", ".join(self.tensor(hint) for _ in range(1 if hint[3] == "RISING" else n)) + "]"
        if p.kind in ("scalar", "any"):
            if p.array:
                return "[" + ", ".join(self.scalar() for _ in range(len(self.first or []))) + "]"
            return str(self.integer(p, hint)) if hint[2] and rng.random() < 0.7 else self.scalar()
        if p.kind == "int":
            return str(self.integers(p, hint)) if p.array else str(self.integer(p, hint))
        if p.kind == "float":
            one = lambda: repr(rng.randrange(5) / 4 if hint[3] == "UNIT" else rng.randrange(-4, 9) / 4)
            return "[" + ", ".join(one() for _ in range(2)) + "]" if p.array else one()
        if p.kind == "bool":
            return "[True]" if p.array else rng.choice(["True", "False"])
        if p.kind == "str":
            words = hint[2] if hint[2][:1].isalpha() and len(hint[2]) > 2 else WORDS.get(p.name, "mean sum none")
            return repr(rng.choice(words.split() or ["mean"]))
        if p.kind == "scalartype":
            return "torch." + rng.choice(DTYPES)
        if p.kind == "memoryformat":
            return rng.choice(["torch.contiguous_format", "torch.preserve_format", "torch.channels_last"])
        return None

    def form(self):
        """How the row is called: of its forms, one."""
        forms, rng = self.row.forms, self.rng
        choices = []
        if forms & PROPERTY:
            return "property"
        if forms & FUNCTION:
            choices += ["function"] * 3
        if forms & METHOD:
            choices += ["method"] * 2
        if forms & INPLACE:
            choices += ["inplace"] * 2
        if forms & INPLACE_FUNCTION:
            choices += ["inplace function"]
        if forms & INPLACE_ONLY:
            choices += ["itself"]
        if forms & OUT:
            choices += ["out"] * 2
        return rng.choice(choices) if choices else "function"

    def outs(self):
        """Tensors to write into: of the first argument's shape, empty, or of another."""
        rng, count = self.rng, 2 if rng_many(self.row) else 1
        names = []
        for k in range(count):
            sizes = rng.choice([list(self.first or self.sizes)] * 4 + [[0]] * 3 + [[], [2], list(self.sizes)])
            if product(sizes) > 300:
                sizes = [0]
            dtype = self.dtype if rng.random() < 0.7 else rng.choice(DTYPES)
            if k > 0:
                dtype = "int64" if rng.random() < 0.8 else dtype
            names.append(self.name(self.source_of(sizes, dtype, "ANY"), sizes) if not (self.names and rng.random() < 0.06) else rng.choice(self.names))
        return names

    def source(self):
        """(names, written, source)"""
        rng, row = self.rng, self.row
        form = self.form()
        base = row.name.rsplit(".", 1)[-1]
        given = []
        for p in row.params:
            given.append((p, self.argument(p)))
        if rng.random() < 0.06 and len(given) > 1:
            i = rng.randrange(1, len(given))
            given[i] = (given[i][0], rng.choice(WRONG))
        written = ""
        extra = []
        if form == "out":
            outs = self.outs()
            written = "".join(sorted(set(outs)))
            extra = ["out=" + (outs[0] if len(outs) == 1 else f"({', '.join(outs)})")]
        if rng.random() < 0.01:
            extra.append("nope=1")
        receiver = None
        if form in ("method", "inplace", "itself", "property"):
            if not given or given[0][1] is None:
                return None
            receiver, given = given[0][1], given[1:]
            if form in ("inplace", "itself"):
                written = receiver if len(receiver) == 1 else ""
        elif form == "inplace function" and given:
            written = given[0][1] or ""
        skipped, texts, keywords = False, [], []
        for p, text in given:
            if text is None:
                skipped = True
            elif p.keyword_only or skipped or keywords or rng.random() < 0.08:
                name = "input" if p.name == "self" else p.name
                keywords.append(f"{name}={text}")
            else:
                texts.append(text)
        if rng.random() < 0.015 and texts:
            texts.pop()
        if rng.random() < 0.01:
            texts.append(rng.choice(WRONG))
        path = "F." + row.name[len("nn.functional."):] if row.name.startswith("nn.functional.") else "torch._C._nn." + row.name[7:] if row.name.startswith("_C._nn.") else "torch." + row.name
        if form == "property":
            call = f"{receiver}.{base}"
        else:
            called = {"method": f"{receiver}.{base}", "inplace": f"{receiver}.{base}_", "itself": f"{receiver}.{base}", "inplace function": path + "_"}.get(form, path)
            call = f"{called}({', '.join(texts + keywords + extra)})"
        if row.flags & RANDOM or re.search(r"dropout|rand|normal|gumbel|init\.|rrelu|fractional|bernoulli|multinomial", row.name):
            self.steps.append("torch.manual_seed(7)")
        return self.names, written, "; ".join(self.steps + [f"r = {call}"])


MANY = set("max min median nanmedian mode kthvalue topk sort cummax cummin aminmax frexp linalg.qr qr slogdet linalg.slogdet linalg.eig linalg.eigh geqrf linalg.inv_ex linalg.cholesky_ex triangular_solve lu_unpack".split())


def rng_many(row):
    return row.name in MANY


# Factors that are determined but for signs, phases or order.
MANY_ANSWERS = "svd linalg_svd eig eigh symeig qr geqrf lu lu_factor lu_factor_ex _lu_with_info ldl_factor ldl_factor_ex orgqr ormqr householder_product lstsq".split()

# How far values may be apart: `0` not at all, `p` some units of the last place of each, `s` of the largest number in play, `-` values are not compared.
def room_of(row):
    base = row.name.rsplit(".", 1)[-1]
    if base.startswith(("empty", "new_empty", "resize_")) or base in MANY_ANSWERS:
        return "-"
    if "window" in base or base.startswith("logaddexp"):
        return "s"
    if row.category in ("view", "create", "index", "sort", "assemble"):
        return "0" if base not in ("gradient", "cov", "corrcoef", "trapezoid", "trapz", "cumulative_trapezoid", "index_add", "index_reduce", "scatter_reduce", "scatter_add", "put", "logspace", "linspace", "histc", "quantile", "nanquantile", "vander", "renorm", "cross", "histogram", "histogramdd", "cartesian_prod", "bincount", "scatter") else "s"
    if row.category in ("pointwise", "random", "random and creation"):
        return "p"
    if row.category == "special":
        return "q"
    return "s"


# ---- a call that PyTorch accepts, made wrong in one place ----

FAULTS = ["dtype", "dtype", "shape", "shape", "argument", "argument", "argument", "number", "number", "missing", "one more", "unknown keyword", "name"]


def one_fault(rng, source):
    """The source with one thing wrong; None when the kind of fault chosen has no place in it."""
    steps = source.split("; ")
    made = [i for i, s in enumerate(steps) if re.match(r"[a-j] = ", s)]
    m = re.match(r"(r = [\w.]+\()(.*)\)$", steps[-1])
    given = split_top(m.group(2)) if m else []
    kind = rng.choice(FAULTS)
    if kind == "dtype" and made:
        i = rng.choice(made)
        if re.search("nan|inf|e[0-9]|[0-9]{6}", steps[i]):  # of which no integer is made twice alike
            return None
        steps[i] += ".to(torch." + rng.choice(DTYPES + SMALL_FLOATS) + ")"
    elif kind == "shape" and made:
        i = rng.choice(made)
        steps[i] += rng.choice(["[None]", "[..., None]", "[None][:0]", ".flatten()", ".flatten()[:2]", "[None][..., :1]", "[None].transpose(0, -1)"])
    elif kind in ("argument", "number", "missing", "name") and given:
        i = rng.randrange(len(given))
        if given[i].startswith("out="):  # PyTorch's parser takes anything for the out= of some functions
            return None
        if kind == "argument":
            given[i] = (given[i].split("=")[0] + "=" if re.match(r"\w+=", given[i]) else "") + rng.choice(WRONG)
        elif kind == "missing":
            given.pop(i)
        elif kind == "name" and re.match(r"\w+=", given[i]):
            given[i] = "x" + given[i]
        else:
            numbers = [k for k, g in enumerate(given) if re.search(r"(^|=)-?\d+$", g)]
            if not numbers:
                return None
            i = rng.choice(numbers)
            given[i] = re.sub(r"-?\d+$", str(rng.choice([99, -99, 0, 1, 5, -2])), given[i])
        steps[-1] = m.group(1) + ", ".join(given) + ")"
    elif kind in ("one more", "unknown keyword") and m:
        given.append("nope=1" if kind == "unknown keyword" else rng.choice(WRONG))
        if kind == "one more" and any(re.match(r"\w+=", g) for g in given[:-1]):
            return None
        steps[-1] = m.group(1) + ", ".join(given) + ")"
    else:
        return None
    return "; ".join(steps)


def calls_of(rows, seed, count, word):
    rng = random.Random(seed)
    if word:
        rows = [r for r in rows if re.search(word, r.name)]
    made = 0
    while made < count:
        row = rng.choice(rows)
        try:
            made_call = Call(rng, row).source()
        except (IndexError, ValueError):
            continue
        if made_call is None:
            continue
        names, written, source = made_call
        made += 1
        yield room_of(row), names, written, source


# ---- PyTorch's side: a process of its own, whose forks answer a file of calls line by line ----

def answer_lines(path, begin, out):
    import resource
    import warnings

    resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))
    import torch
    import torch.nn.functional

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    space = {"torch": torch, "F": torch.nn.functional}
    exec(open(os.path.join(HERE, "described.tsr")).read(), space)
    start = dict(space)
    with open(path) as f, open(out, "a") as answers:
        for i, line in enumerate(f):
            if i < begin:
                continue
            _, names, written, source = line.rstrip("\n").split("\t")
            space = dict(start)

            def run():
                exec(source, space)
                return space["r"]

            answer = start["answer_of"](lambda: [space[n] for n in names], names, written, run)
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def answer_all(path, count, out):
    """Answers in a fork of this process, which has PyTorch started; in another from the next call on when one ended or hung it. Prints how many did."""
    import torch
    import torch.nn.functional

    torch.set_num_threads(1)
    lost = done = 0
    while done < count:
        child = os.fork()
        if child == 0:
            try:
                answer_lines(path, done, out)
            finally:
                os._exit(0)
        last, since = os.path.getsize(out), time.time()
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            time.sleep(0.02)
            size = os.path.getsize(out)
            if size != last:
                last, since = size, time.time()
            elif time.time() - since > 12:
                os.kill(child, signal.SIGKILL)
        with open(out) as f:
            done = sum(1 for _ in f)
        if done < count:
            lost += 1
            done += 1
            with open(out, "a") as f:
                f.write("null\n")
    print(lost)


def ask_torch(path, count, out):
    """Writes the answers, one a line; null for what ended or hung PyTorch, and says how many these are."""
    open(out, "w").close()
    command = [sys.executable, __file__, "--answer", path, str(count), out]
    return int(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout.split()[-1])


# ---- tsr's side ----

def run_tsr(tsr, path, loud):
    command = [tsr, "--max-memory", "4G", COMPARE, path] + (["loud"] if loud else [])
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=300)
        return p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired as e:
        return "hang", (e.stdout or b"").decode(), ""


def compare(tsr, records):
    """[(kind, record, detail)] and how many were compared, of records in order: those after one that ended tsr are run in another process."""
    findings, compared = [], 0
    while records:
        with tempfile.NamedTemporaryFile("w", suffix=".calls", delete=False) as f:
            f.writelines(records)
        status, out, err = run_tsr(tsr, f.name, False)
        if status != 0:
            status, out, err = run_tsr(tsr, f.name, True)
        os.unlink(f.name)
        at = [int(line[2:]) for line in out.splitlines() if line.startswith("@ ")]
        for line in out.splitlines():
            if not line.startswith("@ ") and line.count("\t") >= 2:
                kind, i, detail = line.split("\t", 2)
                findings.append((kind, records[int(i)], detail))
        if status == 0:
            return findings, compared + len(records)
        if not at:
            raise SystemExit(f"tsr: {status}: {err[-2000:]}")
        findings.append(("crash", records[at[-1]], f"{status}: {err[-300:]}"))
        compared += at[-1] + 1
        records = records[at[-1] + 1:]
    return findings, compared


def with_answers(lines, calls, answers):
    with open(calls, "w") as f:
        f.writelines("\t".join(c) + "\n" for c in lines)
    lost = ask_torch(calls, len(lines), answers)
    with open(answers) as f:
        return [c + [a] for c, a in zip(lines, f) if a != "null\n"], lost


def make_records(rows, seed, count, word, folder):
    """Lines of calls with their answers; how many PyTorch did not survive."""
    calls, answers = os.path.join(folder, "calls"), os.path.join(folder, "answers")
    rng, made = random.Random(seed), (list(c) for c in calls_of(rows, seed, count, word))
    chosen = list(itertools.islice(made, count * 2 // 3))
    records, lost = with_answers(chosen, calls, answers)
    wrong = []
    while len(wrong) < count - len(chosen) and records:
        room, names, written, source, answer = rng.choice(records)
        if not answer.startswith('["raised '):
            faulty = one_fault(rng, source)
            if faulty is not None:
                wrong.append([room + "W", names, written, faulty])
    more, lost_too = with_answers(wrong, calls, answers)
    return ["\t".join(r) for r in records + more], lost + lost_too


def written_call(line):
    source = line.rstrip("\n")
    names = "".join(sorted(set(re.findall(r"(?:^|; )([a-j]) = ", source))))
    return ["sW", names, names, source if "r = " in source else source + "; r = 0"]


def show(findings, each):
    seen = collections.Counter()
    for kind, record, detail in sorted(findings, key=lambda x: x[0]):
        name = re.search(r"r = (?:torch\.|F\.|[a-j]\.)*([\w.]+)", record).group(1)
        seen[kind, name] += 1
        if seen[kind, name] <= each:
            print(f"{kind}\t{name}: {detail}\n    " + record.split("\t")[3])
    kinds = collections.Counter(kind for kind, _, _ in findings)
    print(", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())) or "no differences")


def main():
    if sys.argv[1:2] == ["--answer"]:
        return answer_all(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    parser = argparse.ArgumentParser()
    parser.add_argument("--tsr", default="build/tsr")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--op")
    parser.add_argument("--show", type=int, default=2)
    parser.add_argument("--record")
    parser.add_argument("--allow", type=int, default=0, help="how many may differ")
    parser.add_argument("--keep", help="where the records with their answers stay, to compare again with --again")
    parser.add_argument("--again", help="compares the records of such a file")
    parser.add_argument("--line")
    parser.add_argument("--lines", help="calls of a file, one a line, instead of random ones: those of tests/data/calls/mended are made so")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.line:
            names = "".join(sorted(set(re.findall(r"(?:^|; )([a-j]) = ", options.line))))
            with open(folder + "/calls", "w") as f:
                f.write("\t".join(["0W", names, names, options.line]) + "\n")
            ask_torch(folder + "/calls", 1, folder + "/answers")
            print("PyTorch:", open(folder + "/answers").read().strip())
            findings, _ = compare(options.tsr, ["\t".join(["0W", names, names, options.line, open(folder + "/answers").read()])])
            return show(findings, 9)
        if options.again:
            records, lost = open(options.again).readlines(), 0
            if options.op:
                records = [r for r in records if re.search(options.op, r.split("\t")[3])]
        elif options.lines:
            records, lost = with_answers([written_call(line) for line in open(options.lines)], folder + "/calls", folder + "/answers")
            records = ["\t".join(r) for r in records]
        else:
            records, lost = make_records(table_rows(options.tsr) + written_rows(options.tsr), options.seed, options.calls, options.op, folder)
    if options.keep:
        with open(options.keep, "w") as f:
            f.writelines(records)
    findings, compared = compare(options.tsr, records)
    if options.record:
        differing = {record for _, record, _ in findings}
        with open(options.record, "w") as f:
            f.writelines(r for r in records if r not in differing)
    show(findings, options.show)
    print(f"{compared} calls compared, {len(findings)} differ, {lost} ended PyTorch")
    return 1 if len(findings) > options.allow or any(kind == "crash" for kind, _, _ in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
