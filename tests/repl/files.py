"""What open() gives, in each mode and with each option: run by CPython and by tsr, which print the same."""
import sys


def tell(name, f):
    try: print(name, ascii(f()))
    except Exception as e: print(name, type(e).__name__, e)


for mode in "wb", "ab", "rb", "r+b", "w+b", "r", "w", "a", "r+", "w+":
    with open("x", "wb") as f: f.write(b"xy\nzw\nlast")
    with open("x", mode) as f:
        for name, call in ("", lambda: f), ("mode", lambda: f.mode), ("read", f.readable), ("write", f.writable), ("seek", f.seekable), ("number", lambda: f.fileno() > 2), ("terminal", f.isatty): tell(mode + " " + name, call)
        for size in 1, 5, -1, 3, None: tell(f"{mode} readline({size})", lambda: f.readline() if size is None else f.readline(size))
    with open("x", mode) as f:
        for hint in 1, 3, 0, None: tell(f"{mode} readlines({hint})", lambda: f.readlines(hint))
    with open("x", "wb") as f: f.write(b"abcdef")
    with open("x", mode) as f: tell(mode + " truncate", lambda: f.truncate(3))
    with open("x", "rb") as f: print(f.read())

with open("x", "wb") as f: f.write(b"abcdef")
with open("x", "r+b") as f: print(f.read(2), f.write(b"X"), f.read(1), f.tell(), f.seek(0), f.read())

with open("ends", "wb") as f: f.write(b"a\rb\r\nc\n\rd")
for newline in None, "", "\n", "\r", "\r\n":
    for how in (lambda f: f.read(), lambda f: f.readlines(), lambda f: f.readline(), lambda f: f.readline(2), lambda f: f.read(3), lambda f: f.readlines(1)):
        with open("ends", newline=newline) as f: tell(repr(newline), lambda: how(f))
    with open("w", "w", newline=newline) as f: print(f.write("\u00e9\nb\r\n"))
    with open("w", "rb") as f: print(f.read())

with open("latin", "w", encoding="latin-1") as f: f.write("\u00e9a\n")
for options in {}, {"encoding": "latin-1"}, {"encoding": "ascii"}, {"encoding": "utf8", "errors": "replace"}, {"errors": "ignore"}, {"errors": "backslashreplace"}, {"errors": "surrogateescape"}, {"encoding": "ascii", "errors": "replace"}, {"encoding": "nope"}, {"errors": "nope"}, {"newline": "x"}, {"encoding": 3}, {"errors": 3}, {"newline": 3}, {"encoding": None, "errors": None, "newline": None}, {"mode": "rb", "encoding": "utf-8"}, {"mode": "rb", "errors": "strict"}, {"mode": "rb", "newline": ""}, {"buffering": 0}:
    tell(options, lambda: open("latin", **options).read())
    tell(options, lambda: open("latin", **options).encoding if "b" not in options.get("mode", "") else open("latin", **options))
with open("latin", encoding="latin-1") as f: print(f, f.errors, ascii(f.read(1)), ascii(f.readline(1)))
for options in {"encoding": "ascii"}, {"encoding": "ascii", "errors": "ignore"}, {"encoding": "ascii", "errors": "replace"}, {"errors": "surrogateescape"}, {}:
    with open("w", "w", **options) as f: tell(options, lambda: f.write("\u00e9\udce9b"))
    with open("w", "rb") as f: print(f.read())
with open("latin", "w", encoding="latin-1", newline="\r\n") as f:
    print("\u00e9", 1, sep="\n", file=f, flush=True)
    with open("latin", "rb") as g: print(g.read())
    print("more", file=f)
    tell("into a file that is read", lambda: print("x", file=open("latin")))
    tell("into a binary file", lambda: print("x", file=open("w", "wb")))
tell("into a closed file", lambda: print("x", file=f))
tell("flush of what has none", lambda: print("x", file=3, flush=True))
print("standard", file=sys.stdout, flush=True)
print(sys.stdout.encoding, sys.stdout.isatty(), sys.stdout.writable(), sys.stdin.readable(), sys.stderr.fileno())
sys.stdout.flush()
sys.stdout.buffer.write(b"\xff\x00\n")
