# Tensors on a simulated CUDA device: every operator's example, ownership, errors, memory, faults. No GPU is needed.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/../.." && pwd)
sim() { run --simulate-cuda "$@"; }

# Each example of the manual, on the host and on the device: the same output but for the device's name. `whitespace` is
# folded, since a line may break elsewhere. get_device() says 0 in place of -1, type() torch.cuda.FloatTensor; is_shared() is
# left out: True there; so are nested tensors, which live on the host. A sum of zeros has the sign that its order gives it, which is another one for factors and inverses.
sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\(ha/^/g; s/\\(ga/`/g; s/\\(ti/~/g; s/\\e/\\/g; s/\\&//g' "$here/man/tsr-ops.7" |
    sed -n -e '/is_shared()/d' -e '/ones(2), arange(3\.)\],/,/dtype=torch.nested/d' -e 's/^ *>>> //p' -e 's/^ *\.\.\. /    /p' >"$work/host.tsr"
(echo "torch.set_default_device('cuda'); tsr.cuda_fallback('silent')" && cat "$work/host.tsr") >"$work/device.tsr"
plain() { tr -s ' \n' '  ' | sed "s/, device='cuda:0'//g;s/torch\.cuda\.\([A-Z]\)/torch.\1/g;  s/\(([^()]*),\) size=/\1 size=/g; s/-\(0\.0000\)/ \1/g; s/[-+]0\.j/+0.j/g" | tr -s ' ' | sed 's/\[ /[/g'; }
"$tsr" --simulate-cuda --echo "$work/device.tsr" >"$work/device.raw" 2>&1
is 'every example runs on the device' 0 "$?"
grep -v '^0$' "$work/device.raw" | plain >"$work/device.out"
is 'and says where it is' yes "$([ "$(grep -c "cuda:0" "$work/device.raw")" -gt 400 ] && echo yes)"
"$tsr" --echo "$work/host.tsr" 2>&1 | grep -v -e '^-1$' -e '^0$' | plain >"$work/host.out"
is 'every example prints the same' '' "$(cmp "$work/host.out" "$work/device.out" 2>&1)"

sim -e "x = torch.arange(6.).cuda().reshape(2, 3)
print(x, x.t().is_cuda, x.device, x.cuda() is x)
print(x.cpu(), x.to('cuda:0') is x, x.to('cpu', float64))"
is 'over and back' "tensor([[0., 1., 2.],
        [3., 4., 5.]], device='cuda:0') True cuda:0 True
tensor([[0., 1., 2.],
        [3., 4., 5.]]) True tensor([[0., 1., 2.],
        [3., 4., 5.]], dtype=torch.float64)" "$out"
sim -e "tsr.cuda_fallback('silent')
x = torch.zeros(2, 3, device='cuda')
x.t()[0] = 7
x[1, 1] = 5
x.add_(1)
print(x.tolist(), x[0, 0].item(), x._version, float(x.sum()))"
is 'written through views' '[[8.0, 1.0, 1.0], [8.0, 6.0, 1.0]] 8.0 3 25.0' "$out"
sim -e "tsr.cuda_fallback('silent')
def same(**how):
    x = torch.arange(24.).reshape(1, 2, 3, 4)
    y = torch.nn.functional.interpolate(x.cuda(), **how)
    return y.is_cuda and torch.equal(y.cpu(), torch.nn.functional.interpolate(x, **how))
print(same(scale_factor=2), same(size=[5, 6], mode='bilinear'), same(size=[7, 3], mode='bicubic'))"
is 'interpolate of planes that lie there' 'True True True' "$out"
cat >"$work/indices.tsr" <<'END'
tsr.cuda_fallback('silent')
def answer(f):
    try:
        return f()
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
def put(x, i, value):
    x[i] = value
    return x.tolist()
x = torch.arange(6., device='cuda').reshape(2, 3)
one = torch.tensor([1])
for i in [[1], ([0, 1], [2, 0]), one, one.cuda(), x > 3, torch.tensor([True, False]), (..., [0]), (None, [0]), (slice(1, 2), [-1])]:
    y = x[i]
    print(y.tolist() == x.cpu()[i.cpu() if isinstance(i, torch.Tensor) else i].tolist(), y.device)
print(put(x.clone(), [1], 7), put(x.clone(), x > 3, torch.tensor(-1.)), put(x.cpu(), [0], torch.tensor(8.).cuda()), put(x.clone(), one, torch.ones(3).cuda()))
print(x.index_put((one,), torch.tensor(5.)).tolist())
for f in [lambda: x.cpu()[one.cuda()], lambda: x[one.to('cuda:1')], lambda: put(x, [0], torch.ones(3)), lambda: put(x.cpu(), [0], torch.ones(3).cuda()),
          lambda: x.index_put((one,), torch.ones(3)), lambda: x[[5]], lambda: put(x, [1, 5], 7), lambda: x.tolist()]:
    print(answer(f))
for f in [lambda: torch.ones(2).set_(x), lambda: x.set_(torch.ones(2)), lambda: x.set_(x.to('cuda:1').untyped_storage()), lambda: TH.set(torch.ones(2), x)]:
    print(answer(f).split(".  ")[0])
y = torch.ones(2)
y.data = x
print(y.device, y.tolist() == x.tolist())
END
TSR_SIM_DEVICES=2 run --simulate-cuda "$work/indices.tsr"
is 'tensors as indices, and whose storage may be whose' "True cuda:0
True cuda:0
True cuda:0
True cuda:0
True cuda:0
True cuda:0
True cuda:0
True cuda:0
True cuda:0
[[0.0, 1.0, 2.0], [7.0, 7.0, 7.0]] [[0.0, 1.0, 2.0], [3.0, -1.0, -1.0]] [[8.0, 8.0, 8.0], [3.0, 4.0, 5.0]] [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]
[[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]]
RuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cpu)
RuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cuda:0)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
IndexError: index 5 is out of bounds for dimension 0 with size 2
IndexError: index 5 is out of bounds for dimension 0 with size 2
[[0.0, 1.0, 2.0], [7.0, 7.0, 7.0]]
RuntimeError: Attempted to set the storage of a tensor on device \"cpu\" to a storage on different device \"cuda:0\"
RuntimeError: Attempted to set the storage of a tensor on device \"cuda:0\" to a storage on different device \"cpu\"
RuntimeError: Attempted to set the storage of a tensor on device \"cuda:0\" to a storage on different device \"cuda:1\"
RuntimeError: Attempted to set the storage of a tensor on device \"cpu\" to a storage on different device \"cuda:0\"
cuda:0 True" "$out$err"
sim -e "x = torch.linalg.eigvals(torch.eye(3, device='cuda'))"
is 'a note of what runs on the host' 1 "$(echo "$err" | grep -c '^note: linalg.eigvals ran on the host')"
sim -e "x = torch.eye(3, device='cuda'); tsr.cuda_fallback('error'); torch.linalg.eigvals(x)"
is 'or an error' "NotImplementedError: Could not run 'aten::linalg.eigvals' with arguments from the 'CUDA' backend." "$(last)"
sim -e "y = torch.ones(3, 1, device='cuda')
x = torch.histogram(y, 3); torch.histogram(y, 3); torch.histogramdd(y, [3]); torch.histogramdd(y, [3])"
is 'a note once an operator' '2' "$(echo "$err" | grep -c 'ran on the host')"
sim -e "tsr.cuda_fallback('error'); torch.histogram(torch.ones(2).cuda(), 3)"
is 'or an error' "NotImplementedError: Could not run 'aten::histogram' with arguments from the 'CUDA' backend." "$(last)"
for case in "x + torch.ones(3)|found at least two devices, cuda:0 and cpu!" \
    "torch.ones(3) * x|found at least two devices, cuda:0 and cpu!" "torch.cat([x, torch.ones(3)])|on cuda:0"; do
    sim -e "x = torch.ones(3).cuda(); ${case%|*}"
    is "two devices: ${case%|*}" 1 "$(last | grep -c "^RuntimeError: Expected all tensors to be on the same device, but .*${case#*|}")"
done
TSR_SIM_DEVICES=2 sim -e "tsr.cuda_fallback('silent')
a = torch.ones(2, device='cuda:1'); torch.cuda.set_device(1)
print(torch.cuda.device_count(), torch.cuda.current_device(), torch.ones(1, device='cuda').device, a.to('cuda:0') + 1)
a + a.to('cuda:0')"
is 'two GPUs' "2 1 cuda:1 tensor([2., 2.], device='cuda:0')" "$out"
is 'do not mix' "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!" "$(last)"
sim -e "torch.ones(2, device='cuda:7')"
is 'there is no eighth' 1 "$(echo "$err" | grep -c '^torch.AcceleratorError: CUDA error: invalid device ordinal')"

# Memory, by PyTorch's rules: 512 bytes the least, segments of 2 MiB, 20 MiB and multiples of 2 MiB.
sim -e "m = lambda: (torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
a = torch.empty(1, device='cuda'); print(m())
b = torch.empty(1 << 20, dtype=torch.uint8, device='cuda'); print(m())
c = torch.empty((1 << 20) + 1, dtype=torch.uint8, device='cuda'); print(m())
d = torch.empty(20 << 20, dtype=torch.uint8, device='cuda'); print(m())
del a, b, c, d; print(m()); torch.cuda.empty_cache(); print(m(), torch.cuda.max_memory_allocated())
print(torch.cuda.mem_get_info(), torch.cuda.get_device_name())"
is 'the caching allocator' "(512, 2097152)
(1049088, 2097152)
(2098176, 23068672)
(23069696, 44040192)
(0, 44040192)
(0, 0) 23069696
(268435456, 268435456) Simulated CUDA device" "$out"
TSR_SIM_MEMORY=32 sim -e "x = torch.empty(20 << 20, dtype=torch.uint8, device='cuda'); del x
y = torch.empty(24 << 20, dtype=torch.uint8, device='cuda'); print(torch.cuda.memory_reserved())
torch.empty(16 << 20, dtype=torch.uint8, device='cuda')"
is 'cached segments go before memory is short' 25165824 "$out"
is 'and then it is' 1 "$(last | grep -c '^torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 MiB. GPU 0 has a total capacity of 32.00 MiB of which 8.00 MiB is free. Of the allocated memory 24.00 MiB is allocated by PyTorch, and 0 bytes is reserved')"
run --simulate-cuda --max-memory 30M -e "x = torch.empty(60 << 20, dtype=torch.uint8, device='cuda'); print(x.is_cuda)"
is "a device's bytes are not the host's" True "$out"

# Pinned memory: the host's, from the driver; copies with it need not be waited for.
sim -e "x = torch.arange(6.).reshape(2, 3).t()
p = x.pin_memory()
print(x.is_pinned(), p.is_pinned(), p.pin_memory() is p, p[1:].is_pinned(), p.device, p.stride(), torch.equal(x, p))
print(torch.ones(2, pin_memory=True).is_pinned(), torch.tensor([1], pin_memory=True).is_pinned(), torch.ones(2).is_pinned())
print(torch.eye(2).to_sparse().pin_memory().is_pinned(), p.untyped_storage().is_pinned(), x.untyped_storage().pin_memory().is_pinned())
print(p.cuda().is_pinned(), p.cuda().to('cpu', non_blocking=True).is_pinned(), p.cuda().cpu().is_pinned(), torch.zeros(2, device='meta', pin_memory=True).is_pinned())
print([(a['name'], a['live']) for a in tsr.allocators() if a['name'] == 'pinned'])
print(torch.cuda.host_memory_stats()['active_bytes.current'])"
is 'pinned memory' "False True True True cpu (1, 3) True
True True False
True True True
False True False False
[('pinned', 24)]
512" "$out"
sim -e "torch.ones(2).cuda().pin_memory()"
is 'no memory of a device is pinned' "RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned" "$(last)"
run -e "torch.ones(2).pin_memory()"
is 'nothing is pinned without a driver' 'RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx' "$(last)"
sim -e "p = torch.ones(3, pin_memory=True); c = torch.empty(3, device='cuda')
c.copy_(p, non_blocking=True); p.fill_(2); torch.cuda.synchronize(); print(c.tolist())
h = c.to('cpu', non_blocking=True); c.copy_(torch.zeros(3)); print(h.tolist())
for i in range(3):
    p = torch.full((3,), float(i)).pin_memory(); c.copy_(p, non_blocking=True); del p
print(c.tolist(), torch.cuda.host_memory_stats()['active_requests.current'])"
is 'what is copied later is there later' '[2.0, 2.0, 2.0]
[2.0, 2.0, 2.0]
[2.0, 2.0, 2.0] 1' "$out"

# Streams: late, in an order drawn from a seed, but for what events say.
cat >"$work/streams.tsr" <<'END'
tsr.cuda_fallback('silent')
s = torch.cuda.Stream()
r = torch.cuda.Stream()
a = torch.arange(3.).pin_memory()
x = torch.empty(3, device='cuda')
y = torch.empty(3, device='cuda')
z = torch.empty(3, device='cuda')
for i in range(20):
    with torch.cuda.stream(s):
        x.copy_(a, non_blocking=True)
        e = s.record_event()
    with torch.cuda.stream(r):
        r.wait_event(e)
        y.copy_(x)
    torch.cuda.current_stream().wait_stream(r)
    z.copy_(y)
    s.wait_stream(torch.cuda.current_stream())
    s.synchronize()
    a += 1
print(z, s.query(), r.query())
print(s.stream_id, r.stream_id, torch.cuda.current_stream().stream_id, s == torch.cuda.Stream(stream_id=3, device_index=0, device_type=1), s.device)
with torch.cuda.stream(s), r:
    print(torch.cuda.current_stream() == r)
print(torch.cuda.current_stream(), torch.cuda.Stream(priority=-1).priority)
e, f = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
e.record(); z.copy_(y); f.record(); f.synchronize()
print(e.query(), e.elapsed_time(f) > 0, torch.cuda.Event())
with torch.cuda.stream(s):
    w = torch.empty(3, device='cuda')
w.record_stream(r)
del w
with torch.cuda.stream(r):
    z.copy_(y)
print(torch.cuda.memory_stats()['allocation.all.current'], torch.cuda.memory_stats()['active.all.current'])
torch.cuda.synchronize()
torch.cuda.empty_cache()
print(torch.cuda.memory_stats()['active.all.current'])
END
wrong=
for seed in 1 2 3 4 5; do
    TSR_SIM_SEED=$seed run --simulate-cuda "$work/streams.tsr"
    [ "$err$out" = "tensor([19., 20., 21.], device='cuda:0') True True
3 35 0 True cuda:0
True
<torch.cuda.Stream device=cuda:0 cuda_stream=0x0> -1
True True <torch.cuda.Event uninitialized>
3 4
3" ] || wrong="$wrong seed $seed: $err$out"
done
is 'streams and events' '' "$wrong"
cat >"$work/races.tsr" <<'END'
tsr.cuda_fallback('silent')
s = torch.cuda.Stream()
a = torch.ones(4, device='cuda')
b = torch.zeros(4, device='cuda')
torch.cuda.synchronize()
with torch.cuda.stream(s):
    b.copy_(a)
a.add_(1)                           # read on s meanwhile
s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    b.copy_(a)
    b[2:].copy_(a[:2])
b[:2].add_(1)                       # written on s meanwhile
s.synchronize()
b.add_(1)
with torch.cuda.stream(s):
    b.add_(1)                       # b was written here and there
torch.cuda.synchronize()
b.add_(1)
with torch.cuda.stream(s):
    a.add_(1)                       # nobody else's meanwhile
END
run --simulate-cuda "$work/races.tsr"
is 'a note for each use on two streams with nothing between' 'a was read on stream 3 and is written on the default stream
b was written on stream 3 and is written on the default stream
b was read on the default stream and is written on stream 3' \
    "$(echo "$err" | sed -n 's/^note: \(.*\) of cuda:0 with nothing between.*/\1/p')"
TSR_SIM_DEVICES=2 sim -e "tsr.cuda_fallback('silent')
a = torch.ones(3, device='cuda:1') * 2; b = a.to('cuda:0'); c = b.to('cuda:1')
print(c, torch.cuda.can_device_access_peer(0, 1), torch.cuda.can_device_access_peer(0, 0))
with torch.cuda.device(1):
    print(torch.ones(1, device='cuda').device, torch.cuda.current_stream().device, torch.cuda.memory_allocated(), torch.cuda.memory_allocated(0))
print(torch.cuda.current_device())"
is 'between two devices' "tensor([2., 2., 2.], device='cuda:1') True False
cuda:1 cuda:1 1024 512
0" "$out$err"

TSR_SIM_DEVICES=2 TSR_SIM_PEERS=0 sim -e "a = torch.ones(3, device='cuda:1'); print(a.to('cuda:0').tolist(), torch.cuda.can_device_access_peer(0, 1))"
is 'also where neither reaches the other' '[1.0, 1.0, 1.0] False' "$out$err"
cat >"$work/parallel.tsr" <<'END'
tsr.cuda_fallback('silent')
a = torch.zeros(3, device='cuda')
b = torch.zeros(3, device='cuda')
s, r = torch.cuda.Stream(), torch.cuda.Stream()
seen = []
def f():
    with torch.cuda.stream(s):
        for i in range(3):
            a.add_(1)
            seen.append(torch.cuda.current_stream() == s)
def g():
    with torch.cuda.stream(r):
        for i in range(3):
            b.add_(a)
            seen.append(torch.cuda.current_stream() == r)
torch.cuda.synchronize()
parallel(f, g)
torch.cuda.synchronize()
print(a.tolist(), all(seen), len(seen), torch.cuda.current_stream() == torch.cuda.default_stream())
END
sim "$work/parallel.tsr"
is 'parallel: each thread has a current stream of its own' '[3.0, 3.0, 3.0] True 6 True' "$out"
is 'and what nothing orders is told' 'yes 1' "$(case $err in *'note: a was written on stream 3 and is read on stream 35 of cuda:0'*) echo yes;; esac) $(echo "$err" | grep -c '^UserWarning: parallel(): f writes what g uses')"

# Random streams: each device's own, Philox4x32-10 (0xe169c58d is the second of Random123's known answers; cuda_random.sh has the rest).
cat >"$work/rng.tsr" <<'END'
tsr.cuda_fallback('silent')
torch.manual_seed(7)
h = torch.rand(3)
a = torch.rand(5, device='cuda')
torch.manual_seed(7)
print(torch.equal(torch.rand(3), h), torch.equal(torch.rand(5, device='cuda'), a))
s = torch.cuda.get_rng_state()
b = torch.randn(7, device='cuda')
torch.cuda.set_rng_state(s)
print(s.shape, s.dtype, torch.equal(torch.randn(7, device='cuda'), b), torch.cuda.initial_seed())
torch.cuda.manual_seed(3); c = torch.rand(2000, device='cuda')
torch.cuda.manual_seed(3); d = torch.rand(2000, device='cuda')
print(torch.equal(c, d), 0.45 < float(c.mean()) < 0.55, c.min() >= 0, c.max() < 1)
g = torch.Generator('cuda').manual_seed(3)
print(g.device, torch.equal(torch.rand(2000, device='cuda', generator=g), c), g.get_state().shape, g.initial_seed())
k = g.clone_state(); print(torch.equal(torch.rand(3, device='cuda', generator=k), torch.rand(3, device='cuda', generator=g)))
torch.cuda.manual_seed(3); e = torch.zeros(2000, device='cuda'); e.uniform_(); f = torch.rand(2000, device='cuda'); print(torch.equal(e, c), torch.equal(f, c))
for case in [lambda: torch.rand(2, device='cuda', generator=torch.Generator()), lambda: torch.rand(2, generator=g), lambda: torch.zeros(2).normal_(generator=g), lambda: torch.cuda.set_rng_state(torch.zeros(5, dtype=torch.uint8))]:
    try:
        case()
    except RuntimeError as error:
        print(error)
print(torch.cuda.get_rng_state_all()[0].numel(), torch.rand(2, device='meta', generator=g))
torch.cuda.manual_seed(0)
print(hex(torch.empty(1, dtype=int64, device='cuda').random_(0, 2**32).item()))
END
run --simulate-cuda "$work/rng.tsr"
is 'random streams of devices' "True True
torch.Size([16]) torch.uint8 True 7
True True tensor(True, device='cuda:0') tensor(True, device='cuda:0')
cuda:0 True torch.Size([16]) 3
True
True False
Expected a 'cuda' device type for generator but found 'cpu'
Expected a 'cpu' device type for generator but found 'cuda'
Expected a 'cpu' device type for generator but found 'cuda'
RNG state is wrong size
16 tensor(..., device='meta', size=(2,))
0xe169c58d" "$out$err"

# What was saved comes back on a device, storages shared as they were.
cat >"$work/load.tsr" <<'END'
tsr.cuda_fallback('silent')
x = torch.arange(4.)
torch.save({'x': x, 'l': [x[1:], (x.view(2, 2).t(), 5)], 'n': 'text'}, path)
for place in ['cuda', torch.device('cuda:1')]:
    d = torch.load(path, map_location=place)
    v, (t, five) = d['l']
    print(d['x'].device, v.device, v.tolist(), t.tolist(), t.stride(), five, d['n'], storage_refcount(v))
    d['x'].zero_()
    print(v.sum().item(), t.sum().item())
print(torch.load(path)['x'].device, torch.load(path, map_location='cpu')['x'].device)
END
(echo "path = '$work/x.pt'" && cat "$work/load.tsr") >"$work/loads.tsr"
TSR_SIM_DEVICES=2 run --simulate-cuda "$work/loads.tsr"
is 'map_location' "cuda:0 cuda:0 [1.0, 2.0, 3.0] [[0.0, 2.0], [1.0, 3.0]] (1, 2) 5 text 3
0.0 0.0
cuda:1 cuda:1 [1.0, 2.0, 3.0] [[0.0, 2.0], [1.0, 3.0]] (1, 2) 5 text 3
0.0 0.0
cpu cpu" "$out$err"
# The predecessors: THC's handles, TensorFlow's allocator down to the driver (seed 002), caffe2's tensors.
cat >"$work/thc.tsr" <<'END'
tsr.cuda_fallback('silent')
c = TH.newWithSize([2, 2]); TH.tensor(c).fill_(3)
h = THC.newCopy(c)
print(h, c, THC.getDevice(h), THC.getDevice(c))
i = THC.newWithSize([2], dtype=torch.int64); print(i, THC.storage(h))
print(THC.retain(h)); THC.free(h)
b = TH.newCopy(h); print(b, TH.tensor(b).tolist(), THC.tensor(h).device)
print({k: v for k, v in THC.state().items() if k != 'seed'}, THC.memGetInfo()[1], THC.synchronize())
v = THC.newNarrow(h, 0, 0, 1); print(v, torch.cuda.memory_allocated())
def leak():
    THC.newWithSize([2, 2])
leak()
print(tsr.leaks())
THC.free(v); THC.free(h); TH.free(b); TH.free(c)
try:
    THC.free(h)
except Exception as e:
    print(e)
THC.free(i); print(torch.cuda.memory_allocated())
END
run --simulate-cuda "$work/thc.tsr"
is 'THC' "THCudaTensor #2 [2x2] refcount 1 THFloatTensor #1 [2x2] refcount 1 0 -1
THCudaLongTensor #3 [2] refcount 1 THCudaStorage #4 [4] refcount 1
THCudaTensor #2 [2x2] refcount 2
THFloatTensor #5 [2x2] refcount 1 [[3.0, 3.0], [3.0, 3.0]] cuda:0
{'device': 0, 'devices': 1, 'stream': 0, 'allocator': 'cuda_caching'} 268435456 None
THCudaTensor #6 [1x2] refcount 1 1024
['THCudaTensor #7 of line 11 was never freed']
handle #2 was freed already, at line 14
512" "$out"
cat >"$work/thcs.tsr" <<'END'
tsr.cuda_fallback('silent')
s = tensor([[0., 2.], [3., 0.]], device='cuda').to_sparse()
def newValues(s):
    i, v = THCS.newIndices(s), THCS.newValues(s)
    THC.free(i)
    return v
def lost(s):
    THCS.newIndices(s)
print(golden(newValues), golden(lost))
v = newValues(s); print(v, THC.tensor(v).tolist())
lost(s); print(tsr.leaks()); THC.free(v)
END
run --simulate-cuda "$work/thcs.tsr"
is 'THCS and the golden rule' "[] [\"line 8: what newIndices (line 8) returned is not kept: it can't be freed any more\"]
THCudaTensor #2 [2] refcount 1 [2.0, 3.0]
['THCudaLongTensor #3 of line 8 was never freed']" "$out"
cat >"$work/bfc.tsr" <<'END'
a = tensorflow.GPUBFCAllocator()
for code in ["x = tensorflow.Tensor(a, tensorflow.DT_FLOAT, [2, 3])", "del x", "torch.cuda.empty_cache()"]:
    print([row['what'] for row in trace(code) if row['event'] in ('call', 'alloc', 'free')])
END
run --simulate-cuda "$work/bfc.tsr"
is "TensorFlow's allocator on the device" "['Allocator::Allocate<float>', 'Allocator::AllocateRaw', 'BFCAllocator::AllocateRawInternal', 'BFCAllocator::FindChunkPtr', 'BFCAllocator::Extend', 'GPUMemAllocator::Alloc', 'StreamExecutor::AllocateArray<char>', 'CUDAExecutor::Allocate', 'CUDADriver::DeviceAllocate', 'cuMemAlloc', 'BFCAllocator::SplitChunk', 'cuda_bfc', 'Allocator::RunCtor<float>']
['Allocator::Deallocate<float>', 'Allocator::RunDtor<float>', 'Allocator::DeallocateRaw', 'cuda_bfc', 'BFCAllocator::DeallocateRawInternal', 'BFCAllocator::FreeAndMaybeCoalesce']
['GPUMemAllocator::Free', 'StreamExecutor::Deallocate', 'CUDAExecutor::Deallocate', 'CUDADriver::DeviceDeallocate', 'cuMemFree']" "$out"
sim -e "tsr.cuda_fallback('silent')
x = tensorflow.Tensor(tensorflow.GPUBFCAllocator(), tensorflow.DT_FLOAT, [2, 2])
for i in range(4): x[i] = i
print(x, x.IsInitialized(), len(x.AsProtoTensorContent()), x.to_torch().device)
for name in ['cuda', 'cuda_bfc', 'cuda_caching']:
    tsr.set_allocator('cuda', name); y = torch.ones(3, device='cuda') + 1; print(y.tolist(), torch.cuda.memory_allocated())
    del y
t = caffe2.Tensor(caffe2.CUDA); t.Resize(2); t.mutable_data(torch.float32); u = caffe2.Tensor(); u.CopyFrom(t); print(t.to_torch().device, u.to_torch().device)"
is 'allocators and caffe2 on the device' "tensorflow.Tensor(tensor([[0., 1.],
        [2., 3.]], device='cuda:0')) True 30 cuda:0
[2.0, 2.0, 2.0] 256
[2.0, 2.0, 2.0] 512
[2.0, 2.0, 2.0] 768
cuda:0 cpu" "$out$err"
cat >"$work/caffe2.tsr" <<'END'
tsr.cuda_fallback('silent')
t = caffe2.Tensor(torch.ones(2), caffe2.CUDA)
print(t, t.to_torch().device, caffe2.Tensor(t, caffe2.CPU).to_torch().device)
h = caffe2.empty([2], dtype=torch.float32)
same = caffe2.ReinitializeTensor(h, [1], dtype=torch.float32)
moved = caffe2.ReinitializeTensor(h, [2], dtype=torch.float32, device=caffe2.CUDA)
print(same is h, moved is h, h.to_torch().device, moved.to_torch().device, moved.sizes())
h.Resize(2)
h.CopyFrom(t)
p = caffe2.Tensor(torch.zeros(2).pin_memory())
p.CopyFrom(t, True)
torch.cuda.synchronize()
print(h, p)
workspace.FeedBlob('x', torch.ones(2), device_option=caffe2.CUDA)
workspace.FeedBlob('y', t, caffe2.CPU)
workspace.FeedBlob('z', t)
print([workspace.FetchTorch(name).device for name in 'xyz'])
o = caffe2.Operator()
print(o.XOutput(0, [2], dtype=torch.float32).to_torch().device, o.XOutput(0, [2], dtype=torch.float32, device='cuda').to_torch().device)
END
run --simulate-cuda "$work/caffe2.tsr"
is "caffe2's tensors between the host and the device" "caffe2.Tensor(tensor([1., 1.], device='cuda:0')) cuda:0 cpu
True False cpu cuda:0 [2]
caffe2.Tensor(tensor([1., 1.])) caffe2.Tensor(tensor([1., 1.]))
[device(type='cuda', index=0), device(type='cpu'), device(type='cuda', index=0)]
cpu cuda:0" "$out$err"
run -e 'tensorflow.GPUBFCAllocator()'
is 'needs a device' 'RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx' "$(last)"

# What the tools show of memory that the host can't read.
sim -e "x = torch.arange(4., device='cuda'); p = torch.ones(2).pin_memory()
print(draw(x)); print({k: v for k, v in inspect(x).items() if k in ('device', 'address_space', 'block_bytes', 'segment_bytes', 'stream')}, inspect(p)['pinned'], x.device)
with torch.cuda.stream(torch.cuda.Stream()): y = torch.empty(1, device='cuda')
print(inspect(y)['stream'])
draw('x + 1')"
is 'draw and inspect' "storage #1: 4 x float32, 16 bytes on cuda:0
index   0   1   2   3
      ┌───┬───┬───┬───┐
value │ 0 │ 1 │ 2 │ 3 │
      └───┴───┴───┴───┘
x       0   1   2   3
x: shape [4], strides [1], offset 0
{'device': 'cuda:0', 'address_space': \"the device's: the host can't read it\", 'block_bytes': 512, 'segment_bytes': 2097152, 'stream': 0} True cuda:0
3" "$out"
is 'an expression of devices is not drawn' 'RuntimeError: draw(): an expression is drawn on the host, of tensors that are there' "$(last)"

# After each failure: nothing leaks, tensors are where they were, the session goes on.
cat >"$work/faults.tsr" <<'END'
tsr.cuda_fallback('silent')
def work():
    x = torch.arange(6., device='cuda').reshape(2, 3)
    y = x.t() @ x + 1
    y.add_(2).resize_(40, 40)
    z = torch.cat([x, x]).sort()
    s = torch.eye(2, device='cuda').to_sparse() * 2
    x[0] = 9
    return [y.cpu(), z, s.to_dense(), x.tolist()]
failed = finished = 0
kept = []
for i in range(4):
    try:
        work()
        finished += 1
    except RuntimeError:
        failed += 1
    kept.append(torch.cuda.memory_allocated())
print(failed, finished, kept)
END
wrong=
for n in 1 2 3 4 5 6 7 8 9 10 12 14 16 18 20 22 24 28 32 40; do
    TSR_SIM_FAIL=copy:$n run --simulate-cuda "$work/faults.tsr"
    [ "$out" = '1 3 [0, 0, 0, 0]' ] || wrong="$wrong copy:$n($status $out $(last))"
done
is 'nothing leaks after a failed copy' '' "$wrong"
cat >"$work/late.tsr" <<'END'
tsr.cuda_fallback('silent')
def work():
    s = torch.cuda.Stream()
    p = torch.arange(3.).pin_memory()
    d = p.to('cuda', non_blocking=True)
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        e = d.clone()
        e.record_stream(torch.cuda.current_stream())
        d.record_stream(s)
        h = e.to('cpu', non_blocking=True)
    s.synchronize()
    return h.tolist()
failed = 0
results = []
for i in range(3):
    try:
        results.append(work())
    except RuntimeError as error:
        failed += 1
torch.cuda.synchronize()
torch.cuda.empty_cache()
print(failed, results[-1] if results else [0.0, 1.0, 2.0], torch.cuda.memory_stats()['active.all.current'], torch.cuda.memory_reserved(), torch.cuda.host_memory_stats()['active_requests.current'])
END
wrong=
for fault in $(for what in host event copy alloc; do for n in 1 2 3 4 5 6 7 1+ 2+ 3+; do echo $what:$n; done; done); do
    TSR_SIM_FAIL=$fault run --simulate-cuda "$work/late.tsr"
    [ "${out#?}" = ' [0.0, 1.0, 2.0] 0 0 0' ] || wrong="$wrong $fault($status $out $(last))"
done
is 'nor after one in pinned memory, events or streams' '' "$wrong"
TSR_SIM_FAIL=alloc:1 run --simulate-cuda "$work/faults.tsr"
is 'an allocation that fails once is tried again' '0 4 [0, 0, 0, 0]' "$out"
TSR_SIM_FAIL=alloc:1+ run --simulate-cuda "$work/faults.tsr"
is 'one that always fails leaks nothing' '4 0 [0, 0, 0, 0]' "$out"

TSR_SIM_DEVICES=0 sim -e "print(torch.cuda.is_available(), torch.cuda.device_count()); torch.ones(2, device='cuda')"
is 'a driver without a GPU' 'False 0' "$out"
is 'says so' 'RuntimeError: No CUDA GPUs are available' "$(last)"

# A driver of before: it lacks a function.
cc -shared -fPIC -o "$work/libcuda.so" -x c - <<'END'
int cuDriverGetVersion(int *version) { *version = 11000; return 0; }
END
TSR_CUDA_DRIVER=$work/libcuda.so run -e "print(torch.cuda.is_available()); torch.ones(2, device='cuda')"
is 'a driver that is too old' 'False RuntimeError: The NVIDIA driver on your system is too old (found version 11000). Please update your GPU driver' "$out $(last | cut -c1-110)"

# A kernel that reads where nothing is takes its device's context along: everything there fails, and the host's tensors are as they were.
TSR_SIM_FAIL=fault:1 sim -e "x = torch.arange(4.).cuda(); h = torch.ones(3); y = x + 1
for f in [lambda: y.tolist(), lambda: x.cpu(), torch.cuda.synchronize, lambda: torch.empty(1 << 22, device='cuda')]:
    try: print(f())
    except torch.AcceleratorError as e: print(str(e).split('\n')[0])
del x, y; print(h + 1); torch.ones(2).cuda()"
is 'a fault on the device' "CUDA error: an illegal memory access was encountered
CUDA error: an illegal memory access was encountered
CUDA error: an illegal memory access was encountered
CUDA error: an illegal memory access was encountered
tensor([2., 2., 2.])" "$out"
is 'is for ever' 1 "$(echo "$err" | grep -c "hint: the device's memory is lost to this process")"
exit $bad
