# What torch.cuda, torch.accelerator and their kin answer without a driver, beside what PyTorch answered on a machine
# without one (tests/oracle/cuda_names.py): type and text of the value, or of the exception.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/../.." && pwd)
cat >"$work/ask.tsr" <<'END'
def answer(line):
    try:
        value = eval(line)
    except Exception as error:
        name = str(type(error))[8:-2]
        return ("" if "." in name else "builtins.") + name + ": " + str(error)
    return type(value).__name__ + " " + repr(value)

for line in open(path):
    question, wanted = line[:-1].split("\t")
    got = answer(question).replace("\\", "\\\\").replace("\n", "\\n")
    at = wanted.find(" at 0x")
    if got[:at] != wanted[:at] if at > 0 else got != wanted:
        print(question, wanted, got, sep="\n    ")
END
ask() { (echo "path = '$here/tests/data/$1'; tsr.cuda_fallback('silent')" && cat "$work/ask.tsr") >"$work/names.tsr"; }
ask cuda_names.txt
TSR_BACKEND_PATH=/nowhere TSR_CUDA_DRIVER=/nowhere run "$work/names.tsr"
is 'torch.cuda without a driver' '' "$out"
is 'asks to the end' 0 "$status"
# The same with two devices: PyTorch answered over a pretended runtime (tests/oracle/pretended_cudart.c).
ask cuda_device.txt
TSR_SIM_DEVICES=2 run --simulate-cuda "$work/names.tsr"
is 'torch.cuda with two devices' '' "$out"
is 'asks to the end' 0 "$status"
# In which words operators refuse tensors of two devices.
gzip -dc "$here/tests/data/device_words.gz" >"$work/words"
(echo "path = '$work/words'" && cat "$here/tests/repl/cuda_words.tsr") >"$work/words.tsr"
run --simulate-cuda "$work/words.tsr"
is 'mixed devices are refused in words of PyTorch' "$(wc -l <"$work/words" | tr -d ' ')" "$out"
exit $bad
