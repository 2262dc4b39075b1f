# Pictures in files and on other terminals: SVG and PNG, ASCII where the locale lacks Unicode, colours where they are asked for.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
is 'pictures of the documentation are what the program draws' '' "$(cd "$root" && scripts/pictures --check "$tsr" README.md man/*.[157] lessons/*.md lessons/documents/*.md lessons/de/0*.md)"
cd "$work" || exit 1
run -e 'hist(arange(10), file="h.png"); plot(arange(5), file="p.svg"); heatmap(eye(4), file="m.png"); imshow(eye(4), file="i.svg"); tsr.scatter(arange(3), arange(3), file="s.png")'
is 'files' '0 ' "$status $err"
is 'a picture of axes' 'torch.Size([800, 1280, 3])' "$("$tsr" -e 'print(load("h.png").shape)')"
is 'that is not empty' 'True' "$("$tsr" -e 'print(load("h.png").float().std().item() > 10)')"
is 'cells' '[[253, 231, 37], [68, 1, 84]]' "$("$tsr" -e 'print(load("m.png")[0, [0, 200]].tolist())')"
is 'cells as SVG' 16 "$(grep -c '<rect' i.svg)"
is 'lines as SVG' 1 "$(grep -c '<svg' p.svg)"
is 'what can not be seen is told' 1 "$(grep -c '<desc' p.svg)"
run --sandbox -e 'hist(arange(10), file="x.png")'; is 'not in the sandbox' 'PermissionError: x.png: no file may be written in the sandbox' "$(last)"
run --sandbox -e 'heatmap(eye(2), file="x.svg")'; is 'nor as cells' 1 "$(last | grep -c '^PermissionError: ')"
is 'colours' 1 "$("$tsr" --color always -e 'heatmap(eye(2))' | grep -c '38;2;253;231;37')"
is 'none' 0 "$("$tsr" --color never -e 'heatmap(eye(2))' | grep -c "$(printf '\033')")"
is 'bars in colour' 1 "$("$tsr" --color always -e 'hist([1], bins=1)' | grep -c "$(printf '\033')")"
ascii() { script -qec "LC_ALL=C NO_COLOR=1 '$tsr' -e '$1'" /dev/null </dev/null | tr -d '\r'; }
if command -v script >/dev/null; then
    is 'ASCII of dots' 0 "$(ascii 'plot([1, 3, 2])' | LC_ALL=C grep -c '[^ -~]')"
    is 'ASCII of bars' '1 .. 2  ############################################################### 1' "$(ascii 'hist([1, 2], bins=1, range=(1, 2))' | sed 's/#* 2$/############################################################### 1/')"
    is 'ASCII of lines' '_.#' "$(ascii 'spark([0, 0.2, 1])' | tr -d ' ')"
fi
exit $bad
