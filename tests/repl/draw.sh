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
is 'an arrow from each name and from each tensor' 4 "$(grep -c 'marker-end' "$work/g.svg")"
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
