# Fourier transforms on the simulated device beside the host's answers, by our own passes and by a pretended cuFFT. CUDA_KERNELS=all takes
# many lengths.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v g++ >/dev/null; then
    echo 'ok SKIPPED: there is no g++ to compile the kernels of the simulated device with' | tee /dev/stderr
    exit 0
fi
[ "$CUDA_KERNELS" = all ] && short=False || short=True
for library in False True; do
    (echo "short = $short; library = $library" && cat "$here/cuda_beside.tsr" "$here/cuda_fft.tsr" && echo "print(calls, 'calls')") >"$work/fft.tsr"
    [ $library = True ] && export TSR_SIM_LIBRARIES=1
    timeout 600 "$tsr" --simulate-cuda "$work/fft.tsr" >"$work/out" 2>&1
    is "they agree with the host, library $library" '' "$(grep -v '^[0-9]* calls$' "$work/out" | head -20)"
    is 'all of them' 1 "$(grep -c '^[0-9]* calls$' "$work/out")"
done
TSR_SIM_COUNT=1 run --simulate-cuda -e "x = torch.view_as_complex(torch.randn(4, 100, 2).cuda()); torch.fft.fft(x); torch.cuda.synchronize()"
is 'one launch where the library is' '1 kernels' "$err$out"
exit $bad
