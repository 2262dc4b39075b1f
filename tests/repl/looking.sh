# How values are looked at: %mode, and browse() in a terminal.
. "$(dirname "$0")/lib.sh"
modes() { printf '%s\n' "$@" | TSR_HISTORY= "$tsr" -i 2>&1 | sed 's/^\(>>> \)*//'; }
is 'a box' '┌───┬───┬───┐
│ 0 │ 1 │ 2 │
│ 3 │ 4 │ 5 │
└───┴───┴───┘' "$(modes '%mode box' 'arange(6).reshape(2, 3)')"
is 'a box with names' '┌───┬──────┐
│ a │ b    │
├───┼──────┤
│ 1 │ Rome │
│ 2 │      │
└───┴──────┘' "$(modes '%mode box' 'tsr.table({"a": tensor([1, 2]), "b": tsr.Column(["Rome", None])})')"
is 'rows and columns of three dimensions' '[0]
0  1
2  3

[1]
4  5
6  7' "$(modes '%mode grid' 'arange(8).reshape(2, 2, 2)')"
is 'csv' '0,1
2,3' "$(modes '%mode csv' 'arange(4).reshape(2, 2)')"
is 'markdown' '| a |
| ---: |
| 1 |' "$(modes '%mode markdown' 'tsr.table({"a": tensor([1])})')"
is 'json' '[1, 2]' "$(modes '%mode json' 'tensor([1, 2])')"
is 'what has no such form' "tensor(3)
'a'
tensor([1.+2.j])
tensor([])" "$(modes '%mode box' 'tensor(3)' '"a"' 'tensor([1 + 2j])' 'zeros(0)')"
is 'which it is, and back' 'grid
tensor([1, 2])' "$(modes '%mode grid' '%mode' '%mode torch' 'tensor([1, 2])')"
is 'none of them' "    hint: torch, grid, box, markdown, csv and json are those there are
ValueError: there is no mode 'x'" "$(modes '%mode x' 2>&1 | tail -2)"
run -e 'browse(eye(3))' </dev/null; is 'no terminal' 'RuntimeError: browse() needs a terminal for input and output' "$(last)"
run -e 'browse("x")'; is 'no tensor' 'TypeError: browse() of a tensor or a table, not of str' "$(last)"
run -e 'browse(zeros(0, 3))'; is 'nothing' 'ValueError: browse() of a tensor without elements' "$(last)"
if ! command -v python3 >/dev/null 2>&1; then echo 'ok browse (skipped: no python3)'; exit $bad; fi
is 'keys' "$(cat "$(dirname "$0")/browse.txt")" "$(timeout 100 python3 "$(dirname "$0")/browse.py" "$tsr")"
exit $bad
