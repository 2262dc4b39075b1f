# Programs over tensors with what PyTorch printed (tests/data/programs/*.gz, by tests/oracle/tensor_{programs,states,printing,streams}.py --record).
# `tensor_programs.sh TSR FROM COUNT` makes that many new ones of each where PyTorch can be imported ($PYTHON, python3).
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
python=${PYTHON:-python3}
if [ -n "$3" ] && "$python" -c 'import torch' 2>/dev/null; then
    for kind in programs states printing streams; do
        out=$("$python" "$here/../oracle/tensor_$kind.py" --tsr "$tsr" --seed "$2" --programs "$3" 2>&1)
        status=$?
        [ $status = 0 ] || printf '%s\n' "$out" | tail -40
        is "tensor_$kind beside PyTorch: $(printf '%s\n' "$out" | tail -1)" 0 $status
    done
    exit $bad
fi
for kind in tensors states printing streams; do gzip -dc "$here/../data/programs/$kind.gz"; done >"$work/programs"
# each in a file of its own: options and the default dtype are the process's
awk -v to="$work/one." '/^Program [0-9]+\.$/ { if (file) close(file); file = to $2 "txt" } { print >file }' "$work/programs"
for program in "$work"/one.*; do
    timeout 60 "$tsr" --max-memory 2G --doctest "$program" >"$work/out" 2>&1 || { head -20 "$work/out"; echo "$program"; }
done >"$work/differ"
head -40 "$work/differ"
is "recorded programs that differ, of $(grep -c '^Program ' "$work/programs")" 0 "$(grep -c "^$work/one" "$work/differ")"
exit $bad
