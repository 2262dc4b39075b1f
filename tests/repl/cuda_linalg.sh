# Factorizations of matrices on the simulated device beside the host's answers. CUDA_KERNELS=all takes every dtype and more sizes.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v g++ >/dev/null; then
    echo 'ok SKIPPED: there is no g++ to compile the kernels of the simulated device with' | tee /dev/stderr
    exit 0
fi
[ "$CUDA_KERNELS" = all ] && short=False || short=True
(echo "short = $short" && cat "$here/cuda_beside.tsr" "$here/cuda_linalg.tsr" && echo "print(calls, 'calls')") >"$work/linalg.tsr"
timeout 600 "$tsr" --simulate-cuda "$work/linalg.tsr" >"$work/out" 2>&1
is 'they agree with the host' '' "$(grep -v '^[0-9]* calls$' "$work/out" | head -20)"
is 'all of them' 1 "$(grep -c '^[0-9]* calls$' "$work/out")"
exit $bad
