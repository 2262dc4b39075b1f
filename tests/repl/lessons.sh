# Lessons: the list, each one's answers and checks, what a learner's right and wrong statements lead to, progress, lessons of one's own.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
XDG_STATE_HOME=$work/state TSR_HISTORY=
export XDG_STATE_HOME TSR_HISTORY

run --lesson </dev/null
is 'the list of lessons' "0  1  Tensors, and how they print" "$status$(printf '%s\n' "$out" | head -1)"
n=1
while run --lesson $n </dev/null && [ $status != 2 ]; do
    is "lesson $n: its answers fulfil their checks" 0 $status
    n=$((n + 1))
done
is 'a lesson builds on earlier ones' '' "$(cd "$root/lessons" && for f in [0-9]*.md; do
    sed -n 's/.*It builds on lessons* \([0-9]*\)\( and \([0-9]*\)\)*\.$/\1 \3/p' "$f" | awk -v n="${f%%-*}" -v f="$f" '{for (i = 1; i <= NF; i++) if ($i >= n + 0) print f}'
done)"
is 'and all but the first say on which' 23 "$(grep -l 'It builds on lesson' "$root"/lessons/[0-9]*.md | wc -l)"
is 'fifteen lessons or more' yes "$([ $n -gt 15 ] && echo yes)"
run -e 'lesson(99)'; is 'none of a greater number' 'ValueError: there is no lesson 99 (they are 1 to 24)' "$(last)"
for document in TH MaybeOwned TensorFlow Tensor Unification; do
    run --lesson --document $document </dev/null
    is "document $document: its answers fulfil their checks" "0 Document $document:" "$status $(printf '%s\n' "$out" | head -1 | cut -d' ' -f1-2)"
done
is 'a document by its name in small letters' 0 "$(run --lesson --document th </dev/null; echo $status)"
is 'no such document' "2 tsr: there is no document 'x' (they are TH, MaybeOwned, TensorFlow, Tensor and Unification)" "$(run --lesson --document x; echo "$status $err")"
is '--document needs --lesson' 2 "$(run --document TH; echo $status)"
is 'the list names them' yes "$(run --lesson </dev/null; printf '%s\n' "$out" | grep -q '^     Unification ' && echo yes)"
run -e 'lesson("maybeowned")' </dev/null
is 'a document by lesson()' 'Document MaybeOwned: Owned or borrowed' "$(printf '%s\n' "$out" | head -1)"
is 'no lesson 0' 2 "$(run --lesson 0; echo $status)"
is 'no such number' 2 "$(run --lesson x; echo $status)"

timeout 500 "$tsr" --lesson --check >"$work/out" 2>&1
status=$? out=$(cat "$work/out")
is 'every step accepts its right answers and refuses its wrong ones' "0 0 faults" "$status $(printf '%s\n' "$out" | sed -n '$s/.*, //p')"
is 'every step lists wrong answers' yes "$([ "$(printf '%s\n' "$out" | sed -n '$s/.*steps, \([0-9]*\) .*/\1/p')" -gt 800 ] && echo yes)"

# ---- lessons of one's own: what --check finds ----
mkdir "$work/course"
cat >"$work/course/1.md" <<'END'
# A lesson

Words.

## A step
```
>>> x = arange(3)
```
<!-- try: Make y twice x. -->
<!-- check: y.tolist() == [0, 2, 4] -->
<!-- hint: `x * 2` -->
<!-- wrong: y = x -->
<!-- right: y = x + x -->
```
>>> y = x * 2
```
END
sed 's/^>>> y = x . 2/&\n>>> y[0]\ntensor(7)/' "$work/course/1.md" >"$work/print.md"
run --lesson --check "$work/print.md"; is 'transcripts are compared' '1 print: its transcripts print something else (see the diff above)' "$status $(echo "$out" | grep '^[^ ]*print: ' | sed 's,^[^ ]*/,,')"
printf '# T\n\n## S\n```\n>>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: division by zero\n>>> x = 1\n```\n<!-- try: a -->\n<!-- check: x == 2 -->\n<!-- hint: a -->\n<!-- wrong: x += 2 -->\n```\n>>> x += 1\n```\n\n## Next\n<!-- try: b -->\n<!-- check: x == 3 -->\n<!-- hint: b -->\n<!-- wrong: x += 2 -->\n```\n>>> x += 1\n```\n' >"$work/past.md"
run --lesson --check "$work/past.md"; is 'what stands behind an error that is shown runs' '0 1 lesson, 2 steps, 4 pieces of code checked, 0 faults' "$status $out"
run --lesson --check "$work/course"; is 'a folder is checked' '0 1 lesson, 1 step, 4 pieces of code checked, 0 faults' "$status $out"
printf 'words\n' >"$work/bare.md"
run --lesson --check "$work/bare.md"
is 'a file that is no lesson has faults' '1 bare: its first line is no title: # Title
bare: it has no step, which begins with ## Heading
1 lesson, 0 steps, 0 pieces of code checked, 2 faults' "$status $(printf '%s\n' "$out" | sed 's|^[^ ]*/bare|bare|')"
printf '# T\n\n## S\n<!-- try: a -->\n<!-- check: x = 1 -->\n<!-- hint: a -->\n<!-- wrong: y = 1 -->\n```\n>>> x = 1\n```\n' >"$work/assigns.md"
run --lesson --check "$work/assigns.md"
is 'a check that is no expression is one' 'step 1 (S): a check is no expression: x = 1 (invalid syntax)' "$(printf '%s\n' "$out" | sed -n 's/.*assigns, //p' | head -1)"
run --lesson "$work/course/1.md" </dev/null; is 'a file is printed' '0 >>> y = x * 2' "$status $(printf '%s\n' "$out" | tail -1)"
run --lesson "$work/course" </dev/null; is 'a folder is listed' '0   1  A lesson' "$status $(printf '%s\n' "$out" | head -1)"
# fault NAME FROM TO WANTED: the lesson with one line changed
fault() {
    sed "s/$2/$3/" "$work/course/1.md" >"$work/one.md"
    run --lesson --check "$work/one.md"
    case "$status $out" in "1 "*"$4"*) ok "$1" ;; *) fail "$1" && printf '%s\n' "$out" ;; esac
}
fault 'a wrong answer that is accepted' 'wrong: y = x' 'wrong: y = x * 2' 'a wrong answer is accepted: y = x * 2'
fault 'a right answer that is refused' 'right: y = x + x' 'right: y = x + 1' 'a right answer is refused: y = x + 1 (y.tolist() is [1, 2, 3], not [0, 2, 4])'
fault 'an answer that is refused' '>>> y = x \* 2' '>>> y = x * 3' 'the answer is refused'
fault 'a check that holds before anything is done' 'check: .* -->' 'check: x.numel() == 3 -->' 'its check holds before anything is done'
fault 'a hint whose code fails' 'hint: .x' 'hint: `z' 'code in a hint fails: z * 2'
fault 'no wrong answer' '<!-- wrong.*' '' 'it lists no wrong answer'
fault 'a key that is none' 'hint:' 'hunt:' 'a comment has an unknown key: hunt'
fault 'no check' '<!-- check.*' '' 'the task has no check'
fault 'a name that is a word of the learner' '>>> y = x \* 2' '>>> back = y = x * 2' 'a word that learners need is a name from here on: back'

# the template of the manual
sed -n '/^\.\\" template/,/^\.\\" end/p' "$root/man/tsr-lessons.7" | sed '/^\./d; s/\\-/-/g; s/\\&//g; s/\\(ga/`/g; s/\\(aq/'"'"'/g; s/\\e/\\/g; s/^    //' >"$work/template.md"
run --lesson --check "$work/template.md"; is 'the template in the manual judges rightly' 0 "$status"
is 'and has a task' yes "$(grep -q '<!-- try' "$work/template.md" && echo yes)"
run --doctest "$work/template.md"; is 'its transcripts are right' 0 "$status"

is '--check needs --lesson' 2 "$(run --check; echo $status)"
is 'a folder without lessons' 2 "$(mkdir "$work/empty"; run --lesson "$work/empty"; echo $status)"

# ---- with a learner ----
command -v script >/dev/null || exit $bad
# take LESSON LINES...: $work/out is what the terminal shows
take() {
    lesson=$1
    shift
    (sleep 0.3; printf '%s\n' "$@"; sleep 0.7) | TERM=dumb timeout 30 script -qec "$tsr --lesson $lesson" /dev/null 2>&1 | tr -d '\r' >"$work/out"
}
has() { if grep -qF -- "$2" "$work/out"; then ok "$1"; else fail "$1" && tail -30 "$work/out"; fi; }
shown() { is "$1" "$2" "$(grep -cF -- "$3" "$work/out")"; }

take 1 '5' 'hint' '>>> x = torch.arange(12).reshape(3, 4)' 'h = torch.arange(3) + 0.5' 'quit'
shown 'answers checked by what they did' 2 'Right.'
has 'a hint' 'First make all twelve numbers in a row'
is 'progress kept' '01-tensors 1 d 0 1 01-tensors 2 d 0 0' "$(tr '\n' ' ' <"$XDG_STATE_HOME/tsr/lessons" | sed 's/ $//')"
take 1 'x.sum(1)' 'y = x[:2].float()' 'y.nbytes'
has 'gone on where it was left' 'It goes on here.'
is 'the prompt follows' yes "$(grep -q 'That was lesson 1' "$work/out" && echo yes)"
run --lesson </dev/null
is 'marked' done "$(printf '%s\n' "$out" | head -1 | awk '{print $NF}')"
run --lesson 1 --report "$work/report.csv" </dev/null
is 'the report' '01-tensors,1,"Making one",done,0,1' "$(sed -n 2p "$work/report.csv")"

take 6 't = tensor([[1, 2, 3, 4], [2, 4, 6, 8], [3, 6, 9, 12]])' 't = arange(1, 4)[:, None] * arange(1, 5)' 'quit'
has 'a result that was typed in is none' "Not yet: inspect(t)[\"origin\"] is 'tensor()': t was typed in."
shown 'and one that was computed is' 1 'Right.'

# lesson 8, step 1: three ways that made it unsolvable
take 8 'x' 'x._version' 'inspect(x)' 'x?' 'x = x * 10' 'x.mul_(2)' 'x._version' 'x.mul_(10)' 'quit'
shown 'looking is no attempt, and each attempt has its reason' 2 'Not yet'
has 'the comparison that failed' 'Not yet: x._version is 0, not 2: that is a new tensor'
has 'what spoils a step is undone' 'That is undone: all is as it was before.'
shown 'and the step is still solvable' 1 'Right.'
take 8 'x = x + 1' 'x += 1' 'old = x; x = x * 2' 'old = x' 'x += 1' 'versions(x)' 'x.fill_(4)' 'x = torch.full((3,), 4.)' 'x.data.fill_(4)' 'quit'
shown 'lesson 8 after wrong attempts' 3 'Right.'
rm -rf "$XDG_STATE_HOME"
take 9 'p = x.unfold(0, 2, 1)' 'q = x[2:4]' 'x.add_(1)' 'x = arange(3)' 'x[1:] += 1' 'x[1:].add_(x[:-1].clone())'
shown 'lesson 9 after wrong attempts' 3 'Right.'
take 10 'x' 'z = [x, x]' 'a = x[:]' 'z = x' 'quit'
shown 'what was shown last is no third reference' 1 'Right.'
has 'counts' 'Not yet: refcount(x) is 4, not 3'
shown 'lesson 10 after a wrong attempt' 1 'Right.'

take 11 'p = 3' 'o = x' 'quit'
has 'of a name that is missing nothing more is said' "Not yet: name 'o' is not defined. ?"
has 'of a wrong value its words are' 'o is the tensor itself, not a MaybeOwned'

# handles freed, statements that end the program, an error, several statements, again and back
take 12 'TH.free(h); TH.free(h)' 'TH.free(h)' 'k = TH.newWithSize([4])' 'TH.free(k)' 'quit'
shown 'handles are whole again after a wrong attempt' 2 'Right.'
take 4 'import os; os._exit(3)' 'f = x.view(6)' 'back' 'f = x.view(6)' 'y.view(5)' 'again' 'g = x.view(6)' 'g = y.reshape(6)' 'quit'
shown 'going back and again' 3 'Right.'
take 3 'a[1, 2] = 5' 'other = a[1]' 'col = a[:, 0]' 'v = a[1]' 'c = row.clone()' 'c[0] = 100' 'del col' 'del v' 'quit'
has 'what was left over is not in the way' 'The names are as the lesson leaves them'
shown 'so that each step can be taken' 5 'Right.'

# where something is to be shown
take 2 'x.stride(0) + x' 'x' 'x.size()' 'n = x.stride(0)' 'x.stride(1)' 'x.stride( )' 'n' 'quit'
shown 'looking at what has another type than the answer is no attempt' 3 'Not yet'
has 'an assignment shows nothing' 'Not yet: nothing was shown'
has 'what was shown, not what it should be' 'Not yet: what was shown is 1.'
shown 'what the step lists as wrong is an attempt' 1 'what was shown is of type tuple: (3, 1): show one number, the stride'
rm -rf "$XDG_STATE_HOME"
take 2 'print(x.stride(1))' 'print(x.stride(0))' 'y = x.t(); print(y)' 'print(y.stride(0) * 2 + 3)' 'quit'
has 'what print() wrote was shown' 'Not yet: what was shown is 1.'
shown 'and is an answer' 3 'Right.'
rm -rf "$XDG_STATE_HOME"

# a ladder of hints ends with the answer
take 2 '?' '?' '?' '?' 'quit'
has 'the last rung' 'An answer:'
has 'the rung before it' '(? once more shows the answer)'

# the learner's own names are untouched, and the lesson does not see them
(sleep 0.3; printf '%s\n' 'x = "mine"' 'h = TH.new()' '%lesson 11' 'o' 'o = owned(x)' 'quit' 'x' 'leaks()'; sleep 0.7) |
    TERM=dumb timeout 30 script -qec "$tsr" /dev/null 2>&1 | tr -d '\r' >"$work/out"
shown 'taken from the prompt' 1 'Right.'
is 'its names are gone, and those from before are there' "'mine'" "$(grep -F "'mine'" "$work/out" | tail -1 | sed 's/^>>> //')"

# a translation has the code of what it translates: transcripts, checks, right and wrong answers
code() { sed -n -e '/^>>>/p' -e '/^\.\.\. /p' -e '/^<!-- \(check\|right\|wrong\):/s/ # .*-->/ -->/p' "$1"; }
lessons=$(cd "$(dirname "$0")/../../lessons" && pwd)
for translated in "$lessons"/de/0*.md; do
    original=$lessons/${translated##*/}
    is "de/${translated##*/} has the code of the original" '' "$(code "$original" >"$work/a"; code "$translated" >"$work/b"; diff "$work/a" "$work/b")"
done
is 'the translation is checked' 0 "$(timeout 60 "$tsr" --lesson --check "$lessons/de" >"$work/out" 2>&1; echo $?)"
take "$lessons/de/01-tensors.md" 'x = arange(12)' '?' 'x = x.view(3, 4)' 'quit'
has 'and taken' 'Stelle erst alle zwölf Zahlen in einer Reihe her'
shown 'and judged' 1 'Right.'

# a lesson of one's own
take "$work/course/1.md" 'y = x' 'y = x + 1' 'y = x * 2'
has 'a file is taken' 'Not yet: y.tolist() is [0, 1, 2], not [0, 2, 4]'
shown 'and its answer is right' 1 'Right.'
exit $bad
