# The random programs of ownership_fuzz.sh and ownership_model.sh with two simulated GPUs in them; `ownership_devices.sh TSR FROM TO STEPS` runs others
# than the fixed sample (`scripts/test --long` twenty thousand short ones).
. "$(dirname "$0")/lib.sh"
export TSR_CUDA_DRIVER=simulated TSR_SIM_DEVICES=2
programs "$(dirname "$0")/ownership_fuzz.tsr" "${2:-0}" "${3:-30}" "${4:-120}"
is 'random programs with devices keep the counts right' 'programs run' "$out"
programs "$(dirname "$0")/ownership_model.tsr" "${2:-0}" "${3:-15}" "${4:-60}"
is 'counts, holders and leaks are what a model says on devices too' 'programs run' "$out"
exit $bad
