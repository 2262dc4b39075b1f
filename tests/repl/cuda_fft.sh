# Fourier transforms on the simulated device beside the host's answers, by our own passes and by a pretended cuFFT. CUDA_KERNELS=all takes
# many lengths.
. "$(dirname "$0")/lib.sh"
need_kernels
for library in False True; do
    [ $library = True ] && export TSR_SIM_LIBRARIES=1
    given="library = $library"
    beside "library $library" cuda_beside.tsr cuda_fft.tsr
done
TSR_SIM_COUNT=1 run --simulate-cuda -e "x = torch.view_as_complex(torch.randn(4, 100, 2).cuda()); torch.fft.fft(x); torch.cuda.synchronize()"
is 'one launch where the library is' '1 kernels' "$err$out"
exit $bad
