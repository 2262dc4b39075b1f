# many names: what is read grows with them, not with their square
. "$(dirname "$0")/lib.sh"
cat >"$work/many.tsr" <<'X'
import sys, json
n = 100000
d = {f'key{i}': i for i in range(n)}
with open(sys.argv[1] + '/x.json', 'w') as f: f.write(json.dumps(d))
with open(sys.argv[1] + '/x.jsonl', 'w') as f: f.write(json.dumps(d) + '\n' + json.dumps(d) + '\n')
t = {k: ones(1) for k in d}
save(t, sys.argv[1] + '/x.safetensors')
save(t, sys.argv[1] + '/x.npz')
save(t, sys.argv[1] + '/x.pt')
X
timeout 120 "$tsr" "$work/many.tsr" "$work" || fail 'the files are made'
for kind in json jsonl safetensors npz pt; do
    out=$(timeout 30 "$tsr" -e "d = load('$work/x.$kind'); print(len(list(d)), float(d['key77777'].max()) in (1, 77777))" 2>&1)
    is "100,000 names in .$kind are read" '100000 True' "$out"
    timeout 30 "$tsr" -l "$work/x.$kind" >"$work/out" 2>&1
    is "100,000 names in .$kind are listed" 0 $?
done
run -e 'def f(**k): return len(k)
print(f(**{f"k{i}": i for i in range(100000)}), len(dict(**{f"k{i}": i for i in range(100000)})))'
is '100,000 keywords' '100000 100000' "$out"
awk 'BEGIN { for (r = 0; r < 2; r++) { for (i = 0; i < 20000; i++) printf "%s%s", i ? "," : "", "a"; print "" } }' >"$work/equal.csv"
run -e '(*list(_)[-1:], len(_))' "$work/equal.csv"; is '20,000 columns of one name' "('a.19999', 1)" "$out"
exit $bad
