# The caching allocator: programs whose numbers PyTorch's own allocator counted, run over a pretended CUDA runtime
# (tests/oracle/cuda_memory.py): memory_allocated(), memory_reserved() and each of memory_stats() after each one.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/../.." && pwd)
sim() { run --simulate-cuda "$@"; }
gzip -dc "$here/tests/data/cuda_memory.gz" >"$work/programs"
(echo "path = '$work/programs'" && cat "$here/tests/repl/cuda_memory.tsr") >"$work/programs.tsr"
TEST_TIME=120 sim "$work/programs.tsr"
is "memory_stats() is PyTorch's after each program" "$(wc -l <"$work/programs" | tr -d ' ')" "$out$err"
sim -e "def new(size):
    return torch.empty(size, dtype=torch.uint8, device='cuda')
a = new(1); b = new(1024); c = new(1); d = new(1); e = new(1); del b; address = d.data_ptr(); del d
f = new(512); print(f.data_ptr() == address)"
is 'the smallest hole that fits' True "$out"

# Bytes without a tensor, the host's cache, and the names that say which device is meant.
TSR_SIM_DEVICES=2 run --simulate-cuda -e "a = torch.cuda.caching_allocator_alloc(1000)
b = torch.cuda.caching_allocator_alloc(5, 1, torch.cuda.Stream(1))
print(torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1), torch.cuda.current_device())
torch.cuda.caching_allocator_delete(a); torch.cuda.caching_allocator_delete(b)
print(torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1), len(torch.cuda.default_generators))
with torch.accelerator.device_index('cuda:1'): print(torch.cuda.current_device())
torch.accelerator.set_device_index('cuda:1'); print(torch.accelerator.current_device_index(), torch.accelerator.synchronize())
h = torch.ones(2).pin_memory(); del h
kept = torch.cuda.host_memory_stats()['allocated_bytes.current']; torch.accelerator.empty_host_cache()
print(kept > 0, torch.cuda.host_memory_stats()['allocated_bytes.current'])
torch.cuda.caching_allocator_delete(1)"
is 'bytes by address' "1024 512 0
0 0 2
1
1 None
True 0" "$out"
is 'an address of nobody' 'RuntimeError: invalid device pointer: 0x1' "$(last)"

# Whose the blocks of a device are.
sim -e "x = torch.ones(3, device='cuda'); y = x[1:]; big = torch.empty(5 << 20, device='cuda')
z = torch.empty(7, device='cuda'); del z
with torch.cuda.stream(torch.cuda.Stream()): w = [torch.empty(2, device='cuda')]
print(memory('cuda'))
print(memory(torch.device('cuda:0'))[0]['tensors'], memory('cpu') == memory())"
is "memory('cuda')" "segment  bytes     requested  state  stream  tensors
1        512       12         used   0       x, y
1        2096640   0          kept   0       -
2        20971520  20971520   used   0       big
3        512       8          used   3       w[0]
3        2096640   0          kept   3       -
['x', 'y'] True" "$out"
sim -e "x = torch.ones(3, device='cuda'); y = x[1:]; z = torch.empty(7, device='cuda'); w = torch.empty(3000, device='cuda'); del z
big = torch.empty(5 << 20, device='cuda')
print(draw(memory='cuda'))
more = [torch.empty(1, device='cuda') for i in range(9)]
print(draw(memory=torch.device('cuda:0')).split('\n')[6])
draw(memory='cuda', file='$work/memory.svg'); print(open('$work/memory.svg').read().count('>x, y<'))
draw(x, memory='cuda')"
is "draw(memory='cuda')" "cuda:0: 23068672 bytes from the driver, 20984320 in use
segment 1: 2097152 bytes, stream 0
┌──────┬──────┬───────┬──────────────────────────────────────────────────────┐
│ x, y │ kept │ w     │ kept                                                 │
│ 512  │ 512  │ 12288 │ 2083840                                              │
└──────┴──────┴───────┴──────────────────────────────────────────────────────┘
segment 2: 20971520 bytes, stream 0
┌─────────────────────────────────────────────────────────────────────────────┐
│ big                                                                         │
│ 20971520                                                                    │
└─────────────────────────────────────────────────────────────────────────────┘
segment 1, further on
1" "$out"
is 'or of tensors, not both' 'TypeError: draw(): tensors, or memory=, not both' "$(last)"
run -e "memory('cuda')"
is 'of a GPU that is not there' 1 "$(last | grep -c '^RuntimeError: Found no NVIDIA driver')"
exit $bad
