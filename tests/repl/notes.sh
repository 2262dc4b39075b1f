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
note: add_ wrote into a copy that nothing holds (index had to copy): the write is lost; one pair of brackets on the left writes: x[mask] += 1
note: fill_ wrote into a copy that nothing holds (index had to copy): the write is lost; one pair of brackets on the left writes: x[mask] = 1
note: fill_ wrote into a copy that nothing holds (reshape had to copy): the write is lost; give the copy a name, or write to the tensor before it is copied
note: this broadcast to [3000, 3000] makes 36000000 bytes of operands of at most 12000: 3000 times
note: e has a stride of 0: one element written is seen at 3 of its indices' "$err"

cat >"$work/both.tsr" <<'P'
notes("on")
x = ones(2, 3)
c = caffe2.Tensor(x)
other = ones(2)
c.Resize(3, 2)
other[0] = 2
c.Resize(3, 2)
other[0] = 3
a = c.Alias()
a.Resize(1)
other[0] = 4
x.t_()
other[0] = 5
only = caffe2.empty([2])
only.Resize(1)
other[0] = 6
P
run "$work/both.tsr"
is 'metadata that changes while both wrappers are held' 'note: x, c are wrappers of one tensor, whose metadata changed for all of them: [3, 2] float32 now; Alias() gives a wrapper with metadata of its own
note: x, c are wrappers of one tensor, whose metadata changed for all of them: [2, 3] float32 now; Alias() gives a wrapper with metadata of its own' "$err"

cat >"$work/geometry.tsr" <<'P'
notes("on")
x = ones(2)
v = x.view(1, 2)
x.unsqueeze_(0)
x.t_()
x.resize_(1)
x.set_(ones(1))
P
run "$work/geometry.tsr"
is 'a change of sizes or strides writes nothing that others could see' '' "$err"

cat >"$work/rows.tsr" <<'P'
notes("on")
x = ones(5)
x[:, None] - x
x.unsqueeze(1) * x
ones(3, 1) - ones(3)
m = ones(4, 3)
m - m.mean(1, keepdim=True)
cdist(m, m), F.softmax(m, 0), x.outer(x), F.layer_norm(m, (3,)), torch.corrcoef(m)
pred = ones(1, 1)
pred - ones(1)
P
run "$work/rows.tsr"
is 'pairs that are meant, and broadcasting that is none' '' "$err"
cat >"$work/rows.tsr" <<'P'
notes("on")
pred = ones(2, 1); y = ones(2)
for i in range(3): pred - y
(y - pred) ** 2
m = ones(4, 3); target = ones(4)
m @ ones(3, 1) - target
def loss(p, t): return ((p - t) ** 2).mean()
loss(m @ ones(3, 1), target)
a = ones(3, 3, 1); c = ones(3, 3)
torch.sub(c, a)
big = zeros(3000); column = zeros(3000, 1)
big - column
big - column
P
run "$work/rows.tsr"
is 'a row against a column' 'note: pred is a column, [2, 1], and y a row, [2]: this gives every pair, [2, 2]; element by element: pred.squeeze(-1)
note: the one is a column, [4, 1], and target a row, [4]: this gives every pair, [4, 4]; element by element: x.squeeze(-1)
note: p is a column, [4, 1], and the other a row, [4]: this gives every pair, [4, 4]; element by element: p.squeeze(-1)
note: a is a column, [3, 3, 1], and c a row, [3, 3]: this gives every pair, [3, 3, 3]; element by element: a.squeeze(-1)
note: column is a column, [3000, 1], and big a row, [3000]: this gives every pair, [3000, 3000]; element by element: column.squeeze(-1)' "$err"
cat >"$work/back.tsr" <<'P'
notes("on")
x = arange(6.)
x[x > 3] += 1
x[[0, 1]] *= 2
x[x > 3].mul_(2)
x[[0, 1]].zero_()
a = ones(3)
b = a
b += 1
x.add_(1)
c = a
c[0] = 2
P
run "$work/back.tsr"
is 'what is written back, and the name that is written through' 'note: mul_ wrote into a copy that nothing holds (index had to copy): the write is lost; one pair of brackets on the left writes: x[mask] *= 2
note: zero_ wrote into a copy that nothing holds (index had to copy): the write is lost; one pair of brackets on the left writes: x[mask] = 1
note: a sees this write to b: the same memory
note: b, a see this write to c: the same memory' "$err"
# One element is written, or, by positions, some that the note can't name.
run -e 'notes("on")
x = arange(6.)
z = x[2:]
x[0] = 1
x[-6] = 1.5
notes("off")'
is 'a view that has not the element' '' "$err"
run -e 'notes("on")
x = arange(6.)
z = x[2:]
x[3] = 1'
is 'one that has it' 'note: z sees this write to x: the same memory' "$err"
run -e 'notes("on")
x = arange(6.)
z = x[2:]
x[[0, 1]] = 1'
is 'one that may have one of them' 'note: z may see this write to x: the same memory' "$err"
run -e 'notes("on")
x = arange(6.)
y = x.view(2, 3)
x[[0, 1]] = 1'
is 'one that has all' 'note: y sees this write to x: the same memory' "$err"

cat >"$work/used.tsr" <<'P'
notes("on")
x = arange(6.)
x[x > 3].mul_(2).sum()
print(x[[0, 1]].add_(1))
y = x[[0, 1]].add_(1) + 1
z = [x[[0]].add_(1)]
f = lambda t: t[[0]].mul_(2).tolist()
f(x)
torch.stack([x[[0]].add_(1), x[[1]]])
def g(t):
    t[[0]].mul_(3)
    return t[[0]].mul_(4)
g(x)
if x[[0]].add_(1) > 0: x.long()[0] = 7
x.half().add_(1)
x.float()[0] = 1
x[[1]].mul_(2).sub_(1)
P
run "$work/used.tsr"
is 'what is lost, and what goes on' 'note: mul_ wrote into a copy that nothing holds (index had to copy): the write is lost; one pair of brackets on the left writes: x[mask] *= 2
note: fill_ wrote into a copy that nothing holds (long had to copy): the write is lost; give the copy a name, or write to the tensor before it is copied
note: add_ wrote into a copy that nothing holds (half had to copy): the write is lost; give the copy a name, or write to the tensor before it is copied
note: sub_ wrote into a copy that nothing holds (index had to copy): the write is lost; one pair of brackets on the left writes: x[mask] -= 1' "$err"

if command -v script >/dev/null; then
    typed() { (sleep 0.5; printf '%s\n' "$@"; sleep 0.5) | TERM=dumb timeout 20 script -qec "$tsr --no-color" /dev/null 2>&1 | grep '^note' | tr -d '\r'; }
    is 'at the prompt' 'note: y sees this write to x: the same memory' "$(typed 'x = ones(2)' 'y = x[:]' 'x.add_(1)')"
    is 'a second name of the tensor' 'note: a sees this write to b: the same memory' "$(typed 'a = ones(2)' 'b = a' 'b.add_(1)')"
    is 'what a list holds is expected to change' '' "$(typed 'a = ones(2)' 'l = [a]' 'a.add_(1)')"
    is 'turned off' '' "$(typed '%notes off' 'x = ones(2)' 'y = x[:]' 'x.add_(1)')"
    is 'and on again' 'note: y sees this write to x: the same memory' "$(typed '%notes off' '%notes on' 'x = ones(2)' 'y = x[:]' 'x.add_(1)')"
    # Which lesson is about it, once a session.
    pointed() { (sleep 0.5; printf '%s\n' "$@"; sleep 0.5) | TERM=dumb timeout 20 script -qec "$tsr --no-color" /dev/null 2>&1 | tr -d '\r' | sed -n 's/^ *\(%lesson.*\)/\1/p'; }
    is 'of what has no memory, another owner, another system or few elements' '%lesson 17 is about this: Meta tensors: shapes without memory
%lesson 19 is about this: Moving, and who deletes
%lesson 15 is about this: tensorflow'"'"'s tensors: memory at once
%lesson 16 is about this: Sparse tensors: indices and values' "$(pointed 'explain("torch.empty(3, device='"'meta'"')")' 'explain("frombuffer(bytearray(4), dtype=torch.uint8)")' 'explain("tensorflow.Tensor(tensorflow.DT_FLOAT, [2])")' 'explain("torch.eye(2).to_sparse()")')"
    is 'explain and why name a lesson' '%lesson 4 is about this: When reshape copies
%lesson 5 is about this: Contiguous, and memory formats
%lesson 6 is about this: Broadcasting and stride 0
%lesson 10 is about this: Reference counts and holders' "$(pointed 'x = arange(6).view(2, 3).t()' 'explain("x.reshape(6)")' 'explain("x.reshape(6)")' '%explain x.contiguous()' '%explain ones(2, 1) + ones(3)' 'why(x)' 'x' 'why(x)')"
    # The questions of tsr-lessons(7): what is asked there ends with the lesson that is named there.
    setup='s = zeros(1000, 1000)[0]; x = arange(6).view(2, 3); r = frombuffer(b"abcd", dtype=torch.uint8); p = zeros(2).share_memory_()'
    sed -n '/^\.\\" questions/,/^\.\\" end questions/p' "$(dirname "$0")/../../man/tsr-lessons.7" | sed 's/\\-/-/g; s/\\e/\\/g' >"$work/questions"
    is 'every question has its lesson' "$(grep -c '?$' "$work/questions")" "$(grep -c '    %lesson [0-9]*$' "$work/questions")"
    grep -e '^        explain(' -e '^        why(' "$work/questions" >"$work/asked"
    while IFS= read -r line; do
        code=$(printf '%s' "${line%    %lesson*}" | sed 's/^ *//')
        is "$code" "%lesson ${line##*lesson }" "$(pointed "$setup" "$code" | tail -1 | cut -d' ' -f1-2)"
    done <"$work/asked"
    is 'so do notes' '%lesson 3 is about this: Views share storage' "$(pointed 'x = ones(2)' 'y = x[:]' 'x.add_(1)' 'x.add_(1)')"
    is 'unless they are off' '' "$(pointed '%notes off' 'x = ones(2, 3).t()' 'explain("x.view(6)")')"
fi

# PyTorch's own warning, without being asked for, once of the same sizes.
run -e 'p = ones(5, 1); [F.mse_loss(p, ones(5)) for i in range(2)]; F.l1_loss(p, ones(5)); F.huber_loss(p, ones(5, 1))'
is 'losses of a column and a row' 'UserWarning: Using a target size (torch.Size([5])) that is different to the input size (torch.Size([5, 1])). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.' "$err"
exit $bad
