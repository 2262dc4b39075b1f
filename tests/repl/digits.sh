# Calls over tensors of many sizes, strides and kinds of values, whose results have PyTorch's very bits (tests/data/digits, by
# tests/oracle/digits.py --record): each line of sample.gz is a checksum of what runner.py prints for the call behind it.
. "$(dirname "$0")/lib.sh"
data=$(dirname "$0")/../data/digits
gzip -dc "$data/sample.gz" >"$work/sample"
cut -f 2- "$work/sample" >"$work/calls"
timeout 250 "$tsr" --max-memory 4G "$data/runner.py" "$work/calls" 0 >"$work/answers" 2>"$work/err"
is 'recorded calls ran' 0 $?
tail -3 "$work/err"
python3 - "$work/sample" "$work/answers" >"$work/differ" <<'END'
import itertools, sys, zlib

with open(sys.argv[1]) as sample, open(sys.argv[2]) as answers:
    for wanted, answer in itertools.zip_longest(sample, answers, fillvalue=""):
        if wanted[:8] != f"{zlib.crc32(answer.rstrip(chr(10)).encode()):08x}":
            print(wanted[9:-1], "\n    got:", answer[:200].strip())
END
head -20 "$work/differ"
is "recorded calls with other bits, of $(wc -l <"$work/sample" | tr -d ' ')" 0 "$(grep -c '    got:' "$work/differ")"
exit $bad
