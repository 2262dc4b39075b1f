#!/usr/bin/env python3
"""page.py TSR.HTML [FOLDER]: uses the page as a person does, by its keys. Prints `ok NAME` and `FAIL NAME`; FOLDER gets pictures of it, light
and dark, wide and narrow."""
import base64
import functools
import http.server
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
import zlib

from driver import ENTER, TAB, Page

MOST_SENT = 1_200_000  # bytes of the program


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def link(*statements):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress("\0".join(statements).encode()) + packer.flush()
    return "#c=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def answers(page):
    page.enter("x = arange(6).reshape(2, 3)", "reshape")
    page.enter("y = x.t()", "y = x.t()")
    page.enter("x.stride()", "(3, 1)")
    assert "strides [1, 3]" in page.js("return document.querySelector('#picture svg').textContent")


def several_lines(page):
    page.keys("def f(a):" + ENTER)
    page.wait("document.getElementById('input').value.endsWith('    ')")
    page.keys("return a + 1" + ENTER)
    page.wait("document.getElementById('input').value.split('\\n').length === 3")
    page.keys(ENTER)
    page.ready()
    page.enter("f(41)", "42")


def an_error_points(page):
    page.enter("ones(3, 4) + ones(2, 4)", "^^^^^^^^^^^^^^^^^^^^^^^")
    page.enter("x.shape", "torch.Size([2, 3])")  # names are still there


def completion(page):
    page.keys("x.resh" + TAB)
    page.wait("document.getElementById('input').value.startsWith('x.reshape')")
    page.keys("c", held="\ue009")
    page.wait("document.getElementById('input').value === ''")


def history(page):
    page.keys("\ue013")
    page.wait("document.getElementById('input').value === 'x.shape'")
    page.keys("c", held="\ue009")


def markup_is_text(page):
    page.enter("w = '<img src=q onerror=alert(1)>'; print(w)", "<img src=q")
    assert page.js("return document.querySelectorAll('main img, #picture script').length") == 0


def an_endless_loop_stops(page):
    page.keys("while True: pass" + ENTER)
    page.wait("document.getElementById('input').value.includes('\\n')")
    page.keys(ENTER)
    page.wait("document.getElementById('log').lastChild.innerText.includes('while True: pass')")
    page.keys("c", held="\ue009")
    page.wait("document.getElementById('log').innerText.includes('KeyboardInterrupt (the session was restored')")
    page.ready()
    page.enter("y.shape", "torch.Size([3, 2])")


def block(page, text):
    """A compound statement of one line: a second Enter ends it."""
    page.keys(text + ENTER)
    page.wait("document.getElementById('input').value.includes('\\n')")
    page.keys(ENTER)


def still_answers(page):
    page.ready()
    page.enter("y.shape", "torch.Size([3, 2])")


def much_output_is_cut(page):
    page.enter("print('a' * 3000000)", "more bytes are not shown")
    block(page, "for i in range(1000000): print(i)")
    page.wait("document.getElementById('log').lastChild.innerText.includes('more bytes are not shown')")
    still_answers(page)


def output_of_two_streams_is_cut(page):
    page.enter("import sys", "import sys")
    block(page, "for i in range(100000): print(i); print(i, file=sys.stderr)")
    page.wait("document.getElementById('log').lastChild.innerText.includes('more bytes are not shown')")
    assert page.js("return document.querySelectorAll('#log pre').length") < 2000
    still_answers(page)


def output_shows_while_it_comes(page):
    block(page, "while True: print('more and more')")
    page.wait("document.getElementById('log').lastChild.innerText.includes('more and more')")
    assert page.js("return document.body.getAttribute('aria-busy')") == "true"
    page.keys("c", held="\ue009")
    page.wait("document.getElementById('log').lastChild.innerText.startsWith('KeyboardInterrupt')")
    assert "more and more" in page.text("log")
    still_answers(page)


def deep_calls_end(page):
    page.enter("deep = lambda n: deep(n + 1)", "deep")
    page.enter("deep(0)", "RecursionError: maximum recursion depth exceeded")
    page.enter("sys.setrecursionlimit(20000); within = lambda x: sorted([1, 2], key=within)", "within")
    page.enter("within(1)", "RecursionError: ")
    still_answers(page)


def memory_that_ends_is_an_error(page):
    page.enter("big = [1]", "big")
    block(page, "while True: big = big + big")
    page.wait("document.getElementById('log').lastChild.innerText.includes('MemoryError')", 120)
    page.ready()
    page.enter("del big; zeros(1 << 40)", "you tried to allocate 4398046511104 bytes")
    still_answers(page)


def a_large_file_is_refused(page):
    with tempfile.TemporaryDirectory() as folder:
        large, small = f"{folder}/large.npy", f"{folder}/<b>small.csv"
        with open(large, "wb") as file:
            file.truncate(2 << 30)
        pathlib.Path(small).write_text("1,2\n3,4\n")
        page.choose("files", large)
        page.wait("document.getElementById('log').lastChild.innerText.includes('has 2147483648 bytes: more than')")
        page.choose("files", small)
        page.wait("document.getElementById('input').value === 'x = load(\"<b>small.csv\")'")
        page.keys(ENTER)
        page.ready()
        page.enter("x.sum()", "10")


def a_new_session(page):
    page.enter("exit(3)", "The session ended; this is a new one.")
    page.enter("y.shape", "NameError")


def a_file_is_saved(page):
    page.enter("save(x, 'x.npy')", "save(x")
    page.wait("document.getElementById('saved').innerText.includes('Download x.npy')")


def a_hostile_link(url):
    """Names that are markup, text that turns, and a bomb."""
    markup = "<img src=q onerror=document.title='broken'>"
    page = Page(url + link(f'd = {{"{markup}</text></svg><script>document.title=1</script>": ones(2)}}', "print('\u202e')"))
    try:
        page.wait("document.getElementById('log').innerText.includes('turn the direction of the text')")
        page.keys(ENTER)
        page.wait("document.getElementById('input').value.startsWith('print')")
        page.ready()
        assert markup in page.js("return document.querySelector('#picture svg').textContent")
        assert page.js("return document.querySelectorAll('main img, main script').length") == 0
        assert page.js("return document.title") == "tsr"
        assert page.console() == [], page.console()
    finally:
        page.close()
    page = Page(url + link("#" * 300_000_000))
    try:
        page.wait("document.getElementById('log').innerText.includes('no code that can be read, or too much of it')")
        page.enter("6 * 7", "42")
    finally:
        page.close()


def a_link_runs_nothing(url):
    page = Page(url + link("a = 1 + 1", "print(a)"))
    try:
        page.wait("document.getElementById('log').innerText.includes('Nothing runs before Enter')")
        assert page.text("input") == "a = 1 + 1"
        assert ">>>" not in page.text("log")
        page.keys(ENTER)
        page.wait("document.getElementById('input').value === 'print(a)'")
        page.ready()
        page.keys(ENTER)
        page.wait("document.getElementById('log').innerText.includes('>>> print(a)')")
    finally:
        page.close()


def a_lesson_is_taken(url):
    page = Page(url + "#l=1")
    try:
        page.wait("document.getElementById('progress').textContent.includes('step 1')")
        page.ready()
        page.enter("?", "all twelve numbers")
        page.enter("x = arange(12).view(4, 3)", "Not yet")
        page.enter("x = arange(12).view(3, 4)", "Step 2 of 4")
        assert "Right." in page.text("log")
        page.enter("x", ">>> x\ntensor([[ 0,")
        page.enter("h = tensor([0.5, 1.5, 2.5])", "Step 3 of 4")
    finally:
        page.close()


def steps_of(number):
    """The steps of a lesson: the lines of the answer, as they are typed; [] where a step is only read."""
    path = next(pathlib.Path("lessons").glob(f"{number:02}-*.md"))
    for part in path.read_text().split("\n## ")[1:]:
        asks, answer = "<!-- try:" in part, re.search(r"```\n([^`]*)```\s*$", part)
        yield [line[4:].strip() for line in answer.group(1).splitlines() if line.startswith((">>> ", "... "))] if asks else []


def take(page, number):
    """A lesson by its own answers, from the keys alone."""
    answers = list(steps_of(number))
    for step, lines in enumerate(answers, 1):
        ended = f"That was lesson {number}." if step == len(answers) else f"Step {step + 1} of {len(answers)}"
        if not lines:
            page.keys(ENTER)
        for line in lines:
            page.enter(line, f">>> {line}")
            if ended in page.text("log"):
                break
        page.wait(f"document.getElementById('log').innerText.includes({ended!r})")
        page.ready()


def lessons_are_taken(url):
    for number in range(1, 6):
        page = Page(url + f"#l={number}")
        try:
            page.wait("document.getElementById('progress').textContent.includes('step 1')")
            page.ready()
            take(page, number)
        finally:
            page.close()


def a_loop(page):
    page.keys("while True: i += 1" + ENTER)
    page.wait("document.getElementById('input').value.includes('\\n')")
    page.keys(ENTER)
    page.wait("document.getElementById('log').lastChild.innerText.includes('while True')")


def call_ms(page):
    """The least of what fib(20), 22,000 calls, takes in a page."""
    page.enter("import time", "import time")
    page.enter("fib = lambda n: n if n < 2 else fib(n - 1) + fib(n - 2)", "fib =")
    page.enter("taken = lambda f: (time.perf_counter(), f(), time.perf_counter())", "taken =")
    page.enter("(lambda all: print('took', min(c - a for a, _, c in all) * 1e3, 'ms'))([taken(lambda: fib(20)) for _ in range(40)])", " ms")
    return float(re.findall(r"took ([\d.e-]+) ms", page.text("log"))[-1])


def calls_of_the_site_are_as_fast(page, url):
    """What the isolated page looks at, for Ctrl-C, costs little."""
    here = alone = 1e9
    other = Page(url)
    try:
        for _ in range(6):  # the least of each, in turns, for a neighbour may be busy for a while
            here, alone = min(here, call_ms(page)), min(alone, call_ms(other))
            if here < 1.6 * alone + 0.1:  # of a clock that has tenths
                break
    finally:
        other.close()
    print(f"fib(20): {alone:.2f} ms, isolated {here:.2f} ms")
    assert here < 1.6 * alone + 0.1


def sizes(folder):
    """What a host sends, packed as hosts do."""
    if not shutil.which("brotli"):
        return
    packed = {path.name: len(subprocess.run(["brotli", "-c", "-q", "11", "-w", "24", path], stdout=subprocess.PIPE, check=True).stdout)
              for path in folder.iterdir()}
    print(f"by brotli: the program {packed['tsr.wasm']:,} bytes, all of the site {sum(packed.values()):,}")
    assert packed["tsr.wasm"] < MOST_SENT


def the_site(folder, url):
    """At a host without headers of its own: isolated and there without a network from the second visit on."""
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = Page(f"http://127.0.0.1:{server.server_address[1]}/")
    try:
        page.wait("navigator.serviceWorker.controller")
        page.reload()
        assert page.js("return crossOriginIsolated")
        calls_of_the_site_are_as_fast(page, url)
        page.enter("i = 0", "i = 0")
        a_loop(page)
        page.keys("c", held="\ue009")
        page.wait("document.getElementById('log').innerText.includes('KeyboardInterrupt')")
        page.ready()
        assert "restored" not in page.text("log")
        page.enter("i > 100", "True")
        server.shutdown()
        server.server_close()
        page.reload()
        page.enter("6 * 7", "42")
        assert page.console() == [], page.console()
    finally:
        page.close()
        server.shutdown()


def looks(url, folder):
    for name, size, dark, phone in [("wide", (1280, 800), False, False), ("wide-dark", (1280, 800), True, False),
                                    ("phone", (390, 760), False, True), ("phone-dark", (390, 760), True, True)]:
        for what in ["", "#l=2"]:
            page = Page(url + what, size, dark, phone)
            try:
                if what:
                    page.wait("document.getElementById('progress').textContent.includes('step 1')")
                    page.ready()
                    page.enter("x.stride(0)", "Step 2")
                else:
                    page.enter("x = arange(6).reshape(2, 3)", "reshape")
                    page.enter("x + ones(4)", "RuntimeError")
                assert page.js("return document.documentElement.scrollWidth <= innerWidth"), f"{name}: wider than its window"
                page.screenshot(f"{folder}/{name}{'-lesson' if what else ''}.png")
            finally:
                page.close()


def attempt(name, work):
    try:
        work()
        print(f"ok {name}", flush=True)
        return True
    except Exception:  # whatever it was, the others are tried
        print(f"FAIL {name}", flush=True)
        traceback.print_exc(file=sys.stdout)
        return False


def main():
    url, fine = pathlib.Path(sys.argv[1]).resolve().as_uri(), True
    page = Page(url)
    for check in [answers, several_lines, an_error_points, completion, history, markup_is_text, an_endless_loop_stops, much_output_is_cut,
                  output_of_two_streams_is_cut, output_shows_while_it_comes, deep_calls_end, memory_that_ends_is_an_error, a_file_is_saved,
                  a_large_file_is_refused, a_new_session]:
        fine &= attempt(check.__name__, lambda: check(page))
    fine &= attempt("the console has nothing to say", lambda: page.console() == [] or sys.exit(str(page.console())))
    page.close()
    for check in [a_link_runs_nothing, a_hostile_link, a_lesson_is_taken, lessons_are_taken]:
        fine &= attempt(check.__name__, lambda: check(url))
    site = pathlib.Path(sys.argv[1]).resolve().parent / "site"
    fine &= attempt("the site", lambda: the_site(site, url))
    fine &= attempt("sizes", lambda: sizes(site))
    if len(sys.argv) > 2:
        fine &= attempt("looks", lambda: looks(url, sys.argv[2]))
    return 0 if fine else 1


sys.exit(main())
