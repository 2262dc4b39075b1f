# Notes about what is easily overlooked: dim lines on stderr at an interactive prompt; silent elsewhere until asked for.
. "$(dirname "$0")/lib.sh"

cat >"$work/p.tsr" <<'P'
x = arange(12.).view(3, 4)
y = x.t()
z = x[1:]
x[0, 0] = 1
x[1] = 5
x[x > 3].add_(1)
x[[0]][0] = 1
y.reshape(12)[0] = 3
w = x[x > 3].add_(1)
e = ones(1, 4).expand(3, 4)
e[0, 0] = 3
a = zeros(3000) - zeros(3000, 1)
b = zeros(300000) - zeros(1)
del y, z
x[0] = 1
P
run "$work/p.tsr"
is 'a script is silent' '' "$err"
(echo 'notes("on")'; cat "$work/p.tsr"; echo 'notes("off")'; echo 'q = x.t(); x.add_(1)') >"$work/q.tsr"
run "$work/q.tsr"
is 'notes asked for' 'note: x, y both see this write: the same memory
note: x, y, z all see this write: the same memory
note: add_ wrote into a copy that nothing holds (index had to copy): the write is lost; one pair of brackets on the left of = writes: x[mask] = 1
note: fill_ wrote into a copy that nothing holds (index had to copy): the write is lost; one pair of brackets on the left of = writes: x[mask] = 1
note: fill_ wrote into a copy that nothing holds (reshape had to copy): the write is lost; give the copy a name, or write to the tensor before it is copied
note: this broadcast to [3000, 3000] makes 36000000 bytes of operands of at most 12000: 3000 times
note: e has a stride of 0: one element written is seen at 3 of its indices' "$err"

if command -v script >/dev/null; then
    typed() { (sleep 0.5; printf '%s\n' "$@"; sleep 0.5) | TERM=dumb timeout 20 script -qec "$tsr --no-color" /dev/null 2>&1 | grep '^note' | tr -d '\r'; }
    is 'at the prompt' 'note: y sees this write to x: the same memory' "$(typed 'x = ones(2)' 'y = x[:]' 'x.add_(1)')"
    is 'a second name of the tensor' 'note: b sees this write to a: the same memory' "$(typed 'a = ones(2)' 'b = a' 'b.add_(1)')"
    is 'what a list holds is expected to change' '' "$(typed 'a = ones(2)' 'l = [a]' 'a.add_(1)')"
    is 'turned off' '' "$(typed '%notes off' 'x = ones(2)' 'y = x[:]' 'x.add_(1)')"
    is 'and on again' 'note: y sees this write to x: the same memory' "$(typed '%notes off' '%notes on' 'x = ones(2)' 'y = x[:]' 'x.add_(1)')"
fi
exit $bad
