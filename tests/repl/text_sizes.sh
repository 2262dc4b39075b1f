# A text that can't fit is refused before memory is taken for it: what a program held at most is little more than what it was made from.
. "$(dirname "$0")/lib.sh"
[ -r /proc/self/status ] || { echo "# no /proc/self/status: not tried"; exit 0; }
refused() {
    name=$1 source=$2
    run --max-memory 1G --max-time 20 -e 'x = "a" * 20000000; t = (x,) * 100; d = {i: x for i in range(100)}
try:
    '"$source"'
    print("made")
except MemoryError:
    peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
    print("refused", int(peak.split()[1]) < 200000)'
    is "$name" 'refused True' "$out"
}
refused 'replace' 'x.replace("a", "b" * 100)'
refused 'expandtabs' '("\t" * 1000000).expandtabs(10000)'
refused 'translate' 'x.translate({97: "b" * 100})'
refused 'translate to texts of other sizes' '("ab" * 5000000).translate({97: None, 98: "é" * 300})'
refused 'join' '"".join(t)'
refused 'repr of a list' 'repr([x] * 100)'
refused 'repr of a tuple' 'repr(t)'
refused 'str of a dict' 'str(d)'
refused 'repr of a set' 'repr({str(i) + x for i in range(3)} | {t})'
refused 'repr of lists in lists' 'repr([[[x] * 10] * 10])'
refused 'a list many times over' 'l = [1]
    for i in range(30): l = [l, l]
    repr([l, t])'
refused 'print of a list' 'print([x] * 100)'
refused 'a formatted list' 'f"{t}"'
refused 'format' '("{}" * 100).format(*t)'
refused 'format by name and number' '("{y}{0}{}" * 50 + "{0:>30000000}" * 50).replace("{}", "").format(x, y=x)'
refused 'format of widths' '("{:100000000}" * 30).format(*range(30))'
refused '%' '("%s" * 100) % t'
refused '% of widths' '("%100000000d" * 100) % ((1,) * 100)'
refused 'an item many times' 't * 10**9'
run --max-memory 1G -e 'l = []; l.append(l); d = {}; d[1] = d
len(repr([l] * 100000)), repr(d), repr((l, l)), "{} {}".format(l, [d])'
is 'what holds itself is short' "(900000, '{1: {...}}', '([[...]], [[...]])', '[[...]] [{1: {...}}]')" "$out"
exit $bad
