# Sparse tensors on the simulated device beside the host's answers, products by our own kernel and by a pretended cuSPARSE. CUDA_KERNELS=all takes
# every dtype. After a fault nothing leaks, in the libraries' scratch memory neither.
. "$(dirname "$0")/lib.sh"
need_kernels
cat >"$work/faults.tsr" <<'END'
tsr.cuda_fallback('silent')
def work():
    x = torch.sparse_coo_tensor([[2, 0, 2], [1, 3, 1]], [1., 2., 3.], (3, 4)).cuda()
    x.coalesce().to_dense()
    (x * x) @ x.t()
    y = x.to_sparse_csr() @ torch.ones(4, 2, device='cuda')
    a = torch.eye(3, device='cuda') * 2
    la = torch.linalg
    return la.eigh(a), la.svd(a), la.solve(a, y), la.qr(a), la.cholesky(a), y.cpu()
failed = 0
for i in range(2):
    try:
        work()
    except RuntimeError as error:
        failed += 1
torch.cuda.synchronize()
print(failed, torch.cuda.memory_allocated())
END
for library in False True; do
    [ $library = True ] && export TSR_SIM_LIBRARIES=1 TSR_CUDA_BLAS=always
    given="library = $library" && beside "sparse tensors, library $library" cuda_sparse.tsr
    wrong=
    for fault in copy:5 copy:14 launch:9 launch:25 launch:41; do
        TEST_TIME=120 TSR_SIM_FAIL=$fault run --simulate-cuda "$work/faults.tsr"
        [ "$out" = '1 0' ] || wrong="$wrong $fault($status $out $(last))"
    done
    is "nothing leaks after a fault, library $library" '' "$wrong"
done
exit $bad
