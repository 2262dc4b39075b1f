# PyTorch's sample inputs of its operators, with what it printed (tests/data/programs/opinfo.gz, by tests/oracle/opinfo.py --record). `opinfo.sh TSR EACH`
# makes that many new ones of each operator and dtype where PyTorch and what its samples want can be imported ($PYTHON, python3).
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
python=${PYTHON:-python3}
if [ -n "$2" ] && "$python" -c 'import expecttest, torch' 2>/dev/null; then
    "$python" "$here/../oracle/opinfo.py" --tsr "$tsr" --each "$2" 2>&1
    exit
fi
gzip -dc "$here/../data/programs/opinfo.gz" >"$work/cases.txt"
timeout 250 "$tsr" --max-memory 4G --doctest "$work/cases.txt" >"$work/differ" 2>&1
status=$?
[ $status = 0 ] || head -60 "$work/differ"
is "$(grep -c '^Case ' "$work/cases.txt") samples of operators print PyTorch's bytes" 0 $status
exit $bad
