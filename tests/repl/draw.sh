# Pictures: colour at a terminal, none elsewhere; SVG with names escaped; ASCII where the locale has no more.
. "$(dirname "$0")/lib.sh"

run -e "d = {'<w>': arange(4)}; draw(d['<w>'], file='$work/p.svg')"
is 'SVG' 0 $status
is 'one closing tag for each text' "$(grep -c '<text' "$work/p.svg")" "$(grep -c '</text>' "$work/p.svg")"
is 'names are escaped' 1 "$(grep -c '^<text.*font-weight.*d\[&quot;&lt;w&gt;&quot;\]</text>' "$work/p.svg")"
if command -v xmllint >/dev/null; then
    if xmllint --noout "$work/p.svg"; then ok 'well-formed'; else fail 'well-formed'; fi
fi
run -e "draw(arange(24).view(2, 3, 4), file='$work/n.svg')"
is 'a grid for each slice of the last two dimensions' 2 "$(grep -c ', :, :\]</text>' "$work/n.svg")"
pictures="x = arange(6.).view(2, 3); draw(x, x.t().contiguous(), file='$work/g.svg'); draw('x + x[0]', file='$work/e.svg')"
run -e "$pictures; draw(anatomy(x), file='$work/a.svg')"
for picture in p g e a; do
    svg=$(cat "$work/$picture.svg")
    is "$picture: a title and a description" '1 1' "$(printf '%s' "$svg" | grep -c '<title id="title">.') $(printf '%s' "$svg" | grep -c '<desc id="text">.')"
    is "$picture: light and dark" 1 "$(printf '%s' "$svg" | grep -c 'prefers-color-scheme:dark')"
    if command -v xmllint >/dev/null; then is "$picture: well-formed" 0 "$(xmllint --noout "$work/$picture.svg" 2>/dev/null; echo $?)"; fi
done
is 'an arrow from each name and from each tensor' 4 "$(grep -c 'class="bare line".*marker-end' "$work/g.svg")"
is 'an arrow for each stride, in the colour of its view' '4 2 stride[1] = 1,stride[0] = 3,stride[1] = 1,stride[0] = 2' "$(grep -c 'class="bare e0" .*marker-end' "$work/e.svg") $(
    grep -c 'class="bare e0".*marker-end' "$work/g.svg" | awk '{print $1 / 2}') $(grep -o 'stride\[.*\] = [0-9]*' "$work/g.svg" | paste -sd,)"
run --color=always -e 'x = arange(6).view(2, 3); draw(x, x.t())'
is 'each view has a colour, the grids below have none' 4 "$(printf '%s\n' "$out" | grep -c "$(printf '\033')\[3[1-6]m")"
run -e "x = arange(4000).view(40, 100); draw(x.expand(2, 40, 100), file='$work/l.svg')"
is 'none to what is not shown' 'stride[2] = 1' "$(grep -o 'stride\[.*\] = [0-9]*' "$work/l.svg" | paste -sd,)"

# PNG: the same shapes, twice as large, with letters of its own
for size in width height; do eval "$size=$(sed -n "1s/.* $size=\"\([0-9]*\)\".*/\1/p" "$work/g.svg")"; done
run -e "x = arange(6.).view(2, 3); draw(x, x.t().contiguous(), file='$work/g.png'); i = load('$work/g.png').long(); i.shape == ($height * 2, $width * 2, 3)"
is 'PNG' '0 True' "$status $out"
run -e "i = load('$work/g.png').long(); print(i[0, 0].tolist(), [(i == tensor(c)).all(2).any().item() for c in ([17, 17, 17], [207, 228, 255], [58, 123, 213], [246, 246, 246])])"
is 'its colours' '[255, 255, 255] [True, True, True, True]' "$out"
cat >"$work/letters.tsr" <<'END'
import sys
ROW, TOP, LEFT = 148, 48, 74  # pixels: from one name to the next, of the first letter behind the quotation mark
d = {}
def ink(letters):
    """A picture of each letter, as names of views, one below the other."""
    d.clear()
    cell = zeros(1)
    for letter in letters:
        d[letter] = cell[:]
    draw(*d.values(), zeros(1), file=sys.argv[1])
    page = (load(sys.argv[1]) < 128).long()
    return [page[TOP + ROW * i:TOP + ROW * i + 34, LEFT:LEFT + 18].flatten().tolist() for i in range(len(letters))]
def pictures(letters):
    return [p for i in range(0, len(letters), 7) for p in ink(letters[i:i + 7])]
found = pictures(sys.argv[2])
print(len({tuple(p) for p in found}), min([sum(p) for p in found]) > 0)
END
letters() { run "$work/letters.tsr" "$work/one.png" "$1"; }
letters '!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOP'; is 'letters differ' '46 True' "$out"
letters 'QRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~'; is 'small ones' '45 True' "$out"
letters 'aäoöuüßeéçñøłžΓαβλπΩБЖйя∞≤漢'; is 'those with marks, of other scripts, and the frame of one that is not known' '27 True' "$out"
run -e "draw(arange(3), file='$work/p.gif')"
is 'no other format' "ValueError: draw(): '$work/p.gif' ends in '.gif': a name that ends in .svg or .png is expected" "$(last)"
run --sandbox -e "draw(arange(3), file='$work/q.png')"
is 'no PNG in the sandbox' 'PermissionError: no file may be written in the sandbox' "$(last | sed "s|$work/q.png: ||")"
is 'an arrow for each pointer' 2 "$(grep -c 'marker-end' "$work/a.svg")"
is 'counts of the tensors and of the storages' 4 "$(grep -c '>count [0-9]*</text>' "$work/g.svg")"
run --sandbox -e "draw(arange(3), file='$work/q.svg')"
is 'no file in the sandbox' "PermissionError: $work/q.svg: no file may be written in the sandbox" "$(last)"
run -e 'draw(arange(3))'
is 'no colour in a pipe' 0 "$(printf '%s' "$out" | grep -c "$(printf '\033')")"
LC_ALL=C run -e 'draw(arange(3))'
is 'the same in every locale in a pipe' 1 "$(printf '%s' "$out" | grep -c '┌───┬───┬───┐')"
if command -v script >/dev/null; then
    shown() { (sleep 0.5; printf 'x = arange(3)\ndraw(x)\n'; sleep 0.5) | TERM=xterm timeout 20 script -qec "env -u NO_COLOR $tsr $1" /dev/null 2>&1; }
    is 'colour at a terminal' 1 "$(shown '' | grep -c "$(printf '\033')\[36mx  ")"
    is 'ASCII at a terminal without more' 1 "$(LC_ALL=C shown --no-color | grep -c '^value | 0 | 1 | 2 |')"
    is 'unless it is not wanted' 0 "$(shown --no-color | grep -c "$(printf '\033')\[36m")"
fi
exit $bad
