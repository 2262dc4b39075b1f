# The prompt on a terminal: what Tab completes, what ? and ?? show, statements over several lines.
. "$(dirname "$0")/lib.sh"
if ! command -v script >/dev/null 2>&1; then echo 'ok the prompt (skipped: no script)'; exit 0; fi
typed() { (sleep 0.7; for line; do printf '%b' "$line\r"; sleep 0.2; done; sleep 0.5) | TSR_HISTORY= TERM=xterm timeout 20 script -qec "$tsr --no-color" /dev/null 2>&1 | tr -d '\r' | sed 's/.\[?2004[hl]//g'; }
has() { case $3 in *"$2"*) ok "$1" ;; *) fail "$1"; printf '    %s is not in: %s\n' "$2" "$3" ;; esac; }
shown=$(typed 'x = "abc".uppe\t()' 'x + "!"' 'arange(6).argso\t(descending=True).toli\t()' '%hel\t' 'torch.zer\t')
has 'a method of a quoted text' "'ABC!'" "$shown"
has 'methods of what a call gives' '[5, 4, 3, 2, 1, 0]' "$shown"
has 'a magic' '%timeit ' "$shown"
has 'several are listed at once' 'torch.zeros_like' "$shown"
shown=$(typed 'ones(2, 3).sum(dim=0, keepd\tTrue).shape' 'softmax(zeros(4), dim\t0)[0].it\t()' 'def g(size, *, wide=2): return wide * size' '' 'g(5, wid\t7)' 'g(6, \t\025' 'sum([1, 4], start\t250)')
has 'an argument of a method, by its name' 'torch.Size([1, 3])' "$shown"
has 'of a function' '0.25' "$shown"
has 'of a function of the user' '
35' "$shown"
has 'all of them, where nothing is typed yet' 'size=  wide=' "$shown"
has 'of a builtin' '255' "$shown"
shown=$(typed "d = {'layer.0 weight': 41, 'bias': 2, 7: 8}" "d['la\t] + 1" 'd[\t\025' 'd["b\t] + 40' 'from torch.nn import func\t as fn' 'fn.relu(tensor(-3))' 'sorted([1], it\t')
has 'a key of a dict' '
42' "$shown"
has 'all keys' "'bias'            'layer.0 weight'  7" "$shown"
has 'in double quotes' "d[\"bias\"] + 40" "$shown"
has 'a name in a module' '
tensor(0)' "$shown"
case $shown in *iterable=*) fail 'an argument without a name is none' ;; *) ok 'an argument without a name is none' ;; esac
shown=$(typed 'import torch.m\t\025' 'import ts\t\025')
case $shown in *._*) fail 'no module that begins with _' ;; *masked*) ok 'no module that begins with _' ;; *) fail 'modules'; printf '%s\n' "$shown" ;; esac
shown=$(typed '@lambda f: f' 'def twice(x):' 'return 2 * x' '' 'twice??' 'arange??' 'class A: pass' '7')
has 'name?? of a function' '>>> twice??
twice(x)
@lambda f: f
def twice(x):
    return 2 * x' "$shown"
has 'name?? of an operator' 'torch.arange(end' "$shown"
has 'a class on one line is refused at once' "part of tsr's language
>>> 7" "$shown"
shown=$(typed 'for i in (6, 7):' '\tprint(i * 2)' '')
has 'Tab indents an empty line' '
12
14' "$shown"
shown=$(typed 'x = 5' '\022x =\003' '40 + 2')
has 'Ctrl-C leaves a search' '
42' "$shown"
shown=$(typed 'x = 5' '\033[200~y = 1' '\003' '\003' '\003' '\003' '\003' 'x * 8 + 2')
has 'and a paste whose end is missing' '
42' "$shown"
for signal in TERM HUP QUIT; do
    shown=$( (sleep 0.7; printf 'kept_%s = 41 + 1\r' $signal; sleep 1) | TSR_HISTORY="$work/history" TERM=xterm timeout 20 script -qec "timeout --foreground -s $signal 1.5 $tsr; stty -a" /dev/null 2>&1)
    case $shown in *-icanon*|*-echo\ *) fail "SIG$signal leaves the terminal as it was" ;; *) ok "SIG$signal leaves the terminal as it was" ;; esac
    has 'and keeps the history' "kept_$signal" "$(cat "$work/history")"
done
home=$work/home
mkdir -p "$home" && printf '#1700000000\nold = 6\n' >"$home/.tsr_history"
shown=$( (sleep 0.7; printf '\033[A\r'; sleep 0.3; printf 'old * 7\r'; sleep 0.3; printf '\004'; sleep 0.3) | env -u TSR_HISTORY -u XDG_STATE_HOME HOME="$home" TERM=xterm timeout 20 script -qec "$tsr --no-color" /dev/null 2>&1)
has 'the history of before is taken over' 42 "$shown"
is 'into the folder for state' 'old * 7 -rw------- no' "$(tail -1 "$home/.local/state/tsr/history") $(ls -l "$home/.local/state/tsr/history" | cut -c 1-10) $([ -e "$home/.tsr_history" ] || echo no)"
shown=$( (sleep 2.5) | TSR_HISTORY= TERM=xterm timeout 20 script -qec "$tsr --max-time 1; echo status \$?; stty -a" /dev/null 2>&1)
has 'the time limit ends the prompt' 'TimeoutError: the time limit was reached' "$shown"
has 'with 1' 'status 1' "$shown"
case $shown in *-icanon*) fail 'and leaves the terminal as it was' ;; *) ok 'and leaves the terminal as it was' ;; esac
shown=$(typed '\033[200~>>> def twice(x):\r...     return 2 * x\r...\r>>> twice(21)\r40\r>>> 1 / 0\rTraceback\r>>> %holders ones(1)\033[201~' 'twice(4)')
has 'a session is pasted without its prompts and answers' '
42' "$shown"
has 'and goes on behind an error' 'division by zero
[]' "$shown"
has 'and its functions stay' '
8' "$shown"
shown=$(typed '>>> def twice(x):' '...     return 2 * x' '...' '>>> twice(21)')
has 'or line by line' '
42' "$shown"
shown=$(typed "\\033[200~In [1]: def twice(x):\\r   ...:     return 2 * x\\r   ...: \\r\\rIn [12]: twice(3)\\rOut[12]: 6\\r\\rIn [13]: twice('ab')\\rOut[13]: 'abab'\\r\\rIn [14]:\\033[201~")
has "a session of IPython's" "
6
'abab'" "$shown"
shown=$(typed '\033[200~%matplotlib inline\rx = 6\r%time x * 7\ry = """\r%time 3\r"""\ry\033[201~')
has 'a magic is a line by itself: unknown' "no magic '%matplotlib'" "$shown"
has 'in the middle' '
42
wall' "$shown"
has 'but not in a text' "
'\\n%time 3\\n'" "$shown"
shown=$(typed 'help' 'help = 3' 'help')
has 'help alone is help()' 'tell what something is' "$shown"
has 'unless it is a name' '
3' "$shown"
shown=$(typed 'd = {"w": ones(2, 3)}' 'd["w"]?' 'd["w"].t()?' 'y = 3?' '"why?"' '6 * 7 # why?' '%%timeit 3' '??')
has 'a question about a subscript' 'holders           d["w"]
' "$shown"
has 'about what a call gives' 'origin            t() of ' "$shown"
has 'not about a statement' "Maybe you meant '=='" "$shown"
has 'none in a text' "
'why?'" "$shown"
has 'none in a comment' '
42' "$shown"
has "IPython's %%" ' of 7 runs of ' "$shown"
shown=$(typed '%timeit?' '%lesson??')
has 'a question about a magic' '%timeit       runs code many times' "$shown"
has 'and another' '%lesson       a lesson by its number' "$shown"
shown=$(typed '??')
has 'two question marks alone' '%whos         all names' "$shown"
shown=$(typed '%timeit -n 20 -r3 x = 4' '%timeit -n3 -nope' '' '%time nope' '%%time' 'x * 10 + 2' '%pip install x' 'torch.*split_with_size*?' '??nope' 'torch.nosuch*?')
has 'how often code is timed' ' of 3 runs of 20
' "$shown"
has 'the line at the prompt of code that is timed' '  File "<stdin>", line 2
    -nope
     ^^^^
' "$shown"
has 'of code behind a magic' '  File "<stdin>", line 4
    nope' "$shown"
has '%%time has lines below it' '... x * 10 + 2
42
wall' "$shown"
has 'what IPython has' "no magic '%pip': nothing can be installed" "$shown"
has 'names that fit' '    split_with_sizes' "$shown"
has 'a name that is not there' "name 'nope' is not defined" "$shown"
has 'none that fit' "no name fits 'nosuch*'" "$shown"
shown=$(typed '\033[200~%%time\ry = 5\rfor i in range(3):\r    y += 1\r\ry\033[201~')
has '%%time takes what is pasted with it' '
8
wall' "$shown"
cd "$work" || exit 1
mkdir -p folder/inner
ln -s inner folder/link
: >folder/file
shown=$(typed 'x = 3' 'x +' 'def f(a):' 'return a * x' '' 'f(4)' '%history' '%save made.tsr' '%save made.tsr' '%cd folder' '%pwd' '%ls' '%cd ..' '%ls nosuch' '%reset' 'x')
has 'what was typed, by its lines' '   1  x = 3
   2  x +
   3  def f(a):
   4      return a * x
   6  f(4)
' "$shown"
is 'a program of what worked' 'x = 3
def f(a):
    return a * x
f(4)' "$(cat made.tsr)"
has 'no file is written over' "FileExistsError: [Errno 17] File exists: 'made.tsr'" "$shown"
has 'another folder' ">>> %pwd
$PWD/folder
>>> %ls
file
inner/
link/
" "$shown"
has 'none' "FileNotFoundError: [Errno 2] No such file or directory: 'nosuch'" "$shown"
has 'all names are forgotten' '2 names forgotten
' "$shown"
has 'those too' "name 'x' is not defined" "$shown"
typed 'x = zeros(2, 1, 1)' 'def f(a):' 'return a + 1' '' 'f(x)' '1 / 0' '%history' '%save session.md' >/dev/null
is 'a session as a transcript' '# A session

```
>>> x = zeros(2, 1, 1)
>>> def f(a):
...     return a + 1
...
>>> f(x)
tensor([[[1.]],
<BLANKLINE>
        [[1.]]])
>>> 1 / 0
Traceback (most recent call last):
  File "<stdin>", line 6
    1 / 0
    ^^^^^
ZeroDivisionError: division by zero
```' "$(cat session.md)"
is 'which --doctest checks' '4 statements checked, 0 differ' "$("$tsr" --doctest session.md)"
shown=$(typed 'x = arange(4)' 'y = x[1:]' '1 / 0' '%page stepped.html' '%page stepped.html' 'x = 5; x')
has '%page writes no file twice' "FileExistsError: [Errno 17] File exists: 'stepped.html'" "$shown"
is 'the page of a session has what worked, stepped through' '2 1' "$(grep -c '<section' stepped.html) $(grep -c 'x\[1:\]: a view of x' stepped.html)"
has 'and the session goes on' '
5' "$shown"
shown=$( (sleep 0.7; for line in 'x = 3' '%cd /' '%save made_here' '%ls /'; do printf '%s\r' "$line"; sleep 0.2; done; sleep 0.3) | TSR_HISTORY= TERM=xterm timeout 20 script -qec "$tsr --sandbox --no-color" /dev/null 2>&1)
is 'in the sandbox folders are shut' '3' "$(printf '%s' "$shown" | grep -c PermissionError)"
(sleep 0.7; printf 'def f(a):\r    return a * 2\r\r'; sleep 0.5) | TSR_HISTORY=$work/history TERM=xterm timeout 20 script -qec "$tsr" /dev/null >/dev/null 2>&1
(sleep 0.7; printf '\033[A\rf(21)\r'; sleep 0.5) | TSR_HISTORY=$work/history TERM=xterm timeout 20 script -qec "$tsr --no-color" "$work/typescript" >/dev/null 2>&1
has 'the history keeps a statement of several lines in one piece' '42' "$(cat "$work/typescript")"
exit $bad
