#!/bin/sh
# page.sh TSR: --page and %page: the page that steps through a program's memory; in a browser too, where there is one.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
cat >a.tsr <<'END'
x = arange(6).reshape(2, 3)
y = x.t()
y[0, 1] = 100
def f(t):
    u = t[1:]
    return u.clone()
z = f(y)
print("<b>&", z.sum())
del x, y
for i in range(30):
    z = z + 1
END
run --page a.tsr
page=$out
step() { printf '%s' "$page" | tr '\n' '~' | sed "s/.*<section class=\"step\" id=\"s$1\"/<section/; s/<\/section>.*//" | tr '~' '\n'; }
has() { case $3 in *"$2"*) ok "$1" ;; *) fail "$1"; printf '    %s is not in: %s\n' "$2" "$3" ;; esac; }
hasnt() { case $3 in *"$2"*) fail "$1"; printf '    %s is in: %s\n' "$2" "$3" ;; *) ok "$1" ;; esac; }
is 'ends well' '0 ' "$status $err"
has 'a step is a line' 'data-line="1">' "$(step 1)"
has 'what was told' '<li>x.t(): a view of x: the same storage #1, no bytes copied</li>' "$(step 2)"
has 'more about it' '<li class="more">strides (3, 1) became (1, 3), shape (3, 2), offset 0</li>' "$(step 2)"
has 'counts that moved' '>1 → 2 references<' "$(step 2)"
has 'a name is new' 'class="name new"/><text x="10" y="100" class="">y</text>' "$(step 2)"
is 'the cell that was written' 1 "$(step 3 | grep -o 'class="box changed"' | wc -l)"
has 'and its value' 'class="cell bold">100</text>' "$(step 3)"
has 'a call is stepped into' '<code>u = t[1:]</code>' "$(step 6)"
has 'with its locals' '>f.u</text>' "$(step 6)"
has 'what was printed, as text' '<pre class="printed" tabindex="0" aria-label="printed">&lt;b&gt;&amp; tensor(' "$(step 8)"
has 'what was freed' '<li>freed: storage #1 (48 bytes)</li>' "$(step 9)"
hasnt 'its names are gone' '>x</text>' "$(step 9)"
has 'a loop is cut' '<p class="left-out">' "$page"
is 'nothing of the program is markup' 0 "$(printf '%s' "$page" | grep -c '<b>')"
is 'nothing is fetched' 0 "$(printf '%s' "$page" | grep -c -e 'https\?://' -e '<link' -e 'src=')"
has 'the picture in words' '<desc id="d2">x: int64 [2, 3], strides [3, 1], offset 0, in storage #1. y: ' "$page"

printf 's = "x" * 62 + "\303\244" * 100000000\nl = [ones(1) for i in range(100000)]\n' >m.tsr
run --page m.tsr
page=$out
has 'of a long text its beginning' '>s = &#39;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...</text>' "$(step 1)"
has 'of many tensors some' '>and 0 names and at least 1000 tensors more</text>' "$(step 2)"

printf 'x = ones(2)\nx.view(3)\nx + 1\n' >b.tsr
run --page b.tsr
page=$out
is 'an error is the exit status' 1 "$status"
has 'and stands in its step' 'RuntimeError: shape &#39;[3]&#39; is invalid for input of size 2' "$(step 2)"
is 'where it ends' 2 "$(printf '%s' "$page" | grep -c '<section')"
printf 'Some prose.\n\n>>> x = ones(2)\n>>> x.view(3)\nTraceback\n>>> x[0] = 5\n... \n>>> x\n' >c.md
run --page c.md
page=$out
is 'of a transcript all statements run' '0 4' "$status $(printf '%s' "$page" | grep -c '<section')"
has 'prose is text' '<li id="l1" class="prose"><code>Some prose.</code>' "$page"
has 'values are shown' 'tensor([5., 1.])' "$(step 4)"
hasnt 'expected answers are not shown' '<code># Traceback' "$page"
cat >l.md <<'END'
# A title

## A step
Words about `x[0] < 1`, and one ` alone.
```
>>> x = ones(2)
>>> x
tensor([1., 1.])
```
<!-- try: Make y. -->
<!-- check: y.sum() == 4 # a secret -->
<!-- wrong:
y = 3
-->
```
>>> y = x * 2
```
END
run --page l.md
page=$out
is 'a lesson' '0 3' "$status $(printf '%s' "$page" | grep -c '<section')"
has 'goes by its title' '<h1>A title</h1>' "$page"
has 'code in its prose' '<code>Words about <samp>x[0] &lt; 1</samp>, and one ` alone.</code>' "$page"
has 'its headings' 'class="prose head"><code>A step</code>' "$page"
has 'its tasks' 'class="prose"><code>Task: Make y. </code>' "$page"
is 'not its checks and wrong answers' 0 "$(printf '%s' "$page" | grep -c -e secret -e 'y = 3' -e '<code>.*tensor(')"
run --page 4
has 'a lesson of the program' '<h1>Lesson 4: When reshape copies</h1>' "$status $out"
run --page maybeowned; has 'a walk' '<h1>Document MaybeOwned' "$out"
run --page 99; is 'no such lesson' '1 ValueError: there is no file and no lesson 99 (they are 1 to 24)' "$status $(last)"

printf 'i = 0\nwhile True:\n    i += 1\n    x = ones(i %% 5)\n    if i == 200000: break\n' >d.tsr
run --page d.tsr
is 'a long run makes no long page' 'yes 0' "$([ "$(wc -c <out)" -lt 200000 ] && echo yes) $status"
printf 'x = zeros(1000, 1000)\nx[500] += 1\ny = torch.empty(0, 3)\nz = torch.eye(3).to_sparse()\ns = torch.tensor(1.5)\n' >e.tsr
run --page e.tsr; page=$out; is 'large, empty and sparse tensors' '0 5' "$status $(printf '%s' "$page" | grep -c '<section')"
printf 'x = (\n' >g.tsr; run --page g.tsr; is 'a mistake in the syntax' 1 "$status"
: >none.tsr; run --page none.tsr; is 'a program without statements says so' 1 "$(echo "$out" | grep -c 'no statement that could be shown')"
run --page nothing.tsr; is 'no such file' 1 "$status"
run --simulate-cuda --page a.tsr; is 'with a device' 0 "$status"
printf 'x = ones(3, device="cuda")\n' >h.tsr; run --simulate-cuda --page h.tsr; is 'on a device' 0 "$status"

chromium=$(command -v chromium chromium-browser google-chrome | head -1)
[ -n "$chromium" ] || { ok 'in a browser (skipped: there is none)'; exit $bad; }
"$tsr" --page a.tsr >a.html
cat >keys.html <<'END'
<script>
const press = key => dispatchEvent(new KeyboardEvent('keydown', { key }));
const at = () => document.querySelector('.step.now').id;
const seen = [at()];
for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'ArrowRight', 'Home', 'ArrowUp']) { press(key); seen.push(at()); }
document.querySelector('#l3').click(); seen.push(at());
const slider = document.querySelector('input'); slider.value = 4; slider.oninput(); seen.push(at(), location.hash);
document.title = seen.join(' ') + ' ' + document.querySelectorAll('.step.now, .program .now').length;
const [back, next] = document.querySelectorAll('.controls button');
next.focus(); press('End');
document.title += ' ' + document.activeElement.textContent;
back.focus(); press('Home');
document.title += ' ' + document.activeElement.textContent;
</script>
END
cat a.html keys.html >b.html
dom() { timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --dump-dom "file://$work/$1" 2>/dev/null; }
last=$(printf '%s' "$(cat a.html)" | grep -c '<section')
is 'keys, slider, lines and where the keyboard is in a browser' "<title>s1 s2 s3 s2 s$last s$last s1 s1 s3 s4 #s4 2 Back Next</title>" "$(dom b.html | grep -o '<title>.*</title>')"
cat >contrast.html <<'END'
<script>
const light = c => c.match(/[\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const under = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } };
const pairs = [...document.querySelectorAll('h1, p, code, button, output, li, a, pre')].map(e => [getComputedStyle(e).color, under(e)]);
const fill = (e, name) => getComputedStyle(e)[name];
document.querySelectorAll('svg text').forEach(t => (t.matches('.cell') ? ['.changed', '.box'] : ['.name', '.storage', '.tensor']).forEach(box =>
  document.querySelectorAll(box).forEach(r => pairs.push([fill(t, 'fill'), fill(r, 'fill')]))));
const bare = [...document.querySelectorAll('button, input, svg, [tabindex], nav')].filter(e =>
  !(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby'))).length;
document.title = `contrast ${Math.min(...pairs.map(p => ratio(...p))) >= 4.5} of ${pairs.length > 100}, ${bare} without a label, ` +
  `${document.documentElement.scrollWidth <= innerWidth}, ${getComputedStyle(document.body).backgroundColor}`;
</script>
END
cat >visible.html <<'END'
<script>
const visible = [...document.querySelectorAll('.step')].every((step, i, all) => {
  if (i > 0) dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
  const box = document.querySelector('.program').getBoundingClientRect(), line = document.querySelector('.program .now').getBoundingClientRect();
  return line.top >= box.top - 1 && line.bottom <= box.bottom + 1;
});
document.title = `the line is visible: ${visible}`;
</script>
END
"$tsr" --page 3 >l.html
cat l.html visible.html >v.html
is 'the line of a step is in sight, in a narrow window too' '<title>the line is visible: true' "$(timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --window-size=420,800 --dump-dom "file://$work/v.html" 2>/dev/null | grep -o '<title>the line[^<]*')"
cat a.html contrast.html >d.html
scheme() { timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --enable-logging=stderr --window-size=$1,800 --blink-settings=preferredColorScheme=$2 --dump-dom "file://$work/d.html" 2>console | grep -o '<title>contrast[^<]*' | head -1; }
is 'contrast, labels and width, light' '<title>contrast true of true, 0 without a label, true, rgb(255, 255, 255)' "$(scheme 1200 1)"
is 'and dark, in a narrow window' '<title>contrast true of true, 0 without a label, true, rgb(20, 24, 29)' "$(scheme 500 0)"
is 'nothing on the console' 0 "$(grep -c CONSOLE console)"
has 'a link to a step' 'class="step now" id="s3"' "$(dom 'a.html#s3')"
exit $bad
