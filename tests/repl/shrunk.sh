# A mapped file that becomes shorter: what was in it is lost, whoever asks and however often; nobody is given the zeros that stand in for it, and nothing is written of it.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
lost='RuntimeError: a.npy: the file became shorter while it was mapped'

# attempt STATEMENT: three times the error, and the file that was there stays
attempt() {
    "$tsr" -e 'save(ones(100000), "a.npy")'
    echo old >out.npy
    cat >p.tsr <<END
x = load("a.npy")
open("a.npy", "w").close()
for i in range(3):
    try:
        $1
        print("ran")
    except RuntimeError as e:
        print("RuntimeError:", e)
END
    run p.tsr
    is "$1" "$lost
$lost
$lost" "$out"
    is "  leaves the old file: $1" old "$(cat out.npy)"
    [ "$(ls | wc -l)" = 5 ] || fail "  leaves another file: $1 ($(ls))"
}
attempt 'print(x)'
attempt 'for v in x[-2:]: print(v)'
attempt 'print(x[-1].item())'
attempt 'print(f"{x[-1]:.2f}", x[-1:].tolist())'
attempt 'print(bool(x[-1]), float(x[-1]))'
attempt 'x.sum()'
attempt 'y = x[-3:] + 1'
for e in 'x[-3:] * x[-3:]' '-x[-3:]' '(x * 2 + 1).sum()' 'x.sin() * x.cos()' 'x > 0' 'x @ x' 'torch.cat([x, x])' 'x.sort()' 'x.half()' 'x.unique()' 'where(x > 0, x, 0)' 'x.max()'; do attempt "y = $e"; done
attempt 'y = ones(100000); y += x'
attempt 'y = ones(3); y.copy_(x[-3:])'
attempt 'y = x[-3:].clone()'
attempt 'y = x.clone()'
attempt 'import copy; y = copy.deepcopy(x)'
attempt 'x.share_memory_()'
attempt 'x.zero_()'
attempt 'print(x.untyped_storage()[-1])'
attempt 'y = x.untyped_storage().clone()'
attempt 'y = x.storage().tolist()'
attempt 'draw(x)'
for format in npy raw pt csv json jsonl; do attempt "save(x, 'out.npy', format='$format')"; done
for format in npz safetensors pt; do attempt "save({'a': ones(3), 'b': x}, 'out.npy', format='$format')"; done

# what comes before it in the same file, or was taken out in time, is not lost
"$tsr" -e 'save({"a": ones(100000), "b": ones(100000)}, "ab.safetensors")'
run -e 'import os
x = load("ab.safetensors"); y = x["b"].clone()
f = open("ab.safetensors", "rb"); text = f.read(); f.close()
f = open("ab.safetensors", "r+b"); f.close()
print(x["a"].sum().item(), y.sum().item())'
is 'what was copied' '100000.0 100000.0' "$out"
cat >p.tsr <<'END'
x = load("ab.safetensors")
y = x["b"].clone()
print(input())
try: print(x["b"].sum())
except RuntimeError as e: print("RuntimeError:", e)
print(x["a"].sum().item(), y.sum().item())
END
mkfifo go
run p.tsr <go &
exec 3>go
sleep 0.3
truncate -s 500000 ab.safetensors
echo cut >&3
exec 3>&-
wait
is 'and what comes before' 'cut
RuntimeError: ab.safetensors: the file became shorter while it was mapped
100000.0 100000.0' "$(cat "$work/out")"

# what is read piece by piece
(echo a; seq 2500000) >long.csv
cat >p.tsr <<'END'
n, told = 0, False
try:
    for chunk in stream("long.csv", rows=1000):
        n += len(chunk)
        if not told: print(input())
        told = True
except RuntimeError as e: print(n > 1000000, "RuntimeError:", e)
END
run p.tsr <go &
exec 3>go
sleep 0.3
truncate -s 17000000 long.csv
echo cut >&3
exec 3>&-
wait
is 'read in pieces' 'cut
True RuntimeError: long.csv: the file became shorter while it was read' "$(cat "$work/out")"

# what others wrote to the file since it was read is not written over
printf 'a,b\n1,2\n' >q.csv
run --in-place -e 'x = _; f = open("q.csv", "a"); f.write("3,4\n"); f.close(); x * 2' q.csv
is 'changed since it was read' '1 tsr: q.csv: it was changed by others since it was read' "$status $(head -1 err)"
is 'and left as it is' 'a,b 1,2 3,4' "$(echo $(cat q.csv))"
exit $bad
