# What networks are made of on the simulated device beside the host's answers: convolutions, pools, samplings, bags, CTC. CUDA_KERNELS=all takes every
# dtype.
. "$(dirname "$0")/lib.sh"
need_kernels
beside 'convolutions, pools, samplings, bags, CTC' cuda_beside.tsr cuda_nn.tsr
exit $bad
