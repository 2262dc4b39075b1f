# PyTorch's recorded answers (tests/data/calls) beside the simulated device: every eighth of the recorded calls that PyTorch answered; with
# CUDA_KERNELS=all each of them, in some minutes, most of which go into the compiling of kernels that are then kept.
. "$(dirname "$0")/lib.sh"
need_kernels
[ "$short" = True ] && step=8 || step=1
gzip -dc "$here/../data/calls/sample.gz" "$here/../data/calls/mended.gz" | grep -v '	\["raised ' | awk -v step=$step 'NR % step == 0' >"$work/calls"
timeout 1800 "$tsr" --simulate-cuda --max-memory 4G "$here/oracle_calls.tsr" "$work/calls" device >"$work/differ" 2>"$work/err"
status=$?
head -20 "$work/differ"
tail -3 "$work/err"
is 'recorded calls ran on the device' 0 $status
is "calls on the device that differ, of $(wc -l <"$work/calls" | tr -d ' ')" 0 "$(wc -l <"$work/differ" | tr -d ' ')"
exit $bad
