# FILE:NAME is a part of a file, by the name that -l has for it, for every command.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
"$tsr" -e 'save({"a": arange(3), "b": {"c.d": ones(2), "list": [zeros(1), {"x": arange(2)}]}}, "x.pt"); save({"w": arange(4.), "model.w": ones(2)}, "x.npz"); open("t.csv", "w").write("price,n\n1,2\n3,4\n"); open("w.csv", "w").write("city,n\nRome,2\nOslo,4\n"); open("odd:name.csv", "w").write("1\n")' >out 2>err

run -e '_' x.pt:a; is 'a key' 'tensor([0, 1, 2])' "$out"
run -e '_' x.pt:b.c.d; is 'a key with a dot' 'tensor([1., 1.])' "$out"
run -e '_' 'x.pt:b.list[1].x'; is 'in a list' 'tensor([0, 1])' "$out"
run -e '_' 'x.pt:b.list[-1].x[1]'; is 'an element' 'tensor(1)' "$out"
run -e '_' x.npz:model.w; is 'of an archive' 'tensor([1., 1.])' "$out"
run -e '_' t.csv:price; is 'a column' 'tensor([1., 3.], dtype=torch.float64)' "$out"
run -e '_.words' w.csv:city; is 'a column of words' "['Rome', 'Oslo']" "$out"
run -e 'load("x.pt:b.c.d")'; is 'load()' 'tensor([1., 1.])' "$out"
run -l x.pt:b; is '-l' 'c.d list[0] list[1].x ' "$(echo "$out" | sed '1d;/^total/d' | cut -d' ' -f1 | tr '\n' ' ')"
run --diff x.pt:b.c.d x.npz:model.w; is '--diff' '0 ' "$status $out"
run -e 'w.sum()' w=x.npz:w; is 'NAME=FILE' 'tensor(6.)' "$out"
run --each -e '_.numel()' x.pt:a x.npz:w; is '--each' 'x.pt:a: 3 x.npz:w: 4' "$(echo $out)"
run --sandbox -e '_' x.pt:a; is 'in the sandbox' 'tensor([0, 1, 2])' "$out"
run --sandbox -e 'load("x.npz:w")' x.pt:a; is 'and no other file' 1 "$status"
run -e '_.tolist()' odd:name.csv; is 'a file of that very name comes first' '[[1.0]]' "$out"
run -e '_' x.pt:nothing; is 'no such part' "ValueError: x.pt: it has no part 'nothing'; it begins with one of a, b" "$(last)"
run -e '_' x.pt:a.b; is 'nothing below a tensor' "ValueError: x.pt: it has no part 'a.b'; it begins with one of a, b" "$(last)"
run -e '_' 'x.pt:a[9]'; is 'beyond the end' "ValueError: x.pt: it has no part 'a[9]'; it begins with one of a, b" "$(last)"
run -e '_' none.pt:a; is 'no such file' "FileNotFoundError: [Errno 2] No such file or directory: 'none.pt:a'" "$(last)"
run --in-place -e '_ + 1' x.npz:w; is 'not in place' 'ValueError: x.npz:w: only a whole file can be changed in place, not a part of one' "$(last)"
exit $bad
