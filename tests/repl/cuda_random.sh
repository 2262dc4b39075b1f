# Random numbers of a device: PyTorch's, for a seed, an offset and the simulated GPU.
. "$(dirname "$0")/lib.sh"
need_kernels
# tests/oracle/curand_host.cc asked cuRAND; the launches of binomial are those that PyTorch makes under
# tests/oracle/pretended_cudart.c.
(echo "data = '$here/../data/cuda_random.txt'" && cat "$here/cuda_random.tsr") >"$work/random.tsr"
TEST_TIME=120 run --simulate-cuda "$work/random.tsr"
is 'each kind of number is dealt out as by cuRAND' '854 numbers' "$out$err"
# What torch.manual_seed(0) and 42 begin with on every NVIDIA GPU.
run --simulate-cuda -e "for seed in (0, 42):
    torch.manual_seed(seed); print(torch.rand(5, device='cuda'))
    torch.manual_seed(seed); print(torch.randn(5, device='cuda'))"
is 'the numbers that everybody knows' "tensor([0.3990, 0.5167, 0.0249, 0.9401, 0.9459], device='cuda:0')
tensor([-0.9247, -0.4253, -2.6438,  0.1452, -0.1209], device='cuda:0')
tensor([0.6130, 0.0101, 0.3984, 0.0403, 0.1563], device='cuda:0')
tensor([ 0.1940,  2.1614, -0.1721,  0.8491, -1.9244], device='cuda:0')" "$out$err"
# By how much the offset moves, as PyTorch says under tests/oracle/pretended_cudart.c, for 3, 5000 and 40000 elements.
cat >"$work/offsets.tsr" <<'END'
tsr.cuda_fallback('silent')
g = torch.cuda.default_generators[0]
def moved(f):
    g.set_offset(0)
    f()
    return g.get_offset()
for n in (3, 5000, 40000):
    x = torch.full((n,), 0.5, device='cuda'); half = x.clone(); d = x.double(); i = x.long(); h = x.half()
    print(*map(moved, [x.uniform_, x.normal_, d.uniform_, d.normal_, lambda: i.bernoulli_(0.3), lambda: x.bernoulli_(half), i.random_, lambda: i.random_(100),
        lambda: i.geometric_(0.5), h.exponential_, h.cauchy_, h.log_normal_, lambda: F.dropout(x), lambda: F.dropout(h), lambda: F.rrelu(x, training=True),
        lambda: torch.randperm(n, device='cuda'), lambda: torch.poisson(x.fill_(0.5)), lambda: torch.binomial(x, x.fill_(1)), lambda: torch._standard_gamma(x)]))
END
TEST_TIME=120 run --simulate-cuda "$work/offsets.tsr"
is 'the offset moves as in PyTorch' '4 4 4 4 4 12 4 4 4 4 4 4 4 4 4 8 20 44 12
4 4 4 4 4 12 4 4 4 4 4 4 4 4 4 5004 20 44 12
12 12 20 20 12 12 20 12 12 12 12 12 12 12 12 40020 20 44 12' "$out$err"
# torch.randperm: the order of random keys, of so many bits that only a few are equal.
cat >"$work/permutation.tsr" <<'END'
tsr.cuda_fallback('silent')
import math
for n in (1, 2, 100, 20000):
    torch.cuda.manual_seed(5)
    p = torch.randperm(n, device='cuda')
    torch.cuda.manual_seed(5)
    bits = math.ceil(math.log2(n - (6 * n * n + 1) / (12 * math.log(0.9))))
    keys = torch.empty(n, dtype=torch.int32, device='cuda').random_(-2**31, 2**31 - 1).cpu() & (1 << bits) - 1
    ordered = keys[p.cpu()]
    print(torch.equal(p.sort()[0].cpu(), torch.arange(n)), bool((ordered[1:] >= ordered[:-1]).all()), torch.randperm(n, device='cuda', dtype=torch.float64).dtype)
END
run --simulate-cuda "$work/permutation.tsr"
is 'permutations' 'True True torch.float64
True True torch.float64
True True torch.float64
True True torch.float64' "$out$err"
cat >"$work/more.tsr" <<'END'
import math
torch.cuda.manual_seed(1); a = torch.zeros(6, device='cuda').uniform_()
torch.cuda.manual_seed(1); b = torch.zeros(3, 2, device='cuda').t().uniform_()
torch.cuda.manual_seed(1); c = torch.zeros(12, device='cuda')[::2].uniform_()
print(a.tolist() == b.t().flatten().tolist(), a.tolist() == c.tolist())
def answer(f):
    try:
        return f()
    except Exception as error:
        return type(error).__name__ + ": " + str(error).split('  (')[0]
g = torch.Generator('cuda')
z = torch.zeros(3, device='cuda')
for f in [lambda: g.get_offset(), lambda: g.set_offset(8).get_offset(), lambda: g.set_offset(5), lambda: g.set_offset('a'), lambda: torch.Generator().get_offset(), lambda: torch.Generator().set_offset(4),
          lambda: g.clone_state().get_offset(), lambda: g.set_state(torch.tensor([1] * 8 + [5] + [0] * 7, dtype=torch.uint8)), lambda: g.manual_seed(3).get_offset(),
          lambda: z.int().normal_(), lambda: z.to(torch.complex64).bernoulli_(0.5), lambda: z.to(torch.uint16).random_(), lambda: z.bernoulli_(z.long()), lambda: F.dropout(z.long()),
          lambda: F.dropout(z.to(torch.complex64)).dtype, lambda: torch.native_dropout(z.to(torch.complex64), 0.5, True),
          lambda: torch.randperm(5, device='cuda', dtype=torch.bool), lambda: torch.randperm(5, device='cuda', dtype=torch.bfloat16),
          lambda: torch.poisson(z.long()), lambda: torch.binomial(z.to(torch.float8_e5m2), z.to(torch.float8_e5m2)), lambda: torch._sample_dirichlet(z.int()),
          lambda: torch.multinomial(z.to(torch.float8_e5m2), 2, True), lambda: torch.poisson(z - 1).tolist(), lambda: torch.multinomial(z - 1, 5, True).tolist(),
          lambda: torch.multinomial(z, 5, True).tolist(), lambda: torch.poisson(z).tolist(), lambda: torch.binomial(z + math.nan, z + 0.5).tolist(),
          lambda: torch.bernoulli(z + 2).tolist(), lambda: torch.rand(2, device='cuda', generator=torch.Generator())]:
    print(answer(f))
def moments(x):
    return [round(x.double().mean().item(), 1), round(x.double().var().item(), 1)]
torch.cuda.manual_seed(2)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    many = torch.full((10000,), 6.0, dtype=dtype, device='cuda')
    print(moments(torch.poisson(many)), moments(torch.binomial(many + 18, many / 24)), moments(torch._standard_gamma(many)), moments(torch.multinomial(torch.ones(8, dtype=dtype, device='cuda'), 10000, True)))
shares = torch._sample_dirichlet(torch.full((2, 3), 1e-3, device='cuda'))
print(shares.dtype, bool((shares > 0).all() and (shares < 1).all()))
z.normal_(); torch.bernoulli(z.uniform_()); F.dropout(z, inplace=True); torch.alpha_dropout(z, 0.5, True); torch.normal(z, 1.0); torch.normal(0.0, z.abs()); torch.rand_like(z); torch.randint_like(z, 3)
END
TEST_TIME=120 run --simulate-cuda "$work/more.tsr"
is 'layouts, offsets and refusals' "True True
0
8
RuntimeError: offset must be a multiple of 4
RuntimeError: manual_offset expected a long, but got str
RuntimeError: CPU Generator does not use offset
RuntimeError: CPU Generator does not use offset
8
RuntimeError: offset must be a multiple of 4
0
NotImplementedError: \"normal_kernel_cuda\" not implemented for 'Int'
NotImplementedError: \"bernoulli_scalar_cuda_\" not implemented for 'ComplexFloat'
NotImplementedError: \"random_kernel_cuda\" not implemented for 'UInt16'
RuntimeError: expected probabilities tensor to have floating type, got Long
NotImplementedError: \"fused_dropout\" not implemented for 'Long'
torch.complex64
NotImplementedError: \"fused_dropout\" not implemented for 'ComplexFloat'
NotImplementedError: \"arange_cuda\" not implemented for 'Bool'
NotImplementedError: \"randperm_out_cuda\" not implemented for 'BFloat16'
NotImplementedError: \"poisson_cuda\" not implemented for 'Long'
NotImplementedError: \"binomial_cuda\" not implemented for 'Float8_e5m2'
NotImplementedError: \"gamma_cuda\" not implemented for 'Int'
NotImplementedError: \"multinomial_kernel_cuda\" not implemented for 'Float8_e5m2'
RuntimeError: invalid Poisson rate, expected rate to be non-negative
RuntimeError: invalid multinomial distribution (encountering probability entry < 0)
RuntimeError: invalid multinomial distribution (sum of probabilities <= 0)
[0.0, 0.0, 0.0]
[0.0, 0.0, 0.0]
RuntimeError: Expected p_in >= 0 && p_in <= 1 to be true, but got false.
RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'
[6.0, 6.0] [6.0, 4.5] [6.0, 6.0] [3.5, 5.3]
[6.0, 6.1] [6.0, 4.5] [6.0, 6.0] [3.5, 5.3]
[6.0, 5.9] [6.0, 4.5] [6.0, 6.0] [3.5, 5.4]
torch.float32 True" "$out"
is 'and nothing of it ran on the host' '' "$(echo "$err" | grep 'ran on the host')"
exit $bad
