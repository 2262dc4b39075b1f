#!/usr/bin/env python3
"""Write the transcript of a Python program: transcript.py FILE > OUT.txt

Every top-level statement of FILE is run as the prompt would run it; the output is what CPython prints, so a
transcript made here states Python's behaviour. With torch installed, `from torch import *` in FILE works too.
"""
import ast, contextlib, io, sys, traceback


def last_lines(error):
    lines = traceback.format_exception_only(type(error), error)
    return ''.join(lines[-1:] if not isinstance(error, SyntaxError) else lines[-1:])


def run(trees, scope):
    out = io.StringIO()
    error = None
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(ast.Interactive(trees), '<stdin>', 'single'), scope)
        except BaseException as e:
            error = e
    text = out.getvalue()
    if error is not None:
        text += 'Traceback (most recent call last):\n    ...\n' + last_lines(error)
    return text


def main():
    text = open(sys.argv[1]).read()
    lines = text.split('\n')
    scope = {'__name__': '__main__'}
    groups = []  # statements that share a line go together
    for tree in ast.parse(text).body:
        if groups and groups[-1][-1].end_lineno == tree.lineno:
            groups[-1].append(tree)
        else:
            groups.append([tree])
    for trees in groups:
        first = min([trees[0].lineno] + [d.lineno for d in getattr(trees[0], 'decorator_list', [])])
        block = lines[first - 1:trees[-1].end_lineno]
        for i, line in enumerate(block):
            print(('>>> ' if i == 0 else '... ') + line if line else '...')
        if hasattr(trees[0], 'body'):
            print('...')
        result = run(trees, scope)
        print(''.join(l if l.strip() else '<BLANKLINE>\n' for l in result.splitlines(True)), end='')


main()
