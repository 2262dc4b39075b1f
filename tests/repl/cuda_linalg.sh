# Factorizations of matrices on the simulated device beside the host's answers. CUDA_KERNELS=all takes every dtype and more sizes.
. "$(dirname "$0")/lib.sh"
need_kernels
beside 'factorizations' cuda_beside.tsr cuda_linalg.tsr
exit $bad
