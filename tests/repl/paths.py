# What pathlib does with files, run by CPython and by tsr in an empty folder: tests/repl/paths.sh.
import os
from pathlib import Path

file = Path("out.txt")
print(file.write_text("hello\nworld"), file.read_text(), file.read_bytes(), file.exists(), file.is_file(), file.is_dir())
print(file.open().readline(), open(file).read(), os.path.exists(file), os.path.getsize(file), os.path.basename(Path("a") / "b"))
print(file.resolve() == Path(os.getcwd()) / "out.txt", file.absolute().is_absolute(), Path("b/../out.txt").exists())
with file.open("w") as f:
    f.write("x")
with open(file) as f:
    print(f.read())
print(Path("sub/b.bin").write_bytes(b"\0\1"), [path for path in Path("sub").iterdir()], sorted(os.listdir(Path("sub"))))
for pattern in "*", "*.txt", "o?t.[st]xt", "[!o]*", "sub/*", "**/deep", "sub/**", "*/*", "nope/*":
    print(pattern, sorted(Path(".").glob(pattern)), sorted(Path("sub").rglob(pattern)))
for make in (
    lambda: Path("nope").read_text(),
    lambda: open(Path("nope")),
    lambda: os.listdir(Path("nope")),
    lambda: list(Path("nope").iterdir()),
    lambda: Path("sub").write_text("x"),
):
    try:
        make()
    except OSError as error:
        print(type(error).__name__, error)
