# softmax, norms, losses and what the prelude makes of other operators on the simulated device beside the host's answers. CUDA_KERNELS=all
# takes every dtype.
. "$(dirname "$0")/lib.sh"
need_kernels
beside 'rows' cuda_rows.tsr
exit $bad
