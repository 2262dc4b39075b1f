"""Random programs that draw: every sampler, dtype, count, target and generator, with what each leaves of the stream.

What is drawn is shown to the last bit, what functions that round make of it by its printed digits.

    python3 tests/oracle/tensor_streams.py --tsr build/tsr [--seed N] [--programs N]     as tensor_programs.py, whose options it has
"""
import sys

import tensor_programs

FLOATS = ["float32"] * 4 + ["float64"] * 3 + ["float16", "bfloat16"]
INTEGERS = ["int64", "int64", "int32", "int16", "int8", "uint8"]


class Streams(tensor_programs.Program):
    def count_drawn(self):
        return self.pick(self.rng.randrange(71), self.pick(15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65), self.rng.randrange(8))

    def sizes(self):
        n = self.count_drawn()
        if self.chance(0.6):
            return [n]
        return self.pick([n // 4, 4], [2, n // 2], [n, 1], [2, 2, n // 4], [], [3, 0], [1, n])

    def dtype(self):
        return "torch." + self.rng.choice(FLOATS)

    def generator(self):
        return self.pick("", "", "", ", generator=G", ", generator=None")

    def target(self, dtype=None):
        """A tensor to be filled: dense, strided, permuted, overlapping none."""
        sizes, dtype = self.sizes(), dtype or self.dtype()
        made = f"torch.zeros({sizes}, dtype={dtype})"
        n = self.count(sizes)
        return self.pick(made, made, f"torch.zeros({2 * n + 1}, dtype={dtype})[1::2]", f"torch.zeros([4, {n // 4}], dtype={dtype}).t()", f"torch.zeros([2, 3, {n // 6}], dtype={dtype}).permute(2, 0, 1)", f"torch.zeros([{n}, 3], dtype={dtype})[:, 1]",
                         f"torch.zeros([3, {n // 3 + 1}], dtype={dtype})[:, 1:]", f"torch.zeros([1, 2, {n // 8}, 4], dtype={dtype}).contiguous(memory_format=torch.channels_last)", f"torch.zeros({n + 1}, dtype={dtype})[1:]")

    def positive(self, dtype):
        return f"torch.full({self.sizes()}, {self.pick(0.25, 1.0, 2.5, 11.0, 30.5)}, dtype={dtype})"

    def out(self, dtype):
        return self.pick("", "", "", f", out={self.target(dtype)}", f", out=torch.empty(0, dtype={dtype})")

    def in_place(self):
        g = self.generator()
        real = [f"uniform_(%s{g})" % self.pick("", "", "-2, 3", "5, 5.5"), f"normal_(%s{g})" % self.pick("", "", "2, 3", "0, 0"), f"exponential_(%s{g})" % self.pick("", "2.5"), f"cauchy_(%s{g})" % self.pick("", "1, 2"), f"log_normal_(%s{g})" % self.pick("", "0.5, 0.25"), f"geometric_({self.pick(0.1, 0.5, 0.9)}{g})"]
        anything = [f"random_(%s{g})" % self.pick("", "", "7", "2, 9", "-5, 5", "100"), f"bernoulli_(%s{g})" % self.pick("", "0.3", "0.0", "1.0"), f"geometric_(0.4{g})"]
        if self.chance(0.6):
            return self.target(), self.rng.choice(real + anything)
        return self.target("torch." + self.rng.choice(INTEGERS + ["bool"])), self.rng.choice(anything[:2])

    def made(self):
        g, dtype, sizes, n = self.generator(), self.dtype(), self.sizes(), self.count_drawn()
        whole = "torch." + self.rng.choice(INTEGERS)
        p = self.pick(0.0, 0.2, 0.5, 0.9, 1.0)
        return self.pick(f"torch.rand({sizes}{g}, dtype={dtype})", f"torch.randn({sizes}{g}, dtype={dtype})", f"torch.rand({sizes}{g}{self.out('torch.float32')})", f"torch.randn({sizes}{g}{self.out('torch.float32')})", f"torch.randint({self.pick('10', '2, 5', '-3, 3', '2 ** 40', '100')}, {sizes}{g})",
                         f"torch.randint({self.pick('2', '9', '1, 100')}, {sizes}, dtype={self.pick(whole, dtype, 'torch.bool') if self.chance(0.5) else whole}{g})", f"torch.randperm({n}{g}{self.out('torch.int64')})", f"torch.randperm({n}{g}, dtype={self.pick(whole, dtype)})", f"torch.rand_like({self.target()})", f"torch.randn_like({self.target()})",
                         f"torch.randint_like({self.target()}, {self.pick('4', '-2, 8')})", f"torch.normal({self.pick(0.0, 1.5)}, {self.pick(1.0, 0.5)}, {sizes}{g})", f"torch.normal({self.positive(dtype)}, {self.pick(1.0, 2.0)}{g})", f"torch.normal({self.pick(0.0, 1.5)}, {self.positive(dtype)}{g})", f"torch.normal(torch.zeros({sizes}, dtype={dtype}), torch.ones({sizes}, dtype={dtype}){g})",
                         f"torch.bernoulli(torch.full({sizes}, {p}, dtype={dtype}){g})", f"torch.bernoulli(torch.full({sizes}, 0.5), {p}{g})", f"{self.target()}.bernoulli({p}{g})", f"torch.zeros({sizes}).bernoulli_(torch.full({sizes}, {p}, dtype={self.pick(dtype, 'torch.float32')}){g})", f"torch.poisson({self.positive(dtype)}{g})",
                         f"torch.binomial({self.positive(dtype)}.floor(), torch.tensor({p}, dtype={dtype}){g})", f"torch.multinomial(torch.arange({self.pick(1, 3, 9, 20)}, dtype={dtype}) + 1, {self.pick(1, 2, 3)}, {self.pick('True', 'True', 'False')}{g})", f"torch.multinomial(torch.ones([{self.pick(1, 2, 3)}, {self.pick(3, 5, 17)}], dtype={dtype}), {self.pick(1, 2, 3)}{self.pick('', ', True')}{g})",
                         f"F.dropout({self.target()} + 1, {self.pick(p, 0.5)})", f"F.dropout1d(torch.ones([2, {n % 9 + 1}, 3]), {p})", f"F.dropout2d(torch.ones([{n % 5 + 1}, 3, 2, 2]), {p})", f"F.dropout3d(torch.ones([2, {n % 7 + 1}, 1, 2, 1]), {p})", f"F.alpha_dropout({self.target()} + 1, {self.pick(p, 0.5)}, True)", f"F.feature_alpha_dropout(torch.ones([2, {n % 7 + 1}, 2]), {p}, True)", f"torch.native_dropout(torch.ones({sizes}), {p}, True)[0]",
                         f"F.rrelu({self.target()} - 1, training=True)", f"F.rrelu({self.target()} - 1, 0.1, 0.9, True)", f"F.gumbel_softmax(torch.zeros([{n % 6 + 1}, 3]), tau={self.pick(1, 0.5)}, hard={self.pick(True, False)})", f"torch._standard_gamma({self.positive(dtype)}{g})" if "16" not in dtype else f"torch.rand({n}{g})", f"torch._sample_dirichlet(torch.full([{n % 5 + 1}, 3], 0.7){g})",
                         f"torch.randn({n}, dtype={self.pick('torch.complex64', 'torch.complex128')}{g})", f"torch.rand({n}, dtype={self.pick('torch.complex64', 'torch.complex128')}{g})", f"torch.empty([{n}, {n % 7 + 1}]).normal_(1, 2{g})", f"torch.rand({self.pick(100, 1000, 2500)}{g})[-9:]", f"torch.randn({self.pick(100, 1000, 2500)}, dtype={dtype}{g})[-9:]", f"torch.randint(9, ({self.pick(100, 1000)},){g})[-9:]", f"torch.randperm({self.pick(100, 1000, 70000)}{g})[-9:]")

    def weights(self):
        n = self.count_drawn() + 1
        shape = self.pick(f"[{n}, {self.pick(1, 2, 5, 9)}]", f"[{self.pick(2, 4)}, 3, {n % 5 + 1}]", f"[{n % 6 + 1}, {n % 6 + 1}]", f"[4, 2, {n % 4 + 1}, 3]")
        w = f"torch.empty({shape}, dtype={self.pick('torch.float32', 'torch.float64')})"
        return "torch.nn.init." + self.pick(f"uniform_({w}{self.pick('', ', -1, 1')})", f"normal_({w}{self.pick('', ', 1, 2')})", f"trunc_normal_({w}{self.pick('', ', 0, 0.5, -0.5, 1')})", f"xavier_uniform_({w}{self.pick('', ', gain=2')})", f"xavier_normal_({w})", f"kaiming_uniform_({w}{self.pick('', ', a=0.5', ', mode=%r' % 'fan_out')})", f"kaiming_normal_({w}{self.pick('', ', nonlinearity=%r' % 'relu')})", f"orthogonal_({w}.double())", f"sparse_(torch.empty([{n % 9 + 1}, {n % 5 + 1}]), {self.pick(0.1, 0.5)})")

    def distribution(self):
        many = lambda: self.pick("0.5", "2.0", f"torch.full([{self.count_drawn() % 20}], {self.pick(0.5, 1.0, 3.0)})", "torch.tensor([0.2, 1.5, 4.0])", "torch.tensor([0.5, 2.0], dtype=torch.float64)")
        a = many()
        p = self.pick("0.3", "torch.tensor([0.1, 0.5, 0.9])", "torch.full([17], 0.5)")
        w = self.pick("torch.tensor([0.2, 0.3, 0.5])", "torch.ones([2, 5])")
        made = self.pick(f"Normal(0.0, {a})", f"Uniform(-1.0, {a})", f"Exponential({a})", f"Gamma({a}, {self.pick(1.0, 2.0)})", f"Beta({a}, 1.5)", f"Chi2({a})", f"StudentT({a})", f"Cauchy(0.0, {a})", f"HalfCauchy({a})", f"HalfNormal({a})", f"Laplace(0.5, {a})", f"LogNormal(0.0, {a})", f"Gumbel(99.0, {a})", f"Weibull({a}, 2.0)", f"Pareto({a}, 2.0)", f"Poisson({a})", f"InverseGamma({a}, 1.0)", f"Geometric({p})", f"Bernoulli({p})", f"Binomial(9, {p})", f"NegativeBinomial(5.0, {p})", f"Categorical({w})", f"OneHotCategorical({w})", f"Multinomial(6, {w})", f"Dirichlet({w})",
                         "MultivariateNormal(torch.zeros(3), torch.eye(3))", f"MixtureSameFamily(Categorical(torch.ones(3)), Normal(torch.tensor([0.0, 1.0, 2.0]), 0.5))", f"LogisticNormal(torch.zeros(3), {self.pick(1.0, 0.5)})", f"Independent(Normal(torch.zeros(3), 1.0), 1)", f"FisherSnedecor({a}, 5.0)", f"GeneralizedPareto(0.0, {a}, {self.pick(0.0, 0.3, -0.5)})", f"VonMises(0.5, {a})", f"ContinuousBernoulli({p})", f"Kumaraswamy({a}, 2.0)", f"RelaxedBernoulli(torch.tensor(0.5), {p})", f"RelaxedOneHotCategorical(torch.tensor(0.7), {w})", f"LKJCholesky({self.pick(2, 3, 5)}, {a})", f"OneHotCategoricalStraightThrough({w})",
                         "LowRankMultivariateNormal(torch.zeros(3), torch.ones(3, 2), torch.ones(3))")
        made = made.replace("(Categorical", "(D.Categorical").replace(", Normal(", ", D.Normal(").replace("(Normal", "(D.Normal")
        return f"torch.distributions.{made}.{self.pick('sample', 'sample', 'rsample')}({self.pick('', '', '(2,)', '(3, 5)', '(16,)', '(0,)')})"

    def state(self):
        return self.pick(f"torch.manual_seed({self.pick(0, 1, 42, -1, 2 ** 40, self.rng.randrange(10 ** 6))})", f"torch.manual_seed({self.rng.randrange(10 ** 6)})", f"_ = G.manual_seed({self.rng.randrange(10 ** 6)})", "S = torch.get_rng_state()", "torch.set_rng_state(S)", "S = G.get_state()", "G.set_state(S)", "G = torch.Generator().manual_seed(7)", "H = G.clone_state()", "torch.get_rng_state().sum()", "G.get_state().sum()", "torch.initial_seed()", "G.initial_seed()", f"with torch.random.fork_rng():\n    print(torch.{self.pick('rand(5)', 'randn(17)', 'randperm(9)', 'randn(3)')})", "torch.default_generator.get_state()[:40].tolist()", "torch.default_generator is torch.default_generator")

    def statement(self):
        way = self.rng.random()
        if way < 0.2:
            return self.state()
        if way < 0.45:
            target, call = self.in_place()
            return self.pick(f"{target}.{call}.tolist()", f"x = {target}; _ = x.{call}; x.tolist()")
        if way < 0.8:
            made = self.made()
            return made if "gumbel" in made else made + ".tolist()"
        return self.weights() if way < 0.88 else self.distribution()

    def make(self):
        self.run("D = torch.distributions; F = torch.nn.functional")
        self.run(f"torch.manual_seed({self.rng.randrange(1000)}); G = torch.Generator(); S = torch.get_rng_state()")
        for _ in range(self.rng.randrange(6, 24)):
            source = self.statement()
            if not self.run(source) and "out=" in source:
                break  # PyTorch may have resized out= before it saw the fault
        self.run("torch.rand(3).tolist(), torch.randn(3).tolist()")
        return self.steps

    def run(self, source):
        return super().run("_ = " + source if source.startswith("torch.manual_seed(") else source)


if __name__ == "__main__":
    tensor_programs.Program = Streams
    sys.exit(tensor_programs.main())
