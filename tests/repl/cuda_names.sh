# What torch.cuda, torch.accelerator and their kin answer without a driver, beside what PyTorch answered on a machine
# without one (tests/oracle/cuda_names.py): type and text of the value, or of the exception.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/../.." && pwd)
cat >"$work/ask.tsr" <<'END'
def answer(line):
    try:
        value = eval(line)
    except Exception as error:
        name = str(type(error))[8:-2]
        return ("" if "." in name else "builtins.") + name + ": " + str(error)
    return type(value).__name__ + " " + repr(value)

for line in open(path):
    question, wanted = line[:-1].split("\t")
    got = answer(question).replace("\\", "\\\\").replace("\n", "\\n")
    at = wanted.find(" at 0x")
    if got[:at] != wanted[:at] if at > 0 else got != wanted:
        print(question, wanted, got, sep="\n    ")
END
ask() { (echo "path = '$here/tests/data/$1'; tsr.cuda_fallback('silent')" && cat "$work/ask.tsr") >"$work/names.tsr"; }
ask cuda_names.txt
TSR_BACKEND_PATH=/nowhere TSR_CUDA_DRIVER=/nowhere run "$work/names.tsr"
is 'torch.cuda without a driver' '' "$out"
is 'asks to the end' 0 "$status"
# The same with two devices: PyTorch answered over a pretended runtime (tests/oracle/pretended_cudart.c).
ask cuda_device.txt
TSR_SIM_DEVICES=2 run --simulate-cuda "$work/names.tsr"
is 'torch.cuda with two devices' '' "$out"
is 'asks to the end' 0 "$status"
# After which calls CUDA is in use, each in a process of its own (tests/oracle/cuda_names.py initialized).
wrong=
while IFS="$(printf '\t')" read -r call used; do
    TSR_SIM_DEVICES=1 run --simulate-cuda -e "try:
    $call
except Exception:
    pass
print(torch.cuda.is_initialized())" </dev/null
    [ "$(echo "$out" | tail -1)" = "$used" ] || wrong="$wrong $call($out)"
done <"$here/tests/data/cuda_initialized.txt"
is 'torch.cuda.is_initialized() before the first use' '' "$wrong"
run --simulate-cuda -e "p = torch.ones(1000).pin_memory()
q = torch.ones(3000).pin_memory(); del p
s = torch.cuda.host_memory_stats(); print({k: v for k, v in s.items() if v and 'time' not in k}); print(s['host_alloc_time.count'], [k for k in s if 'time' in k])
torch.cuda.caching_allocator_enable(False); a = torch.empty(1000, device='cuda'); print({k: v for k, v in torch.cuda.memory_stats().items() if v})
print(torch.version.cuda, torch.version.hip, torch.version.debug, torch.backends.cuda.is_built())"
is 'numbers of pinned memory, and none while the cache is off' "{'active_bytes.allocated': 20480, 'active_bytes.current': 16384, 'active_bytes.freed': 4096, 'active_bytes.peak': 20480, 'active_requests.allocated': 2, 'active_requests.current': 1, 'active_requests.freed': 1, 'active_requests.peak': 2, 'allocated_bytes.allocated': 20480, 'allocated_bytes.current': 20480, 'allocated_bytes.peak': 20480, 'allocations.allocated': 2, 'allocations.current': 2, 'allocations.peak': 2, 'num_host_alloc': 2}
2 ['host_alloc_time.avg', 'host_alloc_time.count', 'host_alloc_time.max', 'host_alloc_time.min', 'host_alloc_time.total', 'host_free_time.avg', 'host_free_time.count', 'host_free_time.max', 'host_free_time.min', 'host_free_time.total']
{'max_split_size': -1}
13.2 None False True" "$out$err"
run --simulate-cuda -e "torch.cuda.CUDAGraph()"
is 'names that are missing say what is there instead' '    hint: nothing is recorded to be replayed: operators go to the GPU as they are called, and pointwise ones that follow each other become one kernel by themselves' "$(echo "$err" | tail -2 | head -1)"
# In which words operators refuse tensors of two devices.
gzip -dc "$here/tests/data/device_words.gz" >"$work/words"
(echo "path = '$work/words'" && cat "$here/tests/repl/cuda_words.tsr") >"$work/words.tsr"
run --simulate-cuda "$work/words.tsr"
is 'mixed devices are refused in words of PyTorch' "$(wc -l <"$work/words" | tr -d ' ')" "$out"
exit $bad
