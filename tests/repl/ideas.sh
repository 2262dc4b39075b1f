# The ideas of the documents: each row of the table by itself, and the manual, which is printed from it (make docs).
. "$(dirname "$0")/lib.sh"
page=$(cd "$(dirname "$0")/../.." && pwd)/man/tsr-ownership.7
"$tsr" --print-man ideas >"$work/ideas.7"
sed -n '/^\.\\" ideas$/,/^\.\\" end of ideas$/{//!p}' "$page" >"$work/page.7"
is 'man/tsr-ownership.7 has the table' '' "$(diff "$work/page.7" "$work/ideas.7" | head -10)"
"$tsr" --print-man idea-tests | awk -v folder="$work" '/^=== /{file = sprintf("%s/idea%03d.txt", folder, $2); sub(/^=== [0-9]+ /, ""); print > (file ".name"); next} {print > file}'
count=0
for transcript in "$work"/idea*.txt; do
    count=$((count + 1))
    device=
    grep -qi 'GPUBFCAllocator\|cuda' "$transcript" && device=--simulate-cuda
    timeout 20 "$tsr" $device --doctest "$transcript" >"$work/out" 2>&1 && continue
    fail "$(cat "$transcript.name")" && cat "$work/out"
done
is 'a hundred ideas or more' yes "$([ $count -ge 100 ] && echo yes)"
is 'its code fits into a page of 80 columns' yes "$([ "$(grep '^    ' "$work/ideas.7" | LC_ALL=C.UTF-8 wc -L)" -le 73 ] && echo yes)"
for document in 'TH:' MaybeOwned "TensorFlow's" "Torch's" 'The unification' 'Where the documents disagree'; do
    is "ideas of $document" 1 "$(grep -c "^\.SS $document" "$work/ideas.7")"
done
exit $bad
