# Sparse tensors on the simulated device beside the host's answers. CUDA_KERNELS=all takes every dtype.
. "$(dirname "$0")/lib.sh"
need_kernels
beside 'sparse tensors' cuda_sparse.tsr
exit $bad
