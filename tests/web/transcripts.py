#!/usr/bin/env python3
"""transcripts.py ALLOWED COMMAND...: README, the lessons, the manual and the transcripts of the language, of programs and of what is shown, by a tsr
for another machine (COMMAND), each in a process. ALLOWED, a file, says what may differ there. Prints `ok FILE` and `FAIL FILE`."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WHERE = ["README.md", "lessons/**/*.md", "man/*.[157]", "tests/lang/**/*.txt", "tests/programs/*.txt", "tests/show/**/*.txt", "tests/systems/*.txt"]
LONG = re.compile(r"_passes\.txt$")  # of many seconds natively


def allowed(path):
    rows = (line.split() for line in pathlib.Path(path).read_text().splitlines() if not line.startswith("#"))
    return {path: (int(most), why) for path, most, why in rows}


def run(command, path):
    result = subprocess.run([*command, "--doctest", path], capture_output=True, text=True, errors="replace", timeout=300)
    told = re.findall(r"statements checked, (\d+) differ", result.stdout)
    return path, int(told[-1]) if told else None, result.stdout + result.stderr


def main():
    os.chdir(ROOT)
    may, failed = allowed(sys.argv[1]), 0
    paths = sorted(str(path) for pattern in WHERE for path in pathlib.Path().glob(pattern) if not LONG.search(str(path)))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, differ, text in pool.map(lambda path: run(sys.argv[2:], path), paths):
            most, why = may.get(path, (0, ""))
            if differ is not None and differ <= most and (differ > 0) == (most > 0):
                print(f"ok {path}" + (f" ({differ} differ: {why})" if differ else ""))
                continue
            failed += 1
            print(f"FAIL {path}: {differ} statements differ, allowed are {most}\n{text[-2000:]}")
    return 1 if failed else 0


sys.exit(main())
