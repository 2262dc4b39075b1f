# Factorizations of matrices on the simulated device beside the host's answers, by our own kernels and by a pretended cuSOLVER. CUDA_KERNELS=all
# takes every dtype and more sizes.
. "$(dirname "$0")/lib.sh"
need_kernels
for library in False True; do
    [ $library = True ] && export TSR_SIM_LIBRARIES=1 TSR_CUDA_BLAS=always
    given="library = $library" && beside "factorizations, library $library" cuda_beside.tsr cuda_linalg.tsr
done
exit $bad
