# Exit statuses, and the last line of each report.
. "$(dirname "$0")/lib.sh"
run -e '1 / 0'; is 'an error' 1 "$status"; is 'its last line' 'ZeroDivisionError: division by zero' "$(last)"
run -e 'x ='; is 'a syntax error' 1 "$status"; is 'its message' 'SyntaxError: invalid syntax' "$(last)"
run -e 'assert 1 == 2'; is 'assert' 1 "$status"
run -e 'import sys; sys.exit(7)'; is 'sys.exit(7)' 7 "$status"
run -e 'import sys; sys.exit()'; is 'sys.exit()' 0 "$status"
run -e 'import sys; sys.exit("why")'; is 'sys.exit(text)' 1 "$status"; is 'its text' why "$err"
run -e 'raise KeyboardInterrupt'; is 'interrupt' 130 "$status"
printf '1/0\n2\n' >"$work/a.tsr"
run --echo "$work/a.tsr"; is '--echo goes on' 2 "$out"; is '--echo with an error' 1 "$status"
printf 'a\nexit()\n1\n' >"$work/b.tsr"
run "$work/b.tsr"; is 'a script stops at an error' 1 "$status"
"$tsr" -e 'for i in range(1000000): print(i)' 2>"$work/err" | head -1 >/dev/null
is 'a closed pipe is silent' '' "$(cat "$work/err")"
if [ -c /dev/full ]; then
    "$tsr" -e 'print(1)' >/dev/full 2>"$work/err"; is 'a full disk' 1 $?
    is 'and says so' "tsr: <stdout>: No space left on device
OSError: [Errno 28] No space left on device: '<stdout>'" "$(cat "$work/err")"
fi
"$tsr" -e '1' >&- 2>"$work/err"; is 'no standard output' 1 $?
"$tsr" -e '1' <&- >/dev/null; is 'no standard input' 0 $?
run --max-time 0.3 -e 'while True: pass'; is '--max-time' 1 "$status"; is 'its message' 'TimeoutError: the time limit was reached' "$(last)"
run --max-time 0.3 -e 'while True: x = ones(2); y = x + 1'; is 'what names hold then' '1 TimeoutError: the time limit was reached' "$status $(last)"
run --json -e '1 / 0'; is 'an error as JSON' '{"type": "ZeroDivisionError", "message": "division by zero", "file": "<string>", "line": 1, "column": 1, "end_column": 6, "hint": null}' "$(last)"
exit $bad
