# pathlib's paths of files that there are, as CPython has them, and in the place of a text elsewhere.
. "$(dirname "$0")/lib.sh"
program=$(cd "$(dirname "$0")" && pwd)/paths.py
mkdir -p "$work/theirs/sub/deep" "$work/ours/sub/deep"
(cd "$work/theirs" && LC_ALL=C.UTF-8 python3 "$program" >../theirs.out 2>&1 </dev/null)
(cd "$work/ours" && "$tsr" "$program" >../ours.out 2>&1 </dev/null)
is 'as CPython' "$(cat "$work/theirs.out")" "$(cat "$work/ours.out")"
cd "$work/ours" || exit 1
run -e 'from pathlib import Path; torch.save(ones(2), Path("x.pt")); save(zeros(1), Path("y.npy")); torch.load(Path("x.pt")), load(Path("y.npy"))'
is 'tensors' '(tensor([1., 1.]), tensor([0.]))' "$out"
run --sandbox -e 'from pathlib import Path; Path("out.txt").read_text()'
is 'the sandbox holds' "PermissionError: [Errno 1] Operation not permitted in the sandbox: 'out.txt'" "$(last)"
exit $bad
