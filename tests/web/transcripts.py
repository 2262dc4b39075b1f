#!/usr/bin/env python3
"""transcripts.py TSR.JS: README, the lessons, the manual and the transcripts of the language, of programs and of what is shown, by the browser's
program under node, each in a process. `allowed` beside this says what may differ. Prints `ok FILE` and `FAIL FILE`."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WHERE = ["README.md", "lessons/**/*.md", "man/*.[157]", "tests/lang/**/*.txt", "tests/programs/*.txt", "tests/show/**/*.txt", "tests/systems/*.txt"]
LONG = re.compile(r"_passes\.txt$")  # of many seconds natively


def allowed():
    rows = (line.split() for line in (HERE / "allowed").read_text().splitlines() if not line.startswith("#"))
    return {path: (int(most), why) for path, most, why in rows}


def run(program, path):
    result = subprocess.run(["scripts/web-node", program, "--doctest", path], capture_output=True, text=True, errors="replace", timeout=300)
    told = re.findall(r"statements checked, (\d+) differ", result.stdout)
    return path, int(told[-1]) if told else None, result.stdout + result.stderr


def main():
    os.chdir(HERE.parent.parent)
    may, failed = allowed(), 0
    paths = sorted(str(path) for pattern in WHERE for path in pathlib.Path().glob(pattern) if not LONG.search(str(path)))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, differ, text in pool.map(lambda path: run(sys.argv[1], path), paths):
            most, why = may.get(path, (0, ""))
            if differ is not None and differ <= most and (differ > 0) == (most > 0):
                print(f"ok {path}" + (f" ({differ} differ: {why})" if differ else ""))
                continue
            failed += 1
            print(f"FAIL {path}: {differ} statements differ, allowed are {most}\n{text[-2000:]}")
    return 1 if failed else 0


sys.exit(main())
