# Pointwise kernels on the simulated device beside the host's answers, which rows still go over the host, and what becomes of kernels that
# cannot be had. CUDA_KERNELS=all takes every dtype.
. "$(dirname "$0")/lib.sh"
need_kernels
beside 'kernels' cuda_beside.tsr cuda_kernels.tsr
beside 'complex numbers' cuda_complex.tsr
beside 'special functions' cuda_beside.tsr cuda_special.tsr
beside 'order statistics, norms and distances' cuda_beside.tsr cuda_orders.tsr
timeout 600 "$tsr" --simulate-cuda "$here/cuda_create.tsr" >"$work/out" 2>&1
is 'what makes tensors' 'torch.float32 True' "$(cat "$work/out")"

# Where no compiler is, where the cache is no folder of this user's, and where what lies in it was spoilt.
one="x = torch.arange(4.).cuda(); print((x * 2 + 1).tolist())"
TSR_SIM_CXX=/nonexistent TSR_CUDA_CACHE="$work/none" run --simulate-cuda -e "$one"
is 'by loan without a compiler' '[1.0, 3.0, 5.0, 7.0]' "$out"
is 'with a note' 2 "$(echo "$err" | grep -c '^note: \(mul\|add\) ran on the host')"
is 'and what is missing' 1 "$(echo "$err" | grep -c '^note: kernels of the simulated device need a C++ compiler: g++')"
TSR_CUDA_PACK=/nonexistent TSR_CUDA_NVRTC=/nonexistent TSR_CUDA_CACHE="$work/none" run --simulate-cuda -e "$one"
is 'or where to get it' 1 "$(echo "$err" | grep -c '^note: kernels need .* libnvrtc.so.13 or 12, .*: scripts/setup --cuda gets it')"
TSR_SIM_CAPABILITY=60 run --simulate-cuda -e "$one"
is 'a GPU that the compiler has left behind' '[1.0, 3.0, 5.0, 7.0] 1' "$out $(echo "$err" | grep -c '^note: kernels need an older compiler than NVRTC')"
TSR_SIM_CAPABILITY=90 run --simulate-cuda -e "$one"
is 'one that it does not know yet' '[1.0, 3.0, 5.0, 7.0]' "$out$(echo "$err" | grep -e 'mul ran' -e 'add ran')"
TSR_SIM_FAIL=module:1+ run --simulate-cuda -e "$one"
is 'a driver that refuses the code' '[1.0, 3.0, 5.0, 7.0] 1' "$out $(echo "$err" | grep -c "^note: kernels can't be loaded: the driver, for CUDA 13.0, refuses code")"
TSR_CUDA_CACHE="$work/fresh/cuda" run --simulate-cuda -e "$one"
is 'compiled' '[1.0, 3.0, 5.0, 7.0]' "$out"
is 'and kept, for this user alone' '2 drwx------' "$(ls "$work/fresh/cuda" | wc -l | tr -d ' ') $(ls -ld "$work/fresh/cuda" | cut -c1-10)"
TSR_SIM_CXX=/nonexistent TSR_CUDA_CACHE="$work/fresh/cuda" run --simulate-cuda -e "$one"
is 'and found again' '[1.0, 3.0, 5.0, 7.0]' "$out$(echo "$err" | grep -e 'mul ran' -e 'add ran')"
for file in "$work"/fresh/cuda/*; do head -c 600 "$file" >"$work/part" && cat "$work/part" >"$file"; done
TSR_CUDA_CACHE="$work/fresh/cuda" run --simulate-cuda -e "$one"
is 'and made again when it is not whole' '[1.0, 3.0, 5.0, 7.0]' "$out$(echo "$err" | grep -e 'mul ran' -e 'add ran')"

# The folder keeps below its limit: what was not used for longest goes.
for k in 1 2 3; do
    head -c 600000 /dev/zero >"$work/fresh/cuda/0000000000000000000000000000000$k"
    touch -d "$((4 - k)) days ago" "$work/fresh/cuda/0000000000000000000000000000000$k"
done
touch "$work/fresh/cuda/not_ours"
TSR_CUDA_CACHE_MB=1 TSR_CUDA_CACHE="$work/fresh/cuda" run --simulate-cuda -e "print((torch.ones(3).cuda() - 2).tolist())"
is 'the oldest files of the cache go' '[-1.0, -1.0, -1.0] 00000000000000000000000000000003 not_ours' "$out $(cd "$work/fresh/cuda" && echo 0000000000000000* not*)"
chmod 777 "$work/fresh/cuda"
TSR_SIM_CXX=/nonexistent TSR_CUDA_CACHE="$work/fresh/cuda" run --simulate-cuda -e "$one"
is "and nobody else's folder is believed" 2 "$(echo "$err" | grep -c '^note: \(mul\|add\) ran on the host')"

# Kernels that came with tsr serve where no compiler is; what is not among them goes by loan; a pack that others could write, or that is spoilt, is none.
mkdir "$work/texts" && TSR_CUDA_CACHE="$work/none" TSR_CUDA_RECORD="$work/texts" run --simulate-cuda -e "$one"
pack() { TSR_CUDA_NVRTC=/nonexistent TSR_CUDA_PACK="$work/pack" run --simulate-cuda -e "$one; y = x.cos()"; }
build=$(dirname "$(readlink -f "$tsr")")
is 'a pack is made' "2 kernels in $work/pack" "$(TSR_CUDA_NVRTC="$build/libtsr_cuda_simulated.so" "$build/make_pack" "$work/texts" "$work/pack")"
pack
is 'by the pack' '[1.0, 3.0, 5.0, 7.0] cos' "$out $(echo "$err" | sed -n 's/^note: \([a-z]*\) ran on the host.*/\1/p')"
is 'and what is missing there' 1 "$(echo "$err" | grep -c '^note: kernels that did not come with tsr need')"
chmod 666 "$work/pack"; pack
is "and nobody else's pack is believed" 3 "$(echo "$err" | grep -c 'ran on the host')"
chmod 644 "$work/pack"; head -c 900 "$work/pack" >"$work/part" && cat "$work/part" >"$work/pack"; pack
is 'nor one that is not whole' '[1.0, 3.0, 5.0, 7.0] 3' "$out $(echo "$err" | grep -c 'ran on the host')"
TSR_SIM_FAIL=launch:1 run --simulate-cuda -e "x = torch.arange(4.).cuda()
try:
    x * 2
    torch.cuda.synchronize()
except torch.AcceleratorError as error:
    print(str(error).split('\n')[0])
print((x * 2).tolist(), torch.cuda.memory_allocated())"
is 'a launch that fails' 'CUDA error: unspecified launch failure
[0.0, 2.0, 4.0, 6.0] 512' "$out"

# What the device finds wrong is raised by the next wait, with the operator that did it, and the session goes on.
cat >"$work/wrong.tsr" <<'END'
x = torch.tensor([4, 5, 6]).cuda()
zero = torch.tensor([2, 0, 3]).cuda()
y = x // zero
z = x + 1
for f in [lambda: z.tolist(), lambda: z.tolist(), lambda: (x // 2).tolist(), lambda: (x % 0).tolist(), lambda: x.fmod(4).tolist()]:
    try:
        print(f())
    except RuntimeError as error:
        print(error)
y = x % zero
torch.cuda.synchronize()
END
run --simulate-cuda "$work/wrong.tsr"
is 'a divisor of zero' 'ZeroDivisionError
[5, 6, 7]
[2, 2, 3]
ZeroDivisionError
[0, 1, 2]' "$out"
is 'and whose it was' 1 "$(echo "$err" | grep -c 'hint: found when the device was waited for; it was remainder, line 10')"

# An interrupt leaves a wait; what the device was given goes on. It comes when the program says that it waits now.
cat >"$work/wait.tsr" <<'END'
x = torch.ones(3, device='cuda')
for i in range(40): x += 1
torch.save(torch.ones(1), ready)
try:
    x.tolist()
except KeyboardInterrupt:
    print('left')
print(x.tolist())
END
(echo "ready = '$work/ready'" && cat "$work/wait.tsr") >"$work/waits.tsr"
interrupt() { # when $1 is there, the process whose number stands in $2; or ends it after a minute
    for i in $(seq 600); do [ -s "$1" ] && break; sleep 0.1; done
    sleep 0.3
    [ -s "$1" ] && kill -INT "$(cat "$2")" || kill -KILL "$(cat "$2")"
}
interrupt "$work/ready" "$work/number" &
out=$(TSR_SIM_SLOW=100 sh -c 'echo $$ >"$1"; exec "$2" --simulate-cuda "$3"' sh "$work/number" "$tsr" "$work/waits.tsr" 2>&1)
is 'an interrupt leaves a wait' 'left
[41.0, 41.0, 41.0]' "$out"

# What bench/cuda/run measures runs at all.
TEST_TIME=120 run --simulate-cuda "$here/../../bench/cuda/figures.py" 8 1
is 'figures' '0 {"copy": {"ms": 37 0' "$status $(printf %s "$out" | head -1 | cut -c1-15) $(echo "$out" | wc -l) $(echo "$out" | grep -c error)"

# The rows whose examples still go over the host: the list may only get shorter. `scripts/test cuda_kernels` prints what has changed;
# tests/repl/cuda_fallback.list is what this writes to $work/list.
sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\(ha/^/g; s/\\(ga/`/g; s/\\(ti/~/g; s/\\e/\\/g; s/\\&//g' "$here/../../man/tsr-ops.7" |
    sed -n -e 's/^ *>>> //p' -e 's/^ *\.\.\. /    /p' >"$work/host.tsr"
(echo "torch.set_default_device('cuda')" && cat "$work/host.tsr") >"$work/device.tsr"
timeout 300 "$tsr" --simulate-cuda --echo "$work/device.tsr" 2>&1 >/dev/null | sed -n 's/^note: \([^ ]*\) ran on the host.*/\1/p' | LC_ALL=C sort -u >"$work/list"
is 'what goes over the host is on the list' '' "$(LC_ALL=C comm -23 "$work/list" "$here/cuda_fallback.list")"
is 'and the list has no more' '' "$(LC_ALL=C comm -13 "$work/list" "$here/cuda_fallback.list")"
[ -n "$CUDA_LIST" ] && cp "$work/list" "$CUDA_LIST"
exit $bad
