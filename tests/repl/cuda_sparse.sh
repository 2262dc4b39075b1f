# Sparse tensors on the simulated device beside the host's answers, products by our own kernel and by a pretended cuSPARSE. CUDA_KERNELS=all takes
# every dtype.
. "$(dirname "$0")/lib.sh"
need_kernels
for library in False True; do
    [ $library = True ] && export TSR_SIM_LIBRARIES=1 TSR_CUDA_BLAS=always
    given="library = $library" && beside "sparse tensors, library $library" cuda_sparse.tsr
done
exit $bad
