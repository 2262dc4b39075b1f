"""Random programs that compose operators over tensors which share memory, as transcripts: after each statement the state of every tensor that
changed, as PyTorch has it: dtype, sizes, strides, offset, version, whose memory it has, elements.

    python3 tests/oracle/tensor_states.py --tsr build/tsr [--seed N] [--programs N]    compares, and lists what differs
    python3 tests/oracle/tensor_states.py --record FILE [--seed N] [--programs N]      writes the transcripts: tests/data/programs/states
    python3 tests/oracle/tensor_states.py --print N                                    one of them

Program N is made from N alone, as in tensor_programs.py, whose pieces of source and comparison these are; what is computed stays exact.
"""
import sys

import tensor_programs
from tensor_programs import Program

STATE = '''def state(**tensors):
    memory = {}
    for n, t in tensors.items():
        owner = memory.setdefault(t.untyped_storage().data_ptr(), n) if t.untyped_storage().nbytes() else "nobody"
        line = f"{n} {str(t.dtype)[6:]} {list(t.shape)} {list(t.stride())}+{t.storage_offset()} v{t._version} of {owner}{' conj' * t.is_conj()}{' neg' * t.is_neg()} {t.tolist()}"
        if seen.get(n) != line:
            print(line)
        seen[n] = line
'''


class States(Program):
    def __init__(self, number, torch):
        super().__init__(number, torch)
        self.run("import torch.nn.functional as F")
        self.run("seen = {}")
        self.run(STATE.rstrip("\n"))

    # -- pieces --

    def part(self):
        """A tensor, or a view of one."""
        return self.some() if self.chance(0.5) else self.view(self.some())

    def place(self, n):
        """Where to write: a tensor, a view of one, or a new one."""
        way, apart = self.rng.random(), self.apart(n)
        if way < 0.4 or not apart.isalpha():
            return apart
        if way < 0.75:
            return self.once(apart, self.view(apart))
        return f"torch.empty({self.pick('0', '3', '(2, 2)')}, dtype={self.pick(str(self.of(n).dtype), self.dtype())})"

    def once(self, n, view):
        """The view, or n where elements of it may share memory: what several writes leave there is open."""
        return n if any(word in view for word in ("expand", "broadcast", "strided", "unfold")) else view

    def apart(self, n):
        found = super().apart(n)
        return found if not found.isalpha() or 0 not in self.of(found).stride() else f"torch.empty(0, dtype={self.of(n).dtype})"

    def positions(self, size, count):
        low = -size if self.chance(0.4) else 0
        return [self.rng.randrange(low, size) if size else 0 for _ in range(count)]

    def index(self, x, basic=False):
        if basic or self.chance(0.55) or not x.dim():
            return super().index(x, basic)
        count, parts, d = self.pick(1, 2, 2, 3), [], 0
        while d < x.dim():
            way = self.rng.random()
            if way < 0.4:
                shape = self.pick(f"", f"", f".view({count}, 1)", f".view(1, {count})")
                parts.append(f"torch.tensor({self.positions(x.size(d), count)}){shape}" + (self.pick("", ".int()", ".byte()") if self.chance(0.05) else ""))
            elif way < 0.5 and d + 1 < x.dim():
                parts.append(f"torch.arange({x.size(d) * x.size(d + 1)}).view({x.size(d)}, {x.size(d + 1)}) % {self.pick(2, 3)} == 0")
                d += 1
            elif way < 0.6:
                parts.append(f"torch.tensor({[self.chance(0.6) for _ in range(x.size(d))]}, dtype=torch.bool)")
            elif way < 0.7:
                parts.append(str(self.positions(x.size(d), 1)[0]))
            elif way < 0.77:
                parts.append("None")
                d -= 1
            elif way < 0.82:
                parts.append("...")
                break
            else:
                parts.append(self.pick(":", "1:", ":2", "::2", ":-1"))
            d += 1
        return ", ".join(parts[:8])

    def whole(self, x):
        return "torch.tensor(" + str([self.rng.randrange(max(1, x.size(0) if x.dim() else 1)) for _ in range(self.pick(1, 2, 3))]) + ")"

    # -- statements --

    def functional(self):
        n = self.some()
        x, d = self.of(n), self.dim(self.of(n))
        k = self.pick(1, 2, 3)
        return self.pick(
            f"F.relu({n})", f"F.pad({n}, ({self.pick(0, 1, -1)}, {self.pick(0, 1, 2)}), mode={self.pick('constant', 'reflect', 'replicate', 'circular')!r})", f"F.pad({n}, (1, 0, 0, -1), value={self.scalar()})",
            f"F.pixel_shuffle({n}, {self.pick(1, 2)})", f"F.pixel_unshuffle({n}, {self.pick(1, 2)})", f"F.interpolate({n}, scale_factor=2)", f"F.interpolate({n}, size={self.pick(1, 3)}, mode='nearest')",
            f"F.max_pool2d({n}, {k}, 1)", f"F.avg_pool1d({n}, 2)", f"F.avg_pool2d({n}, 2, padding=1)", f"F.adaptive_max_pool1d({n}, 1)", f"F.unfold({n}, 1)", f"F.linear({n}, {self.some()})", f"F.linear({n}, {n})", f"F.conv1d({n}, {n})", f"F.conv2d({n}, {n}, padding=1)",
            f"F.embedding({self.whole(x)}, {n})", f"F.threshold({n}, 1, {self.scalar()})", f"F.hardtanh({n})", f"F.leaky_relu({n}, 0.5)", f"F.relu6({n})", f"F.l1_loss({n}, {n}, reduction={self.pick('sum', 'none')!r})", f"F.mse_loss({n}, {n}, reduction='none')", f"F.dropout({n}, 0.5, False)",
            f"F.glu({n}[..., :2] * 0)", f"F.channel_shuffle({n}, 1)", f"F.hardshrink({n})", f"F.softshrink({n})", f"F.celu({n} * 0)", f"F.max_pool1d({n}, 2, return_indices=True)[{self.pick(0, 1)}]", f"F.prelu({n}, torch.tensor([0.5]))", f"F.bilinear({n}, {n}, torch.ones(1, {x.size(-1) if x.dim() else 1}, {x.size(-1) if x.dim() else 1}))")

    def made(self):
        """An expression whose value is a tensor, of operators that compose others."""
        n, m, p = self.some(), self.some(), self.part()
        x, d = self.of(n), self.dim(self.of(n))
        i, s = self.whole(x), self.scalar()
        dtype = self.dtype()
        return self.pick(
            f"torch.einsum({self.pick('ij->ji', 'ij,jk->ik', 'ij,ij->i', 'ii->i', '...i->...', 'ij,kj->ik', 'i,j->ij', 'bij,bjk->bik', '...ij->...ji', 'ij->', 'i,i')!r}, {n}" + (f", {p})" if self.chance(0.7) else ")"),
            f"torch.cat([{n}, {p}], {d})", f"torch.cat([{p}, {n}, {m}])", f"torch.stack([{n}, {m}], {d})", f"torch.cat([{n}, torch.tensor([])], {d})", f"torch.hstack([{n}, {p}])", f"torch.dstack([{n}, {n}])", f"torch.column_stack([{n}, {p}])",
            f"{n}.sort({d}, stable=True)[{self.pick(0, 1)}]", f"{n}.topk({self.pick(1, 2)}, {d})[0]", f"{n}.unique()", f"torch.unique({n}, return_inverse=True)[1]", f"torch.unique({n}, return_counts=True)[1]", f"{n}.unique(dim={d})", f"torch.unique_consecutive({n})", f"{n}.msort()", f"{n}.kthvalue(1, {d})[0]",
            f"torch.where({p} > 0, {n}, {self.operand()})", f"torch.where({n} > 0, {s}, {self.scalar()})", f"{n}.masked_fill({p} > 0, {s})", f"{n}.masked_scatter({n} > 0, {p})", f"{n}.take_along_dim(torch.zeros({[1] * x.dim()}, dtype=torch.int64), {d})", f"{n}.index_put(({i},), {p})", f"{n}.index_put(({i},), {p}, accumulate=True)",
            f"{n}.index_add({d}, {i}, {p})", f"{n}.index_copy({d}, {i}, {p})", f"{n}.index_fill({d}, {i}, {s})", f"{n}.scatter_add({d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64), {n})", f"{n}.scatter_reduce({d}, torch.zeros({list(x.shape)}, dtype=torch.int64), {n}, {self.pick('sum', 'amax', 'amin', 'prod')!r})",
            f"{n}.to({dtype})", f"{n}.to({dtype}, copy=True)", f"{n}.to({m})", f"{p}.contiguous()", f"{p}.clone()", f"{p}.clone(memory_format=torch.contiguous_format)", f"{p}.reshape(-1)", f"{p}.flatten()", f"{n}.expand(2, *{n}.shape).reshape(-1)", f"torch.empty_like({p}).copy_({n})", f"torch.zeros_like({p}, dtype={dtype})",
            f"{n}.new_ones(2, 2)", f"{n} + {p}", f"{p} * {s}", f"{s} - {p}", f"{p} / 2", f"{p} // 2", f"{n} % {s}", f"{p} ** 2", f"{n} > {p}", f"~{n}", f"-{p}", f"{p}.abs()", f"{n}.clamp({p}, {self.pick('None', m)})", f"torch.maximum({n}, {p})", f"torch.add({n}, {p}, alpha=2)", f"torch.sub({s}, {n})", f"torch.true_divide({n}, 4)",
            f"torch.sum({p})", f"{p}.sum({d}, keepdim=True)", f"{p}.sum(({d}, 0))", f"{p}.amax({d})", f"{p}.argmax({d})", f"{p}.max({d})[0]", f"{p}.min({d})[1]", f"{p}.any({d})", f"{p}.cumsum({d})", f"{p}.cummax({d})[0]", f"{p}.prod({d})", f"{p}.mean({d})", f"{p}.count_nonzero({d})", f"{p}.median()", f"{p}.logsumexp({d}) * 0", f"{p}.nansum()", f"torch.aminmax({p})[0]", f"{p}.diff()", f"{p}.norm(1)", f"{p}.dist({n}, 1)",
            f"{n}.roll({self.pick(1, -1)}, {d})", f"{n}.flip({d})", f"{n}.rot90(1, ({d}, 0))", f"{n}.repeat({self.pick(1, 2)}, 2)", f"{n}.repeat_interleave({i})", f"{n}.tile((2,))", f"torch.tril({p})", f"torch.triu({p}, 1)", f"torch.diag_embed({p})", f"torch.block_diag({n}, {m})", f"torch.kron({n}, {m})", f"torch.tensordot({n}, {m}, 1)", f"torch.outer({n}, {m})", f"{n} @ {p}", f"{n}.mm({p})", f"torch.addmm({n}, {n}, {p})", f"torch.baddbmm({n}, {n}, {p})", f"{n}.mv({p})", f"torch.cross({n}, {n})", f"torch.cdist({n}, {p}, 1)",
            f"torch.bucketize({n}, torch.tensor([0, 1, 3]))", f"torch.searchsorted(torch.tensor([0, 1, 3]), {n})", f"torch.nonzero({p})", f"torch.argwhere({p})", f"{n}.bincount()", f"torch.histc({n}, 3)", f"torch.isin({n}, {p})", f"torch.isclose({n}, {p})", f"torch.combinations({n}.flatten()[:3])", f"torch.vander({n}.flatten()[:3])", f"torch.take({n}, {i})", f"{n}.gather({d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64))",
            f"torch.complex({n}, {p})", f"torch.view_as_real({n})", f"torch.view_as_complex({n})", f"{n}.real + 1", f"{n}.conj() * 2", f"{n}.conj().imag", f"torch.resolve_conj({p})", f"{n}.select_scatter({p}, {d}, 0)", f"{n}.slice_scatter({p}, {d})", f"{n}.diagonal_scatter({p})", f"torch.nan_to_num({p}, 1)", f"torch.heaviside({n}, {p})", f"torch.copysign({n}, {p})", f"torch.lerp({n}, {p}, 0.5)", f"torch.addcmul({n}, {n}, {p}, value=2)", f"torch.atleast_3d({p})", f"torch.broadcast_tensors({n}, {p})[1]", f"torch.movedim({p}, {d}, 0)", f"{p}.view_as({n})", f"torch.asarray({n})", f"torch.as_tensor({n}, dtype={dtype})", f"torch.tensor({p})", f"torch.tensor({n}.tolist())", f"torch.Tensor([{n}.tolist()])", f"{n}.type({dtype})", f"{n}.data", f"{n}.half()", f"{n}.detach()", f"{n}.T", f"{n}.swapdims(0, {d})", self.functional(), self.functional())

    def geometry(self):
        """Sizes, memory or products in place."""
        n, m = self.some(), self.some()
        apart, sizes, offset = self.apart(n), self.sizes()[:2], self.pick(0, 1)
        fits = self.of(m).untyped_storage().nbytes() // self.of(n).element_size() >= self.count(sizes) + offset and self.of(m).dtype == self.of(n).dtype
        return self.pick(f"{n}.{self.resized(n)}", f"{n}.resize_as_({m}).zero_()", f"{n}.set_({m}.untyped_storage(), {offset}, {sizes})" if fits else f"{n}.set_({m})", f"{n}.addmm_({apart}, {apart})", f"{n}.baddbmm_({apart}, {apart})", f"{n}.addr_({apart}, {apart})", f"{n}.addmv_({apart}, {apart})", f"{n}.addbmm_({apart}, {apart}, beta=0)")

    def number(self, dtype=None):
        """No nan: the order of several is open."""
        found = "nan"
        while "nan" in found:
            found = super().number(dtype)
        return found

    def in_place(self):
        n, m, q = self.some(), self.some(), self.part()
        x, d, p = self.of(n), self.dim(self.of(n)), self.once(n, self.part())
        s, i, o = self.scalar(), self.whole(x), self.operand()
        return f"{p}." + self.pick(f"add_({o})", f"sub_({q})", f"mul_({s})", f"div_({self.pick(2, 4)})", f"div_({q}, rounding_mode='floor')", f"copy_({q})", f"fill_({s})", f"fill_({m})", "zero_()", f"clamp_({s})", f"clamp_min_({s})", f"masked_fill_({q} > 0, {s})", f"masked_fill_({q} > 0, {m})", f"masked_scatter_({q} > 0, {n})",
                                   f"index_put_(({i},), {q})", f"index_put_(({i}, {i}), {q}, accumulate=True)", f"index_add_({d}, {i}, {q})", f"index_copy_({d}, {i}, {q})", f"index_fill_({d}, {i}, {s})", f"scatter_({d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64), {q})", f"scatter_add_({d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64), {q})", f"put_({i}, {q})", f"put_({i}, {q}, True)",
                                   f"cumsum_({d})", f"cumprod_({d})", "tril_()", "triu_(1)", f"fill_diagonal_({s})", "neg_()", "abs_()", "square_()", "sign_()", "floor_()", "logical_not_()", "bitwise_not_()", f"bitwise_and_({o})", f"eq_({q})", f"lt_({s})", f"pow_(2)", f"remainder_({s})", f"fmod_({s})", f"floor_divide_({s})", f"lerp_({q}, 0.5)", f"addcmul_({q}, {q})", f"nan_to_num_()", f"relu_()", "ceil_()", f"copysign_({q})", f"heaviside_({q})", f"conj_physical_()", f"set_({m})", f"set_()", f"detach_()",
                                   f"transpose_({d}, {self.dim(x)})", f"squeeze_({d})", f"unsqueeze_({d})", f"t_()", f"as_strided_({self.sizes()[:2]}, {[self.rng.randrange(4) for _ in range(2)]})", f"swapaxes_({d}, 0)", f"swapdims_({d}, 0)", f"data.add_(1)", f"renorm_(1, 0, 1000)", f"logical_and_({q})", f"xlogy_(torch.zeros(()))", f"clip_(max={s})", f"index_reduce_({d}, {i}, {q}, 'amax')", f"scatter_reduce_({d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64), {q}, 'sum')", "round_()", "trunc_()")

    def into(self):
        n, m = self.some(), self.some()
        p = n if self.chance(0.5) else self.view(n)  # what out= shares memory with is not read
        d, out = self.dim(self.of(n)), self.place(n)
        x, i, s = self.of(n), self.whole(self.of(n)), self.scalar()
        return f"torch." + self.pick(f"add({n}, {p}, out={out})", f"mul({n}, {s}, out={out})", f"sub({n}, {p}, alpha=2, out={out})", f"div({n}, 2, out={out})", f"eq({n}, {p}, out={out})", f"neg({n}, out={out})", f"abs({n}, out={out})", f"clamp({n}, 0, 2, out={out})", f"where({n} > 0, {n}, {m}, out={out})", f"maximum({n}, {p}, out={out})", f"pow({n}, 2, out={out})",
                                     f"cat([{n}, {n}], {d}, out={out})", f"stack([{n}, {n}], {d}, out={out})", f"sum({n}, {d}, out={out})", f"sum({n}, {d}, True, out={out})", f"prod({n}, {d}, out={out})", f"mean({n}, {d}, out={out})", f"amax({n}, {d}, out={out})", f"any({n}, {d}, out={out})", f"argmax({n}, {d}, out={out})", f"cumsum({n}, {d}, out={out})", f"max({n}, {d}, out=({out}, torch.empty(0, dtype=torch.int64)))", f"sort({n}, stable=True, dim={d}, out=({out}, torch.empty(0, dtype=torch.int64)))", f"topk({n}, 1, {d}, out=({out}, torch.empty(0, dtype=torch.int64)))", f"cummax({n}, {d}, out=({out}, torch.empty(0, dtype=torch.int64)))",
                                     f"mm({n}, {p}, out={out})", f"matmul({n}, {p}, out={out})", f"bmm({n}, {p}, out={out})", f"addmm({n}, {n}, {p}, out={out})", f"outer({n}, {p}, out={out})", f"dot({n}, {p}, out={out})", f"mv({n}, {p}, out={out})", f"index_select({n}, {d}, {i}, out={out})", f"take({n}, {i}, out={out})", f"gather({n}, {d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64), out={out})", f"masked_select({n}, {n} > 0, out={out})", f"nonzero({n}, out={out})", f"tril({n}, out={out})", f"diag({n}, out={out})", f"arange(4, out={out})", f"zeros({self.sizes()}, out={out})", f"full({self.sizes()}, 2, out={out})", f"linspace(0, 4, 5, out={out})", f"eye(2, out={out})", f"logical_not({n}, out={out})", f"bitwise_or({n}, {p}, out={out})", f"floor_divide({n}, 2, out={out})", f"sign({n}, out={out})", f"round({n}, out={out})", f"scatter({n}, {d}, torch.zeros({[1] * x.dim()}, dtype=torch.int64), {s}, out={out})", f"index_add({n}, {d}, {i}, {n}, out={out})", f"complex({n}, {n}, out={out})", f"real({n})", f"conj_physical({n}, out={out})", f"lerp({n}, {n}, 0.5, out={out})", f"addcmul({n}, {n}, {n}, out={out})", f"searchsorted(torch.tensor([0, 1, 3]), {n}, out={out})", f"isin({n}, {n}, out={out})", f"diff({n}, out={out})", f"hstack([{n}, {n}], out={out})", f"vstack([{n}, {n}], out={out})", f"split_copy({n}, 1, 0, out=[{out}])", f"norm({n}, 1, out={out})", f"std({n} * 0, {d}, out={out})", f"nansum({n}, {d}, out={out})", f"count_nonzero({n}, {d})", f"median({n}, {d}, out=({out}, torch.empty(0, dtype=torch.int64)))", f"ones({self.sizes()}, out={out})", f"msort({n}, out={out})", f"mode({n}, {d}, out=({out}, torch.empty(0, dtype=torch.int64)))", f"kthvalue({n}, 1, {d}, out=({out}, torch.empty(0, dtype=torch.int64)))", f"heaviside({n}, {n}, out={out})", f"result_type({n}, {p})", f"rot90({n})", f"polar({n}, {n} * 0, out={out})", f"trace({n})")

    def several(self):
        """Views of one tensor under two names."""
        n = self.some()
        d = self.dim(self.of(n))
        p, q = self.fresh(), self.fresh()
        return self.pick(f"{p}, {q} = {n}.chunk(2, {d})", f"{p}, {q} = {n}.split({self.pick(1, 2)}, {d})", f"{p}, {q} = {n}.tensor_split(2, {d})", f"{p}, {q} = {n}.unbind({d})", f"{p}, {q} = {n}", f"{p}, {q} = torch.broadcast_tensors({n}, {self.some()})", f"{p}, {q} = {n}.sort(stable=True)", f"{p}, {q} = {n}.topk(1)", f"{p}, {q} = {n}.max({d})", f"{p}, {q} = torch.meshgrid({n}.flatten()[:3], {self.some()}.flatten()[:3], indexing='ij')", f"{p}, {q} = {n}.unique(return_counts=True)", f"{p}, {q} = {n}.split_with_sizes([1, 1], {d})", f"{p}, {q} = {n}.hsplit(2)", f"{p}, {q} = torch.frexp({n}.float())", f"{p} = {q} = {n}", f"{p}, {q} = {q}, {p}" if {p, q} <= set(self.tensors()) else f"{p} = {n}")

    def statement(self):
        way = self.rng.random()
        if way < 0.06 or not self.tensors():
            return f"{self.fresh()} = {self.source()}"
        if way < 0.22:
            return f"{self.fresh()} = {self.view(self.some())}"
        if way < 0.3:
            return f"{self.fresh()} = {self.some()}[{self.index(self.of(self.some()))}]"
        if way < 0.5:
            return f"{self.fresh()} = {self.made()}"
        if way < 0.54:
            return self.several()
        if way < 0.68:
            n = self.some()
            return f"{n}[{self.index(self.of(n))}] {self.pick('=', '=', '=', '+=', '*=', '-=')} {self.part() if self.chance(0.5) else self.operand()}"
        if way < 0.84:
            return f"_ = {self.in_place() if self.chance(0.85) else self.geometry()}"
        if way < 0.98:
            return f"_ = {self.into()}"
        return f"torch.set_default_dtype({self.pick('torch.float64', 'torch.float32', 'torch.float16', 'torch.bfloat16')})"

    def make(self):
        for _ in range(self.pick(2, 2, 3)):
            self.run(f"{self.fresh()} = {self.source()}")
        self.show()
        for _ in range(self.rng.randrange(5, 16)):
            source = self.possible()
            if source is None:
                break
            good = self.run(source)
            if not good and ("out=" in source or "set_(" in source):
                break  # PyTorch may have changed sizes before it saw the fault
            if not self.small():
                break
            self.show()
        return self.steps

    def possible(self):
        for _ in range(20):
            try:
                source = self.statement()
                compile(source, "", "exec")
                return source
            except (IndexError, ValueError, SyntaxError, RuntimeError):
                continue
        return None

    def show(self):
        self.run("state(" + ", ".join(f"{n}={n}" for n in sorted(self.tensors())) + ")")

    def run(self, source):
        if not super().run(source) and source.startswith("state("):
            raise RuntimeError("a state that can't be told: " + self.steps[-1][2])
        return self.steps[-1][2] is None


if __name__ == "__main__":
    tensor_programs.Program = States
    sys.exit(tensor_programs.main())
