# tsr --echo: a file run as if typed: values and errors in order, the lines and names in reports.
. "$(dirname "$0")/lib.sh"
echo_of() { printf '%s\n' "$1" >"$work/e.tsr"; run --echo "$work/e.tsr"; }
echo_of '1
"a"
None
x = 2
x'; is 'values print' "1
'a'
2" "$out"
echo_of 'for i in range(2):
    i
    if i:
        "yes"

try:
    5
finally:
    6
'; is 'inside blocks' "0
1
'yes'
5
6" "$out"
echo_of 'def f():
    1
    return 2

f()'; is 'not inside a def' 2 "$out"
echo_of '3
_ + 1
_'; is 'the last value' '3
4
4' "$out"
echo_of '1
if x
    2

3'; is 'after a syntax error' '1
3' "$out"; is 'its line' '  File "'"$work"'/e.tsr", line 2' "$(head -1 "$work/err")"
echo_of '(1, 2
4'; is 'an open bracket ends with its line' 4 "$out"; is 'and is named' "SyntaxError: '(' was never closed" "$(last)"
echo_of "x = '''a
b'''
x"; is 'a string over lines' "'a\\nb'" "$out"
echo_of 'x = [1,
2]
x'; is 'brackets over lines' '[1, 2]' "$out"
echo_of '%whos'; is 'no magics' 'SyntaxError: invalid syntax' "$(last)"
echo_of 'print(1)
1/0
print(2)'; is 'print and errors' '1
2' "$out"
echo_of 'for i in [1]:
print(i)

if True:
"no"

7'; is 'the line that should be indented is part of the error' 7 "$out"
echo_of 'try:
    1

8'; is 'what follows an empty line is not' 8 "$out"
echo_of '@wrap
def f():
    return 1

class A:
    x = 1

    y = 2
9'; is 'a decorator goes with its def, a class with its body' '9 2' "$out $(grep -cE '^(Name|Syntax)Error' "$work/err")"
echo_of '[1
2
]
10'; is 'brackets close on a later line' 10 "$out"; is 'and the error is theirs' 'SyntaxError: invalid syntax. Perhaps you forgot a comma?' "$(last)"
printf '%s\n' 'import warnings' 'def old():' '    warnings.warn("use new", DeprecationWarning, stacklevel=2)' 'for i in range(2):' '    old()' >"$work/w.tsr"
run "$work/w.tsr"; is 'a warning names the line, once' "$work/w.tsr:5: DeprecationWarning: use new
  old()" "$(cat "$work/err")"
printf '%s\n' 'x = 1' 'from __future__ import division' >"$work/w.tsr"
run "$work/w.tsr"; is 'the future comes first' 'SyntaxError: from __future__ imports must occur at the beginning of the file' "$(tail -1 "$work/err")"
exit $bad
