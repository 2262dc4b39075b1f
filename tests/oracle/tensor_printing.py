"""Random programs that print: tensors of every dtype, shape and magnitude under all print options, in lists, f-strings, sparse, complex.

    python3 tests/oracle/tensor_printing.py --tsr build/tsr [--seed N] [--programs N]     as tensor_programs.py, whose options it has
"""
import sys

import tensor_programs

FLOATS = ["float32", "float32", "float64", "float16", "bfloat16"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]
DTYPES = FLOATS * 3 + INTEGERS + ["bool", "complex64", "complex128", "complex64"]
ODD = ["float('nan')", "float('inf')", "float('-inf')", "0.0", "-0.0"]


class Printing(tensor_programs.Program):
    def number(self, dtype, kind="any"):
        """A literal; kind: whole numbers, one range of powers of ten, wide ranges, or with nan and inf among them."""
        if "bool" in dtype:
            return self.pick("True", "False")
        if "int" in dtype:
            top = 255 if "uint8" in dtype else 127 if "int8" in dtype else 32767
            top = {"int32": 2**31 - 1, "int64": 2**63 - 1}.get(dtype, top) if self.chance(0.2) else min(top, self.pick(9, 99, 9999))
            return str(self.rng.randrange(0 if "uint" in dtype else -top, top + 1))
        if kind == "odd" and self.chance(0.4):
            return self.rng.choice(ODD)
        if kind == "whole":
            return f"{self.rng.randrange(-20, 20)}.0" if self.chance(0.9) else "1e8"
        low, high = {"wide": (-9, 9), "tiny": (-30, -4), "huge": (4, 30), "sub": (-320, -38)}.get(kind, (-2, 3))
        if "float16" == dtype:
            low, high = max(low, -8), min(high, 4)
        return f"{self.rng.choice(['', '-'])}{self.rng.randrange(1, 10 ** self.pick(1, 3, 6)) / 10 ** self.pick(0, 1, 2, 5)}e{self.rng.randrange(min(low, high), high + 1)}"

    def literal(self, sizes, dtype, kind):
        if sizes:
            return "[" + ", ".join(self.literal(sizes[1:], dtype, kind) for _ in range(sizes[0])) + "]"
        if "complex" not in dtype:
            return self.number(dtype, kind)
        part = self.number("float32", kind)
        return f"complex({part}, {self.number('float32', kind)})"

    def sizes(self):
        n = self.pick(0, 1, 1, 1, 2, 2, 2, 3, 3, 4)
        sizes = [self.pick(1, 1, 2, 2, 3, 4) for _ in range(n)]
        if n and self.chance(0.08):
            sizes[self.rng.randrange(n)] = 0
        if n == 1:
            sizes = [self.pick(1, 2, 3, 5, 8, 13, 23)]
        return sizes

    def source(self):
        sizes, dtype, kind = self.sizes(), self.rng.choice(DTYPES), self.pick("any", "any", "whole", "wide", "tiny", "huge", "odd", "odd", "sub")
        count = self.count(sizes)
        if self.chance(0.12):  # more than the threshold
            big = self.pick([1001], [7, 300], [12, 12, 8], [1200, 1], [1, 1, 2000], [3, 0, 700])
            total = self.count(big)
            ends = f"torch.arange({total}, dtype=torch.float64).sub({total // 2}).mul({self.pick('1', '0.37', '1e-7', '1e5', '2 ** -9')})"
            return f"{ends}.to(torch.{dtype}).view({big})" if "int" not in dtype else f"torch.arange({total}).remainder(113).to(torch.{dtype}).view({big})"
        made = f"torch.tensor({self.literal(sizes, dtype, kind)}, dtype=torch.{dtype})" if count else f"torch.empty({sizes}, dtype=torch.{dtype})"
        return made + self.pick(*[""] * 8, ".mT" if len(sizes) > 1 else "", ".flip(0)" if sizes else "", ".expand(2, *%s)" % sizes, ".abs()" if "bool" not in dtype else "", "[..., None]", ".conj()")

    def options(self):
        parts = self.rng.sample([f"precision={self.pick(0, 1, 2, 3, 4, 6, 10, 16)}", f"threshold={self.pick(0, 1, 5, 20, 1000)}", f"edgeitems={self.pick(0, 1, 2, 3, 5)}",
                                 f"linewidth={self.pick(1, 8, 20, 40, 60, 80, 120, 500)}", f"sci_mode={self.pick('True', 'False', 'None')}"], self.pick(1, 1, 2, 3))
        if self.chance(0.2):
            parts = [f"profile={self.pick(*map(repr, ['default', 'short', 'full', 'Short', 'other']))}"] + parts[: self.pick(0, 1)]
        return f"torch.set_printoptions({', '.join(parts)})"

    def spec(self):
        return self.pick("", ">10", "<8", "^12", ".2f", ".3e", "+.1f", "08.3f", "d", "5d", "g", ".3g", "%", "x", "#x", "b", ",", "_", "10.4", "s", ">20s", "e", "!r", "*^9", " ", "+", "010", "n", "c", ".0f", "=+7.1f", "z.1f", ",.2f", "E", "G", "#g", "j")

    def formatted(self, x):
        spec = self.spec()
        spec = spec if spec.startswith("!") else ":" + spec if spec else ""
        value = self.pick(x, x, f"{x}.flatten()[0]", f"{x}.sum()", f"{x}.sum().item()", f"{x}.flatten()[-1].item()", f"{x}.shape", f"{x}.dtype", f"{x}.numel()", f"{x}.tolist()", f"[{x}]", f"{x}.mean()")
        return self.pick(f"print(f'{{{value}{spec}}}')", f"print(f'{{{value}{spec}}}|{{{x}.dtype}}')", f"'{{{spec.replace('!', '!')}}}'.format({value})", f"format({value}, {spec[1:]!r})", f"f'{{{value}=}}'", f"'%s %r' % ({value}, {value})", f"'{self.pick('%d', '%5.2f', '%e', '%g', '%x', '%10s', '%-8r|', '%i', '%+d', '%c')}' % {value}", f"str({value})", f"repr({value})")

    def contained(self, x, y):
        return self.pick(f"[{x}, {y}]", f"({x},)", f"{{'a': {x}, 'b': [{y}]}}", f"({x}.shape, {y}.dtype, {x}.device)", f"print({x}, {y})", f"print([{x}], sep='')", f"print({x}, end='\\n--\\n')", f"{{{x}.dtype: {x}}}", f"[{x}.size(), {x}.stride()]", f"({x}.layout, {x}.requires_grad, {x}.is_contiguous())",
                         f"{x}.tolist()", f"list({x})", f"{x}.unbind()", f"{x}.max({self.dim(self.of(x))})", f"{x}.sort(stable=True)", f"{x}.to_sparse()", f"{x}.to_sparse()", f"print({x}.to_sparse())", f"{x}.to_sparse().coalesce().indices()", f"{x}.to_sparse_csr()", f"{x}.to_sparse({self.pick(1, 2)})", f"torch.sparse_coo_tensor(torch.zeros([1, 0], dtype=torch.int64), [], (3,))",
                         f"torch.finfo({x}.dtype)", f"torch.iinfo({x}.dtype)", f"{x}.shape", f"print(*{x})", f"for v in {x}:\n    print(v, end=' ')\nprint()", f"{x}.shape + (1,)", f"repr({x}).split('\\n')", f"str({x}.flatten()[:3])", f"{x}.T", f"{x}.__repr__()", f"{x}.__format__('')", f"torch.Size([]), {x}.flatten().shape",
                         f"{x}.half()", f"{x}.double()", f"{x}.bfloat16()", f"{x}.cfloat()", f"{x}.real", f"{x}.imag", f"{x}.bool()", f"{x}.to(torch.float8_e4m3fn)", f"{x}.to(torch.float8_e5m2)", f"{x}.int()", f"{x}.byte()", f"{x}.to(torch.uint16)", f"{x}.to('meta')", f"torch.empty_like({x}, device='meta')", f"{x}.view(torch.uint8)", f"{x}[:, None]", f"{x} * 1e{self.rng.randrange(-12, 13)}", f"1 / {x}", f"{x}.neg()", f"{x}.to(torch.complex32)", f"{x}.item()")

    def statement(self):
        way = self.rng.random()
        if way < 0.15 or not self.tensors():
            return f"{self.fresh()} = {self.source()}"
        x, y = self.some(), self.some()
        if way < 0.4:
            return x
        if way < 0.6:
            return self.options()
        if way < 0.63:
            return f"torch.set_default_dtype({self.pick('torch.float64', 'torch.float32')})"
        return self.formatted(x) if way < 0.8 else self.contained(x, y)

    def small(self):
        return True


if __name__ == "__main__":
    tensor_programs.Program = Printing
    sys.exit(tensor_programs.main())
