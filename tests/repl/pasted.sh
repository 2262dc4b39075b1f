# Pasted pages: of docstrings and Markdown what has a prompt runs; explain's verdicts in colour, lines broken at words; %clear.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || { ok 'at a terminal (skipped: there is no script)'; exit $bad; }
escape=$(printf '\033')
cat >"$work/page" <<'END2'
Some prose: it doesn't run.

```
>>> w = ones(3)
>>> w.sum()
tensor(3.)
```
More of it.
>>> def f(a):
...     return a + 1
...
>>> f(w)
END2
cat >"$work/docstring" <<'END2'
"""Docs.

    >>> v = ones(4)
    >>> v.sum()
    tensor(4.)
"""
END2
cat >"$work/program" <<'END2'
def g(a):
    """Docs.

    >>> g(1)
    3
    """
    return a * 2

END2
# paste FILE LINES...: with the brackets of a terminal's paste
paste() {
    file=$1
    shift
    (sleep 0.7; printf '\033[200~'; cat "$work/$file"; printf '\033[201~\n'; sleep 0.3; printf '%s\n' "$@"; sleep 0.5) |
        TERM=xterm timeout 20 script -qec "$tsr --no-color" /dev/null 2>&1 | tr -d '\r' >"$work/out"
}
has() { if grep -qF -- "$2" "$work/out"; then ok "$1"; else fail "$1" && tail -20 "$work/out"; fi; }
hasnt() { if grep -qF -- "$2" "$work/out"; then fail "$1" && tail -20 "$work/out"; else ok "$1"; fi; }
"$tsr" -e '0' >/dev/null
paste page 'w.tolist() * 2'
has 'the statements of a page run' '[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]'
has 'values are shown' 'tensor([2., 2., 2.])'
hasnt 'prose does not' 'SyntaxError'
paste docstring 'v.tolist() * 2'
has 'those of a docstring too' '[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]'
paste program 'g(21)'
has 'a program with one is a program' '42'
hasnt 'whose examples do not run' 'NameError'

# shown WIDTH LINES...: in a window of this width, with colours
shown() {
    width=$1
    shift
    (sleep 0.7; printf '%s\n' "$@"; sleep 0.5) |
        TERM=dumb timeout 20 script -qec "stty cols $width; env -u NO_COLOR $tsr --color=always" /dev/null 2>&1 | tr -d '\r' >"$work/out"
}
shown 60 'x = arange(6).view(2, 3).t()' 'explain("x.view(6)")' 'explain("x.reshape(6)")' 'explain("x.t()")' '%clear'
has 'a refusal is red' "$escape[31mx.view(6): refused$escape[0m"
has 'a copy is yellow' "$escape[33mx.reshape(6): a copy of x: 48 bytes$escape[0m"
has 'a view is green' "$escape[32mx.t(): a view of x"
is 'no line of it is wider than the window' '' "$(sed "s/$escape\\[[0-9;]*[A-Za-z]//g; /^>>>/d" "$work/out" | awk 'length > 60')"
has 'words are whole' "    size[1] * stride[1], but 1 != 2 * 3 (strides (1, 3))"
has '%clear' "$escape[H$escape[2J"
shown 200 'x = arange(6).view(2, 3).t()' 'explain("x.view(6)")'
has 'a wide window has long lines' "that needs stride[0] == size[1] * stride[1], but 1 != 2 * 3 (strides (1, 3))"
run -e 'explain("ones(2, 3).t().view(6)")'
is 'none is broken elsewhere' 1 "$(printf '%s\n' "$out" | grep -c 'that needs stride.*strides (1, 3))$')"
exit $bad
