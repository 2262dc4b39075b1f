# The recipes of README.md, each as it stands there, over small files of each kind: what they print is in tests/data/recipes.txt.
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/repl/lib.sh"
cd "$work" || exit 1
mkdir bin
ln -s "$tsr" bin/tsr
PATH=$work/bin:$PATH
cat >shops.csv <<'END'
city,day,price,qty
Rome,2024-01-31,2.5,3
Oslo,2024-02-01,3.25,10
"Ho, Chi",2024-01-02,1,7
Rome,2024-03-05,4,1
Bonn,2024-03-05,2.75,
END
gzip -k shops.csv
printf 'city,area\nOslo,454\nRome,1285\nRoma,9\n' >area.csv
for i in 1 2 3 4 5 6 7 8 9 10; do printf '{"user": "u%d", "ms": %d.5, "ok": true}\n' $((i % 3)) $((i * i)); done >log.jsonl
tsr -e 'save(arange(12.).reshape(4, 3) ** 2, "x.npy")
save({"fc.weight": arange(6.).reshape(2, 3) - 4, "fc.bias": ones(2)}, "model.safetensors")
save((arange(4 * 6 * 3) * 3).reshape(4, 6, 3).to(torch.uint8), "photo.png")
save((linspace(0, 1, 100) * 1000).short().reshape(-1, 1), "tone.wav")'
# Lines of the block behind the words "Twenty-four tasks", without what is said of them.
sed -n '/^Twenty-four tasks/,/^Errors/p' "$here/README.md" | sed -n '/^```sh/,/^```/p' | grep -v '^```' | sed 's/  *# .*//' >recipes
is 'as many as are promised' 24 "$(wc -l <recipes | tr -d ' ')"
while IFS= read -r line; do
    echo "\$ $line"
    sh -c "$line" </dev/null 2>&1 || echo "status $?"
done <recipes >printed
tsr -l half.safetensors small.png >>printed
cp printed "${RECIPES_KEEP:-/dev/null}"
cmp -s printed "$here/tests/data/recipes.txt" && ok 'what they print' || { fail 'what they print'; diff "$here/tests/data/recipes.txt" printed; }
exit $bad
