# another_process(f), and a second tsr that maps the same memory: what two processes share, and what not.
. "$(dirname "$0")/lib.sh"
run -e 'x = zeros(2); another_process(lambda: x.fill_(1)); a = x.tolist(); y = x.share_memory_(); another_process(lambda: x.fill_(1)); print(a, x.tolist(), x._version)'
is 'a write is seen in shared memory alone' '0 [0.0, 0.0] [1.0, 1.0] 0' "$status $out"
run -e 'x = zeros(2).share_memory_()
def f():
    global x
    x[1] = 3
    x = ones(5)
    print("there", x.numel())
another_process(f); print(x)'
is 'names stay' '0 there 5 tensor([0., 3.])' "$status $(printf '%s' "$out" | tr '\n' ' ' | sed 's/ $//')"
run -e 'another_process(lambda: 1 / 0)'
is 'an error there is one here' '1 RuntimeError: another_process(): the other process ended with an error' "$status $(last)"
is 'and is reported' 1 "$(printf '%s\n' "$err" | grep -c '^ZeroDivisionError: division by zero')"
run -e 'another_process(3)'; is 'what can be called' "TypeError: 'int' object is not callable" "$(last)"
run -e 'explain("ones(2).share_memory_().add_(1)")'
is 'explain says who sees a write' 1 "$(printf '%s\n' "$out" | grep -c 'its memory is shared between processes: all of them see the write')"

# two programs that begin on their own
f=$work/m
cat >"$work/first.tsr" <<'E'
import sys, time
x = torch.from_file(sys.argv[1], shared=True, size=3)
x[0] = 5
for i in range(500):
    if x[1].item() == 7: break
    time.sleep(0.02)
print(x.tolist(), why(x).split("\n")[2])
E
"$tsr" "$work/first.tsr" "$f" >"$work/first" 2>&1 &
first=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    run -e "x = torch.from_file('$f', shared=True, size=3); x[0].item()"
    [ "$out" = 5.0 ] && break
    sleep 0.1
done
is 'a second tsr sees what the first wrote' '0 5.0' "$status $out"
run -e "torch.from_file('$f', shared=True, size=3)[1] = 7"
wait $first
is 'and the first what the second wrote' "[5.0, 7.0, 0.0] its memory is a mapping of the file $f, which the storage keeps" "$(cat "$work/first")"
exit $bad
