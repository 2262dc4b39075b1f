# Names that are no UTF-8 are surrogates in the language, and the same bytes again for the system (PEP 383).
. "$(dirname "$0")/lib.sh"
mkdir "$work/odd"
odd=$(printf 'a\377b.csv')
echo 1,2 >"$work/odd/$odd"
name="'a\\udcffb.csv'"
PLACE=$odd run -e 'import os, sys; print(os.listdir(sys.argv[1]), repr(sys.argv[2]), repr(os.environ["PLACE"]), sep="\n")' "$work/odd" "$odd"
is 'names that are no UTF-8' "[$name]
$name
$name" "$out"
cat >"$work/a.tsr" <<'EOF'
import os, sys
for name in os.listdir(sys.argv[1]):
    path = os.path.join(sys.argv[1], name)
    print(os.path.getsize(path), os.path.isfile(path), open(path).read().strip(), load(path).tolist(), repr(open(path).name[-7:]))
    save(load(path), path + '.npy')
    try:
        open(path + 'x')
    except FileNotFoundError as e:
        print(e.filename == path + 'x', str(e)[-14:])
try:
    open('a\0b')
except ValueError as e:
    print(e)
EOF
run "$work/a.tsr" "$work/odd"
is 'what bears them is opened' "4 True 1,2 [[1.0, 2.0]] $name
True a\\udcffb.csvx'
embedded null byte" "$out"
if [ -f "$work/odd/$odd.npy" ]; then ok 'and written'; else fail 'and written'; fi
exit $bad
