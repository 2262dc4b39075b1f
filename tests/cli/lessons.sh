# Lessons: the list, each one with its answers and their checks, and progress.
. "$(dirname "$0")/lib.sh"
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

run --lesson </dev/null
is 'the list of lessons' "0  1  Tensors, and how they print" "$status$(printf '%s\n' "$out" | head -1)"
n=1
while run --lesson $n </dev/null && [ $status != 2 ]; do
    is "lesson $n: its answers fulfil their checks" 0 $status
    n=$((n + 1))
done
is 'fifteen lessons or more' yes "$([ $n -gt 15 ] && echo yes)"
run -e 'lesson(99)'; is 'none of a greater number' 'ValueError: there is no lesson 99 (they are 1 to 20)' "$(last)"
is 'no lesson 0' 2 "$(run --lesson 0; echo $status)"
is 'no such number' 2 "$(run --lesson x; echo $status)"

# taken: answered in another way than the file's, a hint asked for, left in the middle, gone on
if command -v script >/dev/null; then
    take() { (sleep 0.5; printf '%s\n' "$@"; sleep 0.5) | TERM=dumb timeout 20 script -qec "$tsr --lesson 1" /dev/null >"$work/out" 2>&1; }
    take '5' 'hint' '>>> x = torch.arange(12).reshape(3, 4)' 'h = torch.arange(3) + 0.5' 'quit'
    is 'answers checked by what they did' 2 "$(grep -c 'Right\.' "$work/out")"
    is 'a hint' 1 "$(grep -c '>>> x = arange(12).view(3, 4)' "$work/out")"
    is 'progress kept' '1 2' "$(cat "$XDG_STATE_HOME/tsr/lessons")"
    take 'x.sum(1)' '12'
    is 'gone on where it was left' '1 4' "$(cat "$XDG_STATE_HOME/tsr/lessons")"
    run --lesson </dev/null
    is 'marked' done "$(printf '%s\n' "$out" | head -1 | awk '{print $NF}')"
fi
exit $bad
