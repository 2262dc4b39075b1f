# tsr --doctest: where transcripts are found, what counts as the same, what a difference looks like.
. "$(dirname "$0")/lib.sh"
cat >"$work/a.md" <<'END'
Text.

```python
>>> x = 3
>>> x + 1
4
>>> for i in range(2):
...     i
...
0
1
>>> 1 / 0
Traceback (most recent call last):
  ...
ZeroDivisionError: division by zero
>>> print('a\n\nb')
a
<BLANKLINE>
b
```
END
run --doctest "$work/a.md"; is 'a page that is right' 0 "$status"
sed 's/^4$/5/' "$work/a.md" >"$work/b.md"
run --doctest "$work/b.md"; is 'a page that is wrong' 1 "$status"
is 'the diff' "-5
+4" "$(printf '%s\n' "$out" | grep '^[-+][0-9]')"
printf '.TH X 1\n.nf\n>>> \\-1 + 2\n1\n.fi\n' >"$work/x.1"
run --doctest "$work/x.1"; is 'a man page' 0 "$status"
printf '%s\n' '.TH X 1' .nf '>>> def f():' '\&...     return 5' '\&...' '>>> f()' 5 .fi >"$work/y.1"
run --doctest "$work/y.1"; is 'continued lines behind \&' 0 "$status"
printf '    >>> 1\n    1\n\n    more\n' >"$work/i.txt"
run --doctest "$work/i.txt"; is 'indented' 0 "$status"
run --doctest "$work/none.txt"; is 'a missing file' 1 "$status"
printf '>>> storage_id(zeros(1)), TH.newWithSize((1,)) is None\n(1, False)\n>>> torch.set_printoptions(precision=1)\n>>> tensor(0.123)\ntensor(0.1)\n>>> exit()\n' >"$work/one.txt"
run --doctest "$work/one.txt" "$work/a.md" "$work/one.txt"; is 'of several files none sees what another did' 0 "$status"
is 'what was checked is added up' "$("$tsr" --doctest "$work/a.md" | awk '{ print $1 + 8 }') statements checked, 0 differ" "$out"
printf '>>> while True: pass\n' >"$work/endless.txt"
run --max-time 1 --doctest "$work/endless.txt" "$work/one.txt"; is 'a limit of time holds for all of them' "tsr: $work/endless.txt: the check was broken off" "$(last)"
exit $bad
