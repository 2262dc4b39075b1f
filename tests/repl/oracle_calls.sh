# Random calls with PyTorch's recorded answers (tests/data/calls, by tests/oracle/calls.py --record). `oracle_calls.sh TSR CALLS` makes that many
# new ones where PyTorch can be imported ($PYTHON, python3), and where it can't, says so and runs the recorded ones.
# What is left to mend there may be as much as `left` says in 10,000 calls, on the average: lower it, never raise it.
. "$(dirname "$0")/lib.sh"
left=0
here=$(dirname "$0")
python=${PYTHON:-python3}
if [ -n "$2" ] && "$python" -c 'import torch' 2>/dev/null; then
    lots=$(($2 / 10000)) differ=0
    for seed in $(seq 1000 $((999 + lots))); do
        out=$("$python" "$here/../oracle/calls.py" --tsr "$tsr" --seed "$seed" --calls 10000 --show 3 --allow 10000 2>&1)
        status=$?
        printf '%s\n' "$out" | tail -40
        is "10000 calls beside PyTorch, seed $seed, end no process" 0 $status
        differ=$((differ + $(printf '%s\n' "$out" | sed -n 's/.* compared, \([0-9]*\) differ.*/\1/p')))
    done
    [ "$differ" -le $((left * lots)) ]
    is "calls beside PyTorch: $differ differ, and $left in 10000 may" 0 $?
    exit $bad
fi
[ -z "$2" ] || echo "# $python has no PyTorch: the recorded calls, not $2 new ones"
gzip -dc "$here/../data/calls/sample.gz" "$here/../data/calls/mended.gz" >"$work/sample"
timeout 250 "$tsr" --max-memory 4G "$here/oracle_calls.tsr" "$work/sample" >"$work/differ" 2>"$work/err"
status=$?
head -20 "$work/differ"
tail -3 "$work/err"
is 'recorded calls ran' 0 $status
is "recorded calls that differ, of $(wc -l <"$work/sample" | tr -d ' ')" 0 "$(wc -l <"$work/differ" | tr -d ' ')"
exit $bad
