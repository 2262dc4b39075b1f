# The manual's list of operators is what the program prints (make man writes it).
. "$(dirname "$0")/lib.sh"
page=$(cd "$(dirname "$0")/../.." && pwd)/man/tsr-ops.7
"$tsr" --print-man ops >"$work/ops.7"
is 'man/tsr-ops.7' '' "$(diff "$page" "$work/ops.7" | head -10)"
# A macro of two fonts joins its arguments: words of a sentence behind one would stand there without their blanks.
is 'no sentence is joined' '' "$(cd "$(dirname "$page")" && awk '
    /^\.(BR|RB|BI|IB|IR|RI) / {
        n = 0
        gsub(/"[^"]*"/, ",")
        for (i = 2; i <= NF; i++) {
            n = $i ~ /^[A-Za-z]+$/ ? n + 1 : 0
            if (n == 3) print FILENAME ": " FNR ": " $0
        }
    }' ./*)"
exit $bad
