# Each line of code below is followed by the line of carets that its report has.
. "$(dirname "$0")/lib.sh"
carets() {
    while IFS= read -r code && IFS= read -r wanted; do
        run -e "$code"
        is "$code" "$wanted" "$(grep '^ *^*$' "$work/err" | tail -1)"
    done
}
carets <<'END'
nope + 1
    ^^^^
1 + nope
        ^^^^
[1][0] * (nope - 2)
              ^^^^
print(nope.x[1])
          ^^^^
nope + -other
    ^^^^
nope * [1][7]
    ^^^^
nope[1 / 0]
    ^^^^
[1][nope]
        ^^^^
[1][nope:] + nope.nope
        ^^^^
2 * [1][7]
        ^^^^^^
END
exit $bad
