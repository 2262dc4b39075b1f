# Products of matrices on the simulated device beside the host's: by the kernel of our own, and by cuBLASLt, of which the simulated
# device has a pretended one. CUDA_KERNELS=all takes every dtype.
. "$(dirname "$0")/lib.sh"
need_kernels
(echo "short = $short" && cat "$here/cuda_matmul.tsr") >"$work/products.tsr"
is 'by our kernel' "$([ $short = True ] && echo 475 || echo 855) calls" "$(timeout 600 "$tsr" --simulate-cuda "$work/products.tsr" 2>&1)"
is 'by cuBLASLt' "$([ $short = True ] && echo 475 || echo 855) calls" "$(TSR_CUDA_BLAS=always TSR_SIM_LIBRARIES=1 timeout 600 "$tsr" --simulate-cuda "$work/products.tsr" 2>&1)"

# Where two stages of work want scratch memory: it is given back, and none is left when the products are gone.
TSR_CUDA_BLAS=always TSR_SIM_LIBRARIES=1 run --simulate-cuda -e "a = torch.ones(8, 8, device='cuda')
b = a @ a @ a
print(b[0, 0].item())
del a, b
print(torch.cuda.memory_allocated())"
is 'scratch memory is given back' '64.0
0' "$out"

# The library is opened at the first product that is large enough for it: here it is a file that is none.
printf 'no library' >"$work/none.so"
TSR_CUDA_CUBLASLT="$work/none.so" run --simulate-cuda -e "a = torch.ones(64, 64, device='cuda')
print((a @ a)[0, 0].item(), (torch.ones(80, 80, device='cuda') @ torch.ones(80, 80, device='cuda'))[0, 0].item())"
is 'small ones, and large ones without the library, by our kernel' '64.0 80.0' "$out"
exit $bad
