# The library of BLAS and LAPACK: which one, its kernels, its threads beside other programs.
. "$(dirname "$0")/lib.sh"
eigenvalues='x = torch.linalg.eig(ones(3, 3))'

run --version
case $out in *"
"*OpenBLAS*kernels*libopenblas*) ok '--version names library and kernels' ;; *) fail "--version: $out" ;; esac
if grep -qw avx2 /proc/cpuinfo; then
    case $out in *Prescott* | *Core2* | *Nehalem* | *Sandybridge* | *Opteron*) fail "kernels of before AVX2: $out" ;; *) ok 'kernels for what the processor can do' ;; esac
    out=$(OPENBLAS_CORETYPE=Nehalem "$tsr" --version)
    case $out in *Nehalem*) ok 'the kernels that the user chose' ;; *) fail "OPENBLAS_CORETYPE: $out" ;; esac
fi
is 'what it was told is gone from the environment' None "$("$tsr" -e "$eigenvalues" -e 'import os; print(os.environ.get("GOMP_SPINCOUNT"))' 2>&1)"

TSR_BLAS=/none/libblas.so run -e "$eigenvalues"
is 'a library that is not there' 1 "$status"
case $err in *TSR_BLAS*/none/libblas.so*) ok 'is named' ;; *) fail "is named: $err" ;; esac
TSR_BLAS=/none/libblas.so run -e '(ones(300, 300) @ ones(300, 300)).sum()'
is 'products need none' 'tensor(27000000.)' "$out"
TSR_BLAS=/none/libblas.so run -e 'a = eye(20) * 2; q, r = linalg.qr(a)' -e 'linalg.inv(a)[3, 3], linalg.solve(a, ones(20, 3))[1], linalg.cholesky(a)[0, 0] ** 2, (q @ r)[7, 7], linalg.det(a[:4, :4]), linalg.eigh(a).eigenvalues[3], linalg.svdvals(a)[1]'
is 'nor do small systems and factorizations' '(tensor(0.5000), tensor([0.5000, 0.5000, 0.5000]), tensor(2.0000), tensor(2.), tensor(16.), tensor(2.), tensor(2.))' "$out"
TSR_BLAS=/none/libblas.so run -e 'a = (torch.arange(2400.) ** 2).double().sin().reshape(40, 60)
u, s, vh = linalg.svd(a)
r = linalg.svd(ones(5, 3), full_matrices=False)
b = a[:, :40] + eye(40); c = linalg.lstsq(a.T, ones(60, 2).double())
def small(x): return bool(x.abs().max() < 1e-10)
print(small(u * s @ vh[:40] - a), small(u.T @ u - eye(40)), small(vh @ vh.T - eye(60)), round(r.S[0].item() ** 2, 3), small((r.U.T @ r.U - eye(3)) * 1e-5))
print(small(linalg.inv(b) @ b - eye(40)), small(a @ (a.T @ c.solution - 1)), c.rank, linalg.matrix_rank(a[:, :3] @ a[:3, :]))'
is 'nor singular values and least squares of real matrices' 'True True True 15.0 True
True True tensor(40) tensor(3)' "$out"
TSR_BLAS=libm.so.6 run -e "$eigenvalues"
case $err in *'has no cblas_sgemm'*) ok 'a library that is no BLAS' ;; *) fail "a library that is no BLAS: $err" ;; esac

# Beside two busy loops a processor: the time by all threads against that by one, the better of three each, in turns.
busy=''
for i in $(seq $(($(nproc) + 1))); do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done
trap 'kill $busy; rm -rf "$work"' EXIT
program='import time
a = torch.randn(800, 800); s = a @ a.T + 800 * torch.eye(800)
best = 1e9
for i in range(3):
    t = time.perf_counter(); torch.linalg.qr(a); torch.linalg.inv(s); torch.linalg.eigh(s[:300, :300]); best = min(best, time.perf_counter() - t)
int(best * 1000)'
one=$(timeout 60 "$tsr" --threads 1 -e "$program")
all=$(timeout 60 "$tsr" -e "$program")
if [ "${all:-1000000}" -le $((${one:-0} * 3)) ]; then ok 'LAPACK beside busy loops'; else fail "LAPACK beside busy loops: ${all:-more than 60000} ms by all threads, $one by one"; fi
exit $bad
