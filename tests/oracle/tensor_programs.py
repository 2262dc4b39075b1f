"""Random programs over tensors, as transcripts of what PyTorch prints: views, writes through aliases, indices, out=, broadcasting, printing, errors.

    python3 tests/oracle/tensor_programs.py --tsr build/tsr [--seed N] [--programs N] [--show N]   compares, and lists what differs
    python3 tests/oracle/tensor_programs.py --record FILE [--seed N] [--programs N]                writes the transcripts: tests/data/programs
    python3 tests/oracle/tensor_programs.py --print N                                              one of them

Program N is made from N alone. PyTorch runs each statement as soon as it is made, so that the next one fits the tensors that are there; a few are
wrong on purpose. The values are such that no rounding decides a digit: whole numbers and quarters, and operators that are exact on them.
"""
import argparse
import ast
import contextlib
import io
import os
import random
import subprocess
import sys
import tempfile
import traceback
import warnings

FLOATS = ["float32"] * 6 + ["float64"] * 3 + ["float16", "bfloat16"]
INTEGERS = ["int64"] * 5 + ["int32", "int16", "int8", "uint8"]
DTYPES = FLOATS + INTEGERS + ["bool"] * 2 + ["complex64", "complex64", "complex128"]
NAMES = "abcdefgh"
LIMIT = 400  # elements


class Program:
    def __init__(self, number, torch):
        self.rng, self.torch, self.steps = random.Random(number), torch, []
        self.scope = {"torch": torch, "F": torch.nn.functional, "__name__": "__main__"}
        torch.set_printoptions(profile="default")
        torch.set_printoptions(sci_mode=None)
        torch.set_default_dtype(torch.float32)

    # -- running --

    def run(self, source):
        """Runs a statement as the prompt does and keeps it with what it printed."""
        out, error = io.StringIO(), None
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(ast.Interactive(ast.parse(source).body), "<stdin>", "single"), self.scope)
            except Exception as e:
                error = "".join(traceback.format_exception_only(type(e), e)).rstrip("\n")
        text = out.getvalue()
        self.steps.append((source, text, error))
        return error is None

    def tensors(self):
        return {n: self.scope[n] for n in NAMES if isinstance(self.scope.get(n), self.torch.Tensor)}

    # -- pieces of source --

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    def some(self):
        """The name of a tensor."""
        return self.rng.choice(sorted(self.tensors()))

    def of(self, name):
        return self.scope[name]

    def fresh(self):
        return self.rng.choice(NAMES)

    def dtype(self):
        return "torch." + self.rng.choice(DTYPES)

    def sizes(self):
        n = self.pick(0, 1, 1, 2, 2, 2, 3, 3, 4)
        sizes = [self.pick(1, 2, 2, 3, 3, 4, 5) for _ in range(n)]
        if n and self.chance(0.06):
            sizes[self.rng.randrange(n)] = 0
        if n == 1 and self.chance(0.1):
            sizes = [self.pick(12, 30, 110)]
        return sizes

    def count(self, sizes):
        n = 1
        for s in sizes:
            n *= s
        return n

    def dim(self, x):
        n = max(1, x.dim())
        return self.rng.randrange(-n, n) if self.chance(0.96) else self.pick(n, -n - 1, 7)

    def number(self, dtype=None):
        kind = dtype or "torch.float32"
        if "bool" in kind:
            return self.pick("True", "False")
        if "float" in kind or "complex" in kind:
            if "complex" in kind and self.chance(0.5):
                return f"{self.rng.randrange(-8, 9) / 4}{self.rng.randrange(-8, 9) / 4:+}j"
            return repr(self.rng.randrange(-24, 25) / 4) if self.chance(0.85) else self.pick("0.0", "1.0", "-0.0", "float('nan')", "float('inf')", "1e-3", "1000.5", "12345678.0", "1e10", "2.5e-5")
        return str(self.rng.randrange(0 if "uint" in kind else -9, 12)) if self.chance(0.95) else "100"

    def scalar(self):
        return self.pick(*[str(self.rng.randrange(-3, 6))] * 4, *[repr(self.rng.randrange(-12, 13) / 4)] * 4, "True", "1.5-2j", "0")

    def nested(self, sizes, dtype):
        if not sizes:
            return self.number(dtype)
        return "[" + ", ".join(self.nested(sizes[1:], dtype) for _ in range(sizes[0])) + "]"

    def source(self):
        """A new tensor."""
        sizes, dtype = self.sizes(), self.dtype()
        way, count = self.rng.randrange(11), self.count(sizes)
        if way <= 3:
            end = f", dtype={dtype}" if self.chance(0.6) or "bool" in dtype else "."[: self.rng.randrange(2)]
            first = f"{count}{end}" if not end.startswith(",") or "bool" not in dtype else f"{min(count, 2)}, dtype={dtype}"
            if "bool" in dtype:
                return f"torch.arange({count}).view({sizes}) % 2 == {self.rng.randrange(2)}"
            if "int8" in dtype and count > 100:
                return f"torch.zeros({sizes}, dtype={dtype})"
            return f"torch.arange({first})" + (self.pick(f".view({sizes})", f".reshape({sizes})", f".reshape({tuple(sizes)})") if len(sizes) != 1 else "")
        if way <= 6 and count <= 24:
            return f"torch.tensor({self.nested(sizes, dtype)}" + (f", dtype={dtype}" if self.chance(0.7) else "") + ")"
        if way == 7:
            return f"torch.full({sizes}, {self.number(dtype)}" + (f", dtype={dtype}" if self.chance(0.4) else "") + ")"
        if way == 8:
            return self.pick("torch.zeros", "torch.ones") + f"({sizes}" + (f", dtype={dtype}" if self.chance(0.5) else "") + ")"
        if way == 9:
            return self.pick(f"torch.eye({self.pick(1, 2, 3, 4)})", f"torch.linspace(0, {self.pick(1, 2, 4, 8)}, 9)", f"torch.empty({sizes}, dtype={dtype}).fill_({self.number(dtype)})",
                             f"torch.empty_strided({sizes}, {[self.rng.randrange(4) for _ in sizes]}).fill_(1)", f"torch.arange({self.rng.randrange(-5, 3)}, {self.rng.randrange(4, 9)}, {self.pick(1, 2, 3, 0.5, 0.25)})")
        if self.tensors():
            x = self.some()
            return self.pick(f"torch.zeros_like({x})", f"torch.ones_like({x})", f"{x}.clone()", f"{x}.new_zeros({sizes})", f"{x}.new_full({sizes}, {self.number()})", f"torch.full_like({x}, {self.number()})",
                             f"{x}.new_tensor({self.nested(sizes[:2], dtype) if self.count(sizes[:2]) < 20 else 3})", f"{x}.contiguous()", f"torch.empty_like({x}).zero_()")
        return f"torch.ones({sizes})"

    def view(self, n):
        """A view, or what may be one, of the tensor named n."""
        x, rng = self.of(n), self.rng
        d, e = self.dim(x), self.dim(x)
        size = x.size(d) if x.dim() and -x.dim() <= d < x.dim() else 1
        start = rng.randrange(size + 1)
        order = list(range(x.dim()))
        rng.shuffle(order)
        flat = self.factors(x.numel())
        ways = [f"{n}.transpose({d}, {e})", f"{n}.unsqueeze({self.dim(x)})", f"{n}.squeeze()", f"{n}.squeeze({d})", f"{n}.permute({order})", f"{n}.permute({', '.join(map(str, order)) or '()'})",
                f"{n}.view({flat})", f"{n}.view(-1)", f"{n}.reshape({flat})", f"{n}.flatten()", f"{n}.flatten({d})", f"{n}.narrow({d}, {start}, {rng.randrange(size - start + 1)})",
                f"{n}.select({d}, {rng.randrange(-size, size) if size else 0})", f"{n}.expand({[self.pick(1, 2, 3)] * (x.dim() == 0 or self.chance(0.5)) + [-1] * x.dim()})",
                f"{n}.unfold({d}, {self.pick(1, 2, max(size, 1))}, {self.pick(1, 1, 2)})", f"{n}.diagonal()", f"{n}.diagonal({self.pick(-1, 0, 1)}, {d}, {e})", f"{n}.t()", f"{n}.T", f"{n}.mT", f"{n}.detach()",
                f"{n}.movedim({d}, {e})", f"{n}.swapaxes({d}, {e})", f"{n}.chunk({self.pick(1, 2, 3)}, {d})[{self.pick(0, -1)}]", f"{n}.split({max(1, self.pick(1, 2, size))}, {d})[{self.pick(0, -1, 1)}]",
                f"{n}.unbind({d})[{self.pick(0, -1)}]", f"{n}.tensor_split({self.pick(2, 3)}, {d})[{self.pick(0, 1)}]", f"{n}.expand_as({self.some()})", f"{n}.view_as({self.some()})", f"{n}.reshape_as({self.some()})",
                f"{n}.real", f"{n}.imag", f"{n}.conj()", f"torch.view_as_real({n})", f"{n}.view({self.dtype()})", f"{n}.as_strided({self.sizes()[:3]}, {[rng.randrange(4) for _ in range(rng.randrange(4))]})",
                f"{n}.ravel()", f"{n}.contiguous()", f"{n}.unflatten({d}, {self.factors(size)})", f"{n}.adjoint()", f"{n}.H", f"{n}.broadcast_to({[2] + list(x.shape)})", f"torch.atleast_2d({n})", f"{n}.to(torch.float32)",
                f"{n}[{self.index(x, True)}]", f"{n}[{self.index(x, True)}]", f"{n}[{self.index(x, True)}]", f"{n}.view({list(x.shape)})", f"{n}.data", f"{n}.positive()", f"{n}.view_as({n})",
                f"{n}.hsplit(2)[0]", f"{n}.squeeze(({d}, {e}))", f"{n}.type_as({self.some()})", f"torch.broadcast_tensors({n}, {self.some()})[0]"]
        return rng.choice(ways)

    def factors(self, count):
        out = []
        while count > 1 and len(out) < 3:
            f = self.rng.choice([k for k in range(1, count + 1) if count % k == 0])
            out.append(f)
            count //= f
        out.append(count)
        if self.chance(0.3) and count:
            out[self.rng.randrange(len(out))] = -1
        if self.chance(0.04):
            out.append(2)
        return out

    def index(self, x, basic=False):
        rng, parts, d = self.rng, [], 0
        n = rng.randrange(x.dim() + 1) if self.chance(0.5) else x.dim()
        used = False
        while d < n:
            size, way = x.size(d), rng.random()
            if way < 0.06:
                parts.append("None")
                continue
            if way < 0.12 and not used:
                used = True
                parts.append("...")
                d = max(d + 1, x.dim() - (n - d) + 1)
                continue
            if way < 0.4:
                parts.append(str(rng.randrange(-size, size)) if size and self.chance(0.97) else str(size))
            elif way < 0.75 or basic:
                a, b, c = (self.pick("", "", "0", "1", "-1", "2"), self.pick("", "", "1", "2", "-1", "9"), self.pick("", "", "", ":1", ":2"))
                parts.append(f"{a}:{b}{c}")
            elif way < 0.85:
                parts.append(str([rng.randrange(-size, size) if size else 0 for _ in range(self.pick(1, 2, 2, 3))]))
            elif way < 0.93:
                parts.append(f"torch.tensor({[rng.randrange(size) if size else 0 for _ in range(self.pick(1, 2, 3))]})")
            else:
                parts.append("torch.tensor(" + str([self.chance(0.5) for _ in range(size)]) + (", dtype=torch.bool)" if size == 0 else ")"))
            d += 1
        if self.chance(0.02):
            parts += ["0"] * 3
        if not basic and self.chance(0.08):
            return self.pick(f"{self.some()} > 0", f"{self.some()} != 0", "True", "[True, False]", "1.5", "'a'", f"{self.some()}")
        return ", ".join(parts) or "..."

    def operand(self):
        return self.some() if self.chance(0.6) else self.scalar() if self.chance(0.7) else f"{self.view(self.some())}"

    def value(self):
        """An expression over the tensors, exact where they are."""
        n, rng = self.some(), self.rng
        x, d = self.of(n), self.dim(self.of(n))
        way = rng.randrange(20)
        if way < 4:
            return f"{self.operand()} {self.pick('+', '-', '*', '+', '-', '*', '//', '%', '&', '|', '^', '==', '!=', '<', '>=', '>', '<<', '>>', '@')} {n}"
        if way < 6:
            return f"{n} {self.pick('+', '-', '*', '//', '%', '&', '|', '^', '==', '<', '>=')} {self.operand()}"
        if way == 6:
            return self.pick("-", "~", "+", "abs") + f"({n})"
        if way < 10:
            keep = self.pick("", ", keepdim=True", ", True", ", False")
            f = self.pick("sum", "amax", "amin", "all", "any", "argmax", "argmin", "max", "min", "count_nonzero", "prod", "median", "mode", "cumsum", "cumprod", "sort", "argsort", "cummax", "logical_not", "flip", "unique", "aminmax")
            dims = "" if self.chance(0.35) else f"{d}{keep}" if f not in ("sort", "argsort", "cumsum", "cumprod", "cummax", "count_nonzero", "flip", "unique", "aminmax") else str(d)
            if f in ("unique", "aminmax"):
                dims = "" if self.chance(0.5) else f"dim={d}"
            if f in ("sum", "prod") and self.chance(0.1):
                dims += (", " if dims else "") + f"dtype={self.dtype()}"
            if f in ("sort", "argsort"):
                dims = self.pick("stable=True", f"stable=True, dim={d}", f"dim={d}, stable=True, descending=True")
            return self.pick(f"{n}.{f}({dims})", f"torch.{f}({n}{', ' + dims if dims else ''})")
        if way == 10:
            m = self.some()
            return self.pick(f"torch.cat([{n}, {m}], {d})", f"torch.cat(({n}, {n}), dim={d})", f"torch.stack([{n}, {n}], {d})", f"torch.stack([{n}, {m}])", f"torch.hstack(({n}, {m}))", f"torch.vstack(({n}, {m}))", f"torch.block_diag({n}, {m})",
                             f"torch.meshgrid({n}.flatten(), {m}.flatten(), indexing='ij')[0]", f"torch.cartesian_prod({n}, {m})")
        if way == 11:
            return self.pick(f"torch.where({self.some()} > 0, {n}, {self.operand()})", f"torch.where({n} == {self.scalar()})", f"{n}.masked_fill({n} > 1, {self.scalar()})", f"{n}.masked_select({n} > 0)", f"torch.nonzero({n})",
                             f"{n}.clamp({self.pick('0', '-1', '0.5', 'None')}, {self.pick('2', '3.5', 'None')})", f"torch.maximum({n}, {self.some()})", f"torch.minimum({n}, {self.some()})")
        if way == 12:
            return self.pick(f"{n}.index_select({d}, torch.tensor([0, 0]))", f"torch.take({n}, torch.tensor([0, -1]))", f"torch.gather({n}, {d}, torch.zeros({list(x.shape)}, dtype=torch.int64))", f"{n}.roll(1, {d})", f"{n}.roll(2)", f"{n}.repeat(2, 1)",
                             f"{n}.repeat({[2] * x.dim()})", f"{n}.tile(2)", f"{n}.repeat_interleave(2, {d})", f"{n}.rot90()", f"{n}.tril()", f"{n}.triu(1)", f"torch.diag({n})", f"{n}.diag_embed()", f"torch.trace({n})", f"{n}.fliplr()",
                             f"F.pad({n}, (1, 1))", f"F.pad({n}, (1, 0, 0, 1), value={self.scalar()})", f"F.one_hot({n})", f"{n}.bincount()", f"torch.tril_indices(3, 3)", f"{n}.topk(1)", f"{n}.kthvalue(1)", f"{n}.diff()",
                             f"{n}.to({self.dtype()})", f"{n}.{self.pick('int', 'long', 'float', 'double', 'bool', 'half', 'short', 'byte', 'bfloat16', 'cfloat')}()", f"{n}.round()", f"{n}.floor()", f"{n}.trunc()", f"{n}.sign()", f"{n}.relu()", f"{n}.square()",
                             f"{n}.nan_to_num()", f"{n}.isnan()", f"{n}.scatter({d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64), {self.scalar()})", f"{n}.index_add(0, torch.tensor([0]), {n}[:1])", f"torch.searchsorted({n}, {self.scalar()})",
                             f"{n}.equal({self.some()})", f"torch.allclose({n}, {self.some()})", f"{n}.pow(2)", f"{n} ** 2", f"{self.scalar()} ** {n}", f"torch.outer({n}, {n})", f"torch.einsum('i,j->ij', {n}, {n})", f"{n}.matmul({self.some()})", f"torch.dot({n}, {n})",
                             f"torch.bitwise_and({n}, {self.operand()})", f"{n}.logical_xor({self.some()})", f"torch.gcd({n}, {self.some()})", f"{n}.remainder({self.scalar()})", f"{n}.fmod({self.scalar()})", f"{n}.lerp({self.some()}, 0.5)", f"torch.addcmul({n}, {n}, {self.some()})")
        if way < 16:
            return self.view(n)
        if way < 19:
            return f"{n}[{self.index(x)}]"
        return self.pick(f"{n}.tolist()", f"{n}.item()", f"len({n})", f"int({n})", f"float({n})", f"bool({n})", f"list({n})", f"{n}.shape", f"{n}.stride()", f"{n}.size({d})", f"{n}.numel()", f"{n}.is_contiguous()", f"{n} in {self.some()}", f"{self.scalar()} in {n}",
                         f"{n}.storage_offset()", f"({n}.shape, {n}.stride(), {n}.storage_offset(), {n}.is_contiguous())", f"{n}.data_ptr() == {self.some()}.data_ptr()", f"{n}._version", f"{n}._is_view()", f"{n}._base is {self.some()}", f"{n}.dtype", f"{n}.untyped_storage().nbytes()",
                         f"{n} is {self.some()}", f"{n}.ndim", f"{n}.nelement()", f"{n}.element_size()", f"{n}.stride({d})", f"complex({n})", f"{n}.is_complex(), {n}.is_floating_point()", f"torch.is_tensor({n})", f"hash({n}) == hash({n})", f"torch.numel({n})", f"{n}.type()", f"torch.result_type({n}, {self.operand()})",
                         f"torch.can_cast({n}.dtype, {self.dtype()})", f"{n}.is_set_to({self.some()})", f"{n}.nbytes, {n}.itemsize", f"{n}.requires_grad, {n}.device, {n}.layout", f"{n}.is_contiguous(memory_format=torch.channels_last)", f"{n}.dim()", f"round({n}, 1)", f"divmod({n}, 2)", f"sum({n})", f"max({n})",
                         f"sorted({n})", f"[v * 2 for v in {n}]", f"{{k: v for k, v in enumerate({n})}}", f"tuple({n})", f"isinstance({n}, torch.Tensor)", f"{n}.is_same_size({self.some()})", f"list(zip({n}, {self.some()}))", f"not {n}", f"{n} and 5", f"[*{n}]", f"{n}.is_signed()", f"range({n})", f"'abc'[{n}]", f"[10, 20, 30][{n}]")

    def shown(self):
        n = self.some()
        return self.pick(n, n, n, f"print({n})", f"print({n}, {self.some()}, sep=' | ')", f"print(f'{{{n}}}')", f"str({n})", f"repr({n})", f"f'{{{n}!r:>20}}'", f"f'{{{n}.sum()}} {{{n}.shape}}'", f"f'{{{n}:.2f}}'", f"'{{:.3f}} {{}}'.format({n}.flatten()[0].item() if {n}.numel() else 0., {n}.dtype)",
                         f"'%s' % {n}", f"'%s %d' % ({n}.shape, {n}.numel())", f"[{n}, {self.some()}]", f"{{'k': {n}, 'n': {n}.shape}}", f"({n}, {n}.size())", f"print([{n}])", f"({n},)", f"print('{n}:', {n}.tolist())", f"print(*{n})", f"f'{{{n}.flatten()[:1].sum().item():8.3f}}|{{{n}.numel():>4}}|'",
                         f"f'{{{n}:>10}}'", f"f'{{{n}[0]}}'", f"f'{{{n}.tolist()}}'", f"print({n}.shape, {n}.stride(), {n}.storage_offset())")

    def write(self):
        """A statement that writes into a tensor."""
        n, rng = self.some(), self.rng
        x, d = self.of(n), self.dim(self.of(n))
        way = rng.randrange(16)
        if way < 4:
            return f"{n}[{self.index(x)}] = {self.operand()}"
        if way < 6:
            return f"{n}[{self.index(x)}] {self.pick('+=', '-=', '*=', '//=', '|=')} {self.operand()}"
        if way < 8:
            return f"{n} {self.pick('+=', '-=', '*=', '//=', '%=', '&=', '|=', '^=', '<<=')} {self.operand()}"
        if way < 11:
            m = self.operand()
            return f"{n}." + self.pick(f"add_({m})", f"sub_({m})", f"mul_({m})", f"add_({m}, alpha=2)", f"fill_({m})", "zero_()", f"copy_({m if self.chance(0.2) else self.some()})", "neg_()", "abs_()", f"clamp_({self.pick('0', '-1')}, 3)", f"masked_fill_({n} > 0, {self.scalar()})", "relu_()", "floor_()",
                                        f"logical_not_()", f"eq_({m})", f"gt_({m})", f"index_fill_({d}, torch.tensor([0]), {self.scalar()})", f"index_add_({d}, torch.tensor([0]), {self.some()})", f"scatter_({d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64), {self.scalar()})", f"put_(torch.tensor([0, 1]), {self.some()})",
                                        f"cumsum_({d})", "tril_()", f"fill_diagonal_({self.scalar()})", f"remainder_({m})", f"pow_(2)", f"lerp_({self.some()}, 0.5)", f"index_copy_({d}, torch.tensor([0]), {self.some()})", f"masked_scatter_({n} > 0, {self.some()})", f"where({n} > 0, {m})", f"addcmul_({self.some()}, {self.some()})")
        if way < 13:
            size = x.size(d) if x.dim() and -x.dim() <= d < x.dim() else 1
            return f"{n}." + self.pick(f"transpose_({d}, {self.dim(x)})", "t_()", f"unsqueeze_({d})", "squeeze_()", f"squeeze_({d})", self.resized(n), f"swapdims_({d}, {self.dim(x)})", f"as_strided_({self.sizes()[:2]}, {[rng.randrange(3) for _ in range(2)]})", f"set_({self.some()})", f"swapdims_({d}, 0)",
                                        f"swapaxes_({d}, {self.dim(x)})", f"detach_()", f"T.add_(1)", f"flatten().add_(1)", f"view(-1).mul_(2)", f"view(-1)[:2].zero_()", f"select({d}, 0).fill_({self.scalar()})", f"narrow({d}, 0, {min(1, size)}).sub_(1)", f"diagonal().zero_()", f"data.add_(1)")
        f = self.pick("add", "sub", "mul", "maximum", "eq", "lt", "logical_and", "bitwise_or", "floor_divide", "remainder")
        if way < 15:
            return f"torch.{f}({n}, {self.pick(n, self.scalar())}, out={self.apart(n)})"
        out = self.apart(n)
        return self.pick(f"torch.cat([{n}, {n}], out={out})", f"torch.sum({n}, {d}, out={out})", f"torch.neg({n}, out={out})", f"torch.arange({self.pick(3, 5)}, out={out})", f"torch.cumsum({n}, {d}, out={out})", f"torch.stack([{n}, {n}], out={out})", f"torch.abs({n}, out={out})", f"torch.sort({n}, out=({out}, torch.empty(0, dtype=torch.int64)))",
                         f"torch.amax({n}, {d}, out={out})", f"torch.index_select({n}, {d}, torch.tensor([0]), out={out})", f"torch.where({n} > 0, {n}, {n} + 1, out={out})", f"torch.tril({n}, out={out})", f"torch.matmul({n}, {n}, out={out})", f"torch.gather({n}, 0, torch.tensor([0]), out={out})")

    def other(self):
        n, m = self.some(), self.some()
        x = self.of(n)
        p = self.fresh()
        options = self.pick("precision=2", "precision=6", "threshold=10", "threshold=5, edgeitems=1", "edgeitems=2", "linewidth=40", "linewidth=20", "sci_mode=True", "sci_mode=False", "profile='short'", "profile='full'", "profile='default'", "linewidth=60, precision=8", "threshold=0", "precision=0", "sci_mode=None")
        return self.pick(f"torch.set_printoptions({options})", f"torch.set_printoptions({options})", f"torch.set_printoptions({options})", f"{p} = {n}", f"{p}, q = {n}, {m}", f"for v in {n}:\n    print(v)", f"for i, v in enumerate({n}):\n    v.add_(i)",
                         f"try:\n    {self.value()}\nexcept Exception as e:\n    print(type(e).__name__, e)", f"try:\n    {p} = {n} @ {m}\nexcept RuntimeError as e:\n    print(e)\nelse:\n    print({p})", f"try:\n    {n}[{self.index(x)}] = {m}\nexcept (IndexError, RuntimeError, TypeError) as e:\n    print(str(e))",
                         f"p, q = {n}", f"p, *q = {n}", f"if ({n} > 0).all():\n    print('all')\nelse:\n    print('not all', {n}.shape)", f"(lambda t: t.shape)({n})", f"print(sum([v.sum() for v in {n}.unbind()]))", f"[t.shape for t in ({n}, {m})]", f"{{'x': {n}}}['x'] is {n}", f"sorted([{n}.numel(), {m}.numel()])", f"dict(zip('xy', ({n}, {m})))",
                         f"while {n}.dim() > 1:\n    {n} = {n}[0]", f"with torch.no_grad():\n    {n}.add_(1)", f"del {n}", f"{p} = [t + 1 for t in ({n}, {m})]", f"max([{n}, {m}], key=lambda t: t.numel()).shape", f"assert {n}.dim() > 1, {n}.shape", f"torch.equal({n}, {n}.clone())", f"import copy; {p} = copy.copy({n})",
                         f"{p} = {n}.tolist(); {p}", f"torch.set_default_dtype({self.pick('torch.float64', 'torch.float32')})", f"'{{0:>{self.pick(8, 30)}}}'.format(str({n}.shape))", f"torch.Size({list(x.shape)}) == {n}.shape", f"{n}.shape[{self.pick('-1', '0', '1:', ':1')}]", f"{n}.shape + {m}.shape", f"tuple({n}.shape)", f"{n}.size() == {m}.size()",
                         f"torch.tensor([{n}, {m}])", f"torch.tensor({n}.tolist())", f"torch.as_tensor({n}) is {n}", f"torch.stack(list({n}))", f"{n}.foo", f"{n}.foo()", f"{n}()", f"{n}.shape.numel()", f"{n}.{self.pick('sum', 'view', 'transpose', 'add', 'max', 'expand', 'narrow', 'permute', 'select', 'copy_', 'fill_', 'reshape', 'to', 'unsqueeze', 'repeat', 'index_select')}({self.odd()})",
                         f"torch.{self.pick('sum', 'add', 'cat', 'stack', 'zeros', 'ones', 'full', 'arange', 'where', 'matmul', 'max', 'eye', 'tensor', 'linspace', 'mm', 'dot', 'transpose', 'squeeze', 'reshape', 'empty')}({self.odd()})")

    def odd(self):
        one = lambda: self.pick(self.some(), self.some(), "1", "-1", "2.5", "'a'", "None", "[1, 2]", "(2, 3)", "torch.float64", "True", "[]", "2j", "dim=0", "dim=9", "x=1", "dtype=torch.int32", "out=3", "keepdim=True", "slice(1)", "...", "[[1], [2, 3]]", "object", "1e400", "2 ** 70")
        parts = [one() for _ in range(self.rng.randrange(4))]
        return ", ".join([p for p in parts if "=" not in p] + sorted({p.split("=")[0]: p for p in parts if "=" in p}.values()))

    def small(self):
        """Whether the tensors stay small enough to be printed."""
        return all(t.numel() <= LIMIT and t.layout == self.torch.strided for t in self.tensors().values())

    def resized(self, n):
        """resize_ to sizes whose elements are known: those that the memory holds, or all written."""
        sizes = self.sizes()
        x = self.of(n)
        known = x.untyped_storage().nbytes() // x.element_size() - x.storage_offset() >= self.count(sizes)
        return f"resize_({sizes})" + ("" if known else ".zero_()")

    def apart(self, n):
        """A name of a tensor that shares no memory with n's: PyTorch writes what it still reads. Without one, a new one."""
        memory = self.of(n).untyped_storage().data_ptr()
        names = [m for m, x in self.tensors().items() if x.untyped_storage().data_ptr() != memory]
        return self.rng.choice(names) if names else f"torch.empty({self.pick(0, 0, 3)}, dtype={self.of(n).dtype})"

    def statement(self):
        way = self.rng.random()
        if way < 0.08 or not self.tensors():
            return f"{self.fresh()} = {self.source()}"
        if way < 0.28:
            return f"{self.fresh()} = {self.view(self.some())}"
        if way < 0.44:
            return self.value()
        if way < 0.54:
            return f"{self.fresh()} = {self.value()}"
        if way < 0.74:
            return self.write()
        if way < 0.9:
            return self.shown()
        return self.other()

    def make(self):
        for _ in range(self.pick(1, 2, 2, 3)):
            self.run(f"{self.fresh()} = {self.source()}")
        for _ in range(self.rng.randrange(6, 16)):
            for _ in range(20):
                try:
                    source = self.statement()
                    ast.parse(source)
                except (IndexError, ValueError, SyntaxError, RuntimeError):
                    continue
                break
            if not self.run(source) and "out=" in source:
                break  # PyTorch may have resized out= before it saw the fault
            if not self.small():
                break
            if self.chance(0.25) and self.tensors():
                self.run(self.some())
        return self.steps


def transcript(number, steps):
    """The program as a transcript; None when it prints what a transcript cannot hold."""
    out = [f"Program {number}.", ""]
    for source, text, error in steps:
        lines = source.split("\n")
        out.append(">>> " + lines[0])
        out += ["... " + line for line in lines[1:]]
        if source.startswith(("for ", "while ", "if ", "try:", "with ")):
            out.append("...")
        if text and not text.endswith("\n") or "\t" in text or len(text) > 20000:
            return None
        for line in text.split("\n")[:-1]:
            if line.startswith((">>> ", "... ", "Traceback")) or line == "...":
                return None
            out.append(line if line.strip() else "<BLANKLINE>")
        if error is not None:
            out += ["Traceback (most recent call last):", "    ..."] + [line if line.strip() else "<BLANKLINE>" for line in error.split("\n")]
    return "\n".join(out) + "\n\n"


# Uninitialised memory, addresses and what else no two runs agree on; and answers that PyTorch gives by mistake.
UNSURE = ["\0", "INTERNAL ASSERT", "please report", "Exception raised from", " at 0x", "0x7f", "object at"]


def make_all(first, count):
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    sys.displayhook = lambda value: None if value is None else print(repr(value))
    for number in range(first, first + count):
        try:
            text = transcript(number, Program(number, torch).make())
        except Exception as error:  # a generator's slip, not a finding
            print(f"# program {number}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        if text is not None and not any(word in text for word in UNSURE):
            yield number, text


def check(tsr, folder, programs):
    """[(number, the difference)] of programs, each run by a tsr of its own."""
    for number, text in programs:
        path = os.path.join(folder, f"{number}.txt")
        with open(path, "w") as f:
            f.write(text)
        try:
            p = subprocess.run([tsr, "--max-memory", "2G", "--doctest", path], capture_output=True, text=True, errors="replace", timeout=60)
            found = None if p.returncode == 0 else p.stdout + (f"status {p.returncode}: {p.stderr[-300:]}" if p.returncode != 1 else "")
        except subprocess.TimeoutExpired:
            found = "hangs"
        os.unlink(path)
        if found is not None:
            yield number, found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tsr")
    parser.add_argument("--seed", type=int, default=0, help="the first program")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--record")
    parser.add_argument("--print", type=int)
    options = parser.parse_args()
    if options.print is not None:
        return print("".join(text for _, text in make_all(options.print, 1)))
    if options.record:
        with open(options.record, "w") as f:
            f.writelines(text for _, text in make_all(options.seed, options.programs))
        return 0
    made = differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in make_all(options.seed, options.programs):
            made += 1
            for number, found in check(options.tsr, folder, [program]):
                differ += 1
                print(f"==== program {number}\n{found}", flush=True)
    print(f"{made} programs compared, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
