# The caching allocator by PyTorch's rules, in twenty programs whose numbers are worked out by hand: bytes given, taken,
# in use (given, or waited for), in free pieces of segments that are in use, and pieces of them; segments; what was given
# in all. Sizes round up to 512 bytes. Up to 1 MiB they are cut from segments of 2 MiB (the small pool, whose rest is
# split off from 512 bytes on); below 10 MiB from segments of 20 MiB (the large pool, whose rest is split off above
# 1 MiB); larger ones have a segment of their own, a multiple of 2 MiB. 1 MiB is 1048576.
. "$(dirname "$0")/lib.sh"
sim() { run --simulate-cuda "$@"; }
cat >"$work/shared.tsr" <<'END'
def new(size):
    return torch.empty(size, dtype=torch.uint8, device='cuda')

def numbers():
    s = torch.cuda.memory_stats()
    names = ['allocated_bytes', 'reserved_bytes', 'active_bytes', 'inactive_split_bytes', 'inactive_split', 'segment']
    print(*[s[name + '.all.current'] for name in names], s['allocation.all.allocated'])
KiB, MiB = 1024, 1048576
END
try() {
    (cat "$work/shared.tsr" && printf '%s\n' "$2") >"$work/program.tsr"
    run --simulate-cuda "$work/program.tsr"
    is "$1" "$3" "$out$err"
}
try '1: one byte' 'a = new(1); numbers()' '512 2097152 512 2096640 1 1 1' # 2 MiB - 512
try '2: 513 bytes' 'a = new(513); numbers()' '1024 2097152 1024 2096128 1 1 1'
try '3: no bytes are no block' 'a = new(0); numbers()' '0 0 0 0 0 0 0'
try '4: two from one segment' 'a = new(1); b = new(1000); numbers()' '1536 2097152 1536 2095616 1 1 2'
try '5: the small pool ends at 1 MiB' 'a = new(MiB); b = new(MiB); numbers()' '2097152 2097152 2097152 0 0 1 2'
try '6: a third MiB takes a second segment' 'a = new(MiB); b = new(MiB); c = new(MiB); numbers()' \
    '3145728 4194304 3145728 1048576 1 2 3'
# 1 MiB + 512 of 20 MiB: 19 MiB - 512 are left.
try '7: more than 1 MiB is large' 'a = new(MiB + 1); numbers()' '1049088 20971520 1049088 19922432 1 1 1'
try '8: 10 MiB have a segment of their own' 'a = new(10 * MiB); numbers()' '10485760 10485760 10485760 0 0 1 1'
# 10 MiB and a byte: 10 MiB + 512 given, 12 MiB taken; of the rest, 2 MiB - 512, more than 1 MiB: it is split off.
try '9: a multiple of 2 MiB' 'a = new(10 * MiB + 1); numbers()' '10486272 12582912 10486272 2096640 1 1 1'
# 11.5 MiB of 12: the rest is no more than 1 MiB, so it stays with the block.
try '10: a small rest is not split off' 'a = new(11 * MiB + 512 * KiB); numbers()' '12582912 12582912 12582912 0 0 1 1'
try '11: freed, a whole segment is kept and no split' 'a = new(1); del a; numbers()' '0 2097152 0 0 0 1 1'
# a, b, c of 512, then 2 MiB - 1536: b is a hole of 512 between two that are in use.
try '12: a hole' 'a = new(1); b = new(1); c = new(1); del b; numbers()' '1024 2097152 1024 2096128 2 1 3'
try '13: a hole is filled first' 'a = new(1); b = new(1); c = new(1); del b; d = new(100); numbers()' \
    '1536 2097152 1536 2095616 1 1 4'
# b and c merge with the rest: one piece of 2 MiB - 512.
try '14: holes merge' 'a = new(1); b = new(1); c = new(1); del b; del c; numbers()' '512 2097152 512 2096640 1 1 3'
# Holes of 1024 (b) and of 512 (d), e in use behind them: 512 bytes go into the smaller one.
try '15: the best fit' 'a = new(1); b = new(1024); c = new(1); d = new(1); e = new(1); del b; del d
f = new(512); del f; del a; del c; del e; numbers()
a = new(1); b = new(1024); c = new(1); d = new(1); e = new(1); del b; address = d.data_ptr(); del d
f = new(512); print(f.data_ptr() == address)' '0 2097152 0 0 0 1 6
True'
try '16: emptied' 'a = new(1); b = new(15 * MiB); del b; torch.cuda.empty_cache(); numbers(); del a; torch.cuda.empty_cache()
numbers()' '512 2097152 512 2096640 1 1 2
0 0 0 0 0 0 2'
# Each stream has segments of its own.
try '17: streams do not share blocks' 'a = new(1); del a
with torch.cuda.stream(torch.cuda.Stream()): b = new(1)
numbers()' '512 4194304 512 2096640 1 2 2'
# Freed while another stream uses it: in use until that stream has come so far.
try '18: another stream uses it' 's = torch.cuda.Stream(); a = new(1); a.record_stream(s); del a; numbers(); s.synchronize()
torch.cuda.synchronize(); b = new(1); numbers()' '0 2097152 512 2096640 1 1 1
512 2097152 512 2096640 1 1 2'
# 256 MiB in all. 100 are kept, 200 do not fit beside them: the kept ones go first, which is one retry.
try '19: memory is short' 'a = new(100 * MiB); del a; b = new(200 * MiB); numbers()
s = torch.cuda.memory_stats(); print(s["num_alloc_retries"], s["num_ooms"], s["num_device_alloc"], s["num_device_free"])
try:
    c = new(100 * MiB)
except torch.OutOfMemoryError as e:
    print(str(e)[:60])
s = torch.cuda.memory_stats(); print(s["num_alloc_retries"], s["num_ooms"], s["num_device_alloc"], s["num_device_free"])' \
    '209715200 209715200 209715200 0 0 1 2
1 0 2 1
CUDA out of memory. Tried to allocate 100.00 MiB. GPU 0 has 
2 1 2 1'
# 1 and 2 MiB at a time are the peak; 700 bytes asked for are 1024 given. An eighth of 256 MiB are 32, of which 2 are taken:
# 31 round up to 32, which do not fit even when the 20 kept MiB went back.
try '20: peaks, sums, what was asked for' 'a = new(MiB); b = new(2 * MiB); del a; c = new(700); del b
s = torch.cuda.memory_stats()
print([s["allocated_bytes.all." + k] for k in ("current", "peak", "allocated", "freed")], s["requested_bytes.all.current"])
print(s["allocated_bytes.small_pool.peak"], s["allocated_bytes.large_pool.peak"], s["reserved_bytes.small_pool.current"], s["reserved_bytes.large_pool.current"])
torch.cuda.reset_peak_memory_stats(); torch.cuda.reset_accumulated_memory_stats(); s = torch.cuda.memory_stats()
print([s["allocated_bytes.all." + k] for k in ("current", "peak", "allocated", "freed")])
torch.cuda.set_per_process_memory_fraction(0.125)
try:
    d = new(31 * MiB)
except torch.OutOfMemoryError as e:
    print(str(e)[:150])' \
    '[1024, 3145728, 3146752, 3145728] 700
1048576 2097152 2097152 20971520
[1024, 1024, 0, 0]
CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total capacity of 256.00 MiB of which 254.00 MiB is free. 32.00 MiB allowed; Of the alloc'

# Bytes without a tensor, the host's cache, and the names that say which device is meant.
TSR_SIM_DEVICES=2 run --simulate-cuda -e "a = torch.cuda.caching_allocator_alloc(1000)
b = torch.cuda.caching_allocator_alloc(5, 1, torch.cuda.Stream(1))
print(torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1), torch.cuda.current_device())
torch.cuda.caching_allocator_delete(a); torch.cuda.caching_allocator_delete(b)
print(torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1), len(torch.cuda.default_generators))
with torch.accelerator.device_index('cuda:1'): print(torch.cuda.current_device())
torch.accelerator.set_device_index('cuda:1'); print(torch.accelerator.current_device_index(), torch.accelerator.synchronize())
h = torch.ones(2).pin_memory(); del h
kept = torch.cuda.host_memory_stats()['reserved_bytes.current']; torch.accelerator.empty_host_cache()
print(kept > 0, torch.cuda.host_memory_stats()['reserved_bytes.current'])
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
run -e "memory('cuda')"
is 'of a GPU that is not there' 1 "$(last | grep -c '^RuntimeError: Found no NVIDIA driver')"
exit $bad
