# Pointwise passes that become one kernel (src/cuda/kernels/chain.c): the bits are those of passes that run one by one, and the launches fewer.
# CUDA_CHAINS is how many programs are drawn.
. "$(dirname "$0")/lib.sh"
need_kernels
(echo "first, last = 0, ${CUDA_CHAINS:-12}" && cat "$here/cuda_chains.tsr") >"$work/chains.tsr"
export TSR_SIM_COUNT=1
# chains MODE NAME ARGS...: what a program prints goes to $work/NAME, $kernels is how many kernels were launched.
chains() {
    TSR_CUDA_CHAINS=$1 timeout 600 "$tsr" --simulate-cuda "$3" >"$work/$2" 2>"$work/err"
    kernels=$(sed -n 's/^\([0-9]*\) kernels$/\1/p' "$work/err")
}
chains off apart "$work/chains.tsr" && apart=$kernels
chains now together "$work/chains.tsr" && together=$kernels
is 'all programs ran' "${CUDA_CHAINS:-12}" "$(grep -c '^[0-9]' "$work/apart")"
is 'the same bits' '' "$(cmp "$work/apart" "$work/together" 2>&1)"
is 'by fewer kernels' 1 $((together * 4 < apart * 3))

cat >"$work/one.tsr" <<'END'
import time
x = torch.arange(100.).cuda()
y = None
for i in range(20):
    y = ((x - 2) ** 2 * 0.5 + x).tanh()
    y.sum()
    time.sleep(0.02)
print(y[:3].tolist())
END
chains off apart "$work/one.tsr" && apart=$kernels
chains now together "$work/one.tsr" && together=$kernels
chains '' beside "$work/one.tsr" && beside=$kernels
is 'one kernel for five passes' $((apart - 20 * 4)) $together
is 'compiled beside, the passes run meanwhile' 1 $((together < beside && beside < apart))
is 'to the same bits' '' "$(cmp "$work/apart" "$work/together" 2>&1; cmp "$work/apart" "$work/beside" 2>&1)"

cat >"$work/copy.tsr" <<'END'
import os, time
x = torch.arange(100.).cuda()
def grows(f):  # f() is called until the compiler beside left a kernel more than the first call did, for two minutes at most
    f()
    kept = len(os.listdir(os.environ['TSR_CUDA_CACHE']))
    for i in range(1200):
        f()
        if len(os.listdir(os.environ['TSR_CUDA_CACHE'])) > kept:
            break
        time.sleep(0.1)
    print(f(), i < 1199)
grows(lambda: ((x - 2) * 0.5 + x).tanh().sum().item())
another_process(lambda: grows(lambda: (((x - 2).tanh() + x) * 0.5).sum().item()))
END
mkdir "$work/kept"
TSR_CUDA_CACHE=$work/kept chains '' copy "$work/copy.tsr"
is 'beside in a copy of the process, too' '97.66263580322266 True
2522.4970703125 True' "$(cat "$work/copy")"

cat >"$work/more.tsr" <<'END'
x = torch.arange(8, device='cuda')
y = (x + 1) * 2 // torch.tensor([1, 1, 0, 1, 1, 1, 1, 1], device='cuda')
try:
    y.tolist()
except RuntimeError as error:
    print(error)
s = torch.cuda.Stream()
with torch.cuda.stream(s):
    z = x * 2 + 1
torch.cuda.current_stream().wait_stream(s)
print((z + x).tolist())
a = x.float()
b = a.view(torch.int32) + 1
a.add_(1)
c = a.view(torch.int32) + 1
print((c - b)[1:3].tolist())
e = torch.empty(3, 0, device='cuda')
print(((e + 1) * 2).shape, ((torch.tensor(2., device='cuda') + 1) * 2).item())
END
chains now out "$work/more.tsr"
is 'divisors of zero, streams, bytes seen as another dtype, nothing, one number' 'ZeroDivisionError
[1, 4, 7, 10, 13, 16, 19, 22]
[8388608, 4194304]
torch.Size([3, 0]) 6.0' "$(cat "$work/out")"

# A reduction at the end of a chain is one kernel with it, in the order of sums that it has alone.
chains off apart "$here/cuda_ends.tsr" && apart=$kernels
chains now together "$here/cuda_ends.tsr" && together=$kernels
is 'ends: all cases ran' 28 "$(wc -l <"$work/apart" | tr -d ' ')"
is 'ends: the same bits' '' "$(cmp "$work/apart" "$work/together" 2>&1)"
is 'ends: by fewer kernels' 1 $((together * 3 < apart * 2))
cat >"$work/end.tsr" <<'END'
x = torch.ones(1000).cuda()
print(x.mul(2).add(1).sum().item())
END
chains now out "$work/end.tsr"
is 'two passes and a sum are one kernel' '3000.0 1' "$(cat "$work/out") $kernels"
exit $bad
