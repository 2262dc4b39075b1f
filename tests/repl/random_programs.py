#!/usr/bin/env python3
"""Random programs that CPython and tsr run alike.

    random_programs.py check TSR FROM TO   runs both on the programs FROM to TO - 1: "programs agree", or which differ first, and where
    random_programs.py print N             one of them, to be run by hand

Program N is made from N alone. It prints what it computes, in the end all its names; an exception is printed by its type and text.
What is mixed: calls with *, ** and keywords, attributes, subscripts and slices, comprehensions, unpacking, augmented assignment,
closures, default arguments, f-strings, walruses, chained comparisons, conditionals, loops, try and finally. CPython is 3.11.
"""
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

HELPERS = '''
from collections import namedtuple
P = namedtuple('P', 'x y', defaults=[7])
def say(*a, **k):
    print('say', a, k)
    return a[0] if a else k
def many(*a, **k):
    return a, k
def add(a, b=2, *rest, c=3, **k):
    return a + b
def three(a, b, c=5):
    return [a, b, c]
def only(a, /, b, *, c=1):
    return (a, b, c)
def make(*a, **k):
    def inner(*b, **m):
        return a + b, {**k, **m}
    return inner
def counter(start=0):
    n = start
    def step(by=1):
        nonlocal n
        n += by
        return n
    return step
def gen(n):
    for i in range(n):
        got = yield i
    return n
def ident(v): return v
'''

INTS, STRS, LISTS, TUPLES, DICTS, FUNCS = ['i', 'j', 'k'], ['s', 't'], ['l', 'm'], ['u', 'v'], ['d', 'e'], ['f', 'g']


class Program:
    """The statements of one program. `depth` bounds expressions; names are those that every program begins with."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.indent = 1
        self.loops = 0
        self.function = 0
        self.fresh = 0

    def one(self, *choices):
        return self.r.choice(choices)

    def chance(self, p):
        return self.r.random() < p

    def put(self, text):
        self.lines.append('    ' * self.indent + text)

    def some(self, kinds, d):
        return getattr(self, self.r.choice(kinds))(d)

    def any(self, d):
        return self.some(['int', 'int', 'str', 'list', 'tuple', 'dict', 'bool'], d)

    def iterable(self, d):
        return self.some(['list', 'list', 'tuple', 'str', 'dict'], d) if self.chance(0.8) else f'range({self.int(d - 1)} % 4)'

    # --- arguments of calls ---

    def args(self, d, most=3, keywords=('q', 'c', 'b'), spread=True):
        parts = []
        for _ in range(self.r.randrange(most + 1)):
            parts.append(self.one('', '', '*') and '*' + self.iterable(d - 1) if self.chance(0.35) else self.any(d - 1))
        named = list(keywords)
        self.r.shuffle(named)
        named = named[:self.r.choice([0, 0, 0, 1, 1, 2])]
        parts += [f'{name}={self.any(d - 1)}' for name in named]
        if spread and self.chance(0.12):
            late = self.chance(0.2)
            taken = tuple(named) + ('z',) * late  # see permitted(): a keyword given twice
            dict_ = self.dict(d - 1)
            parts.append(f'**{{w: x_ for w, x_ in {dict_}.items() if w not in {taken}}}' if taken else f'**{dict_}')
            if late:
                parts.append(f'z={self.any(d - 1)}')
        return ', '.join(p for p in parts if p)

    def call(self, d):
        """A call to something that gives (args, kwargs), or a chain of such."""
        text = self.one('many', 'many', 'many', 'make()', 'make', 'f', 'g', '(lambda *a, **k: (a, k))', '(lambda a, *b, c=1, **k: ((a, *b), {**k, "c": c}))')
        text += f'({self.args(d)})'
        if text.startswith('make('):
            if not text.startswith('make()'):
                text += f'({self.args(d)})'
        return text

    # --- expressions, by kind ---

    def int(self, d):
        if d <= 0:
            return self.one(*INTS, '0', '1', '2', '3', '-1', '7')
        return self.r.choice([
            lambda: self.one(*INTS),
            lambda: f'{self.int(d - 1)} {self.one("+", "-", "*", "+")} {self.int(d - 1)}',
            lambda: f'({self.int(d - 1)}) {self.one("//", "%", "&", "|", "^", "+", "-", "*")} ({self.int(d - 1)})',
            lambda: f'-({self.int(d - 1)})',
            lambda: f'len({self.iterable(d - 1)})',
            lambda: f'len({self.call(d)}[0])',
            lambda: f'{self.call(d)}[0].count({self.any(d - 1)})',
            lambda: f'{self.list(d - 1)}.count({self.any(d - 1)})',
            lambda: f'{self.list(d - 1)}[{self.int(d - 1)}]',
            lambda: f'{self.dict(d - 1)}.get({self.any(d - 1)}, {self.int(d - 1)})',
            lambda: f'add({self.args(d)})',
            lambda: f'add({self.int(d - 1)}, *[{self.int(d - 1)}], {self.one("c", "z")}={self.any(d - 1)})',
            lambda: f'sum({self.list(d - 1)})',
            lambda: f'({self.int(d - 1)} if {self.bool(d - 1)} else {self.int(d - 1)})',
            lambda: f'({self.one(*INTS)} := {self.int(d - 1)})' if not self.function else self.int(d - 1),
            lambda: f'P({self.args(d, 2, ("x", "y"))}).{self.one("x", "y")}',
            lambda: f'P(*{self.list(d - 1)}).{self.one("x", "y")}',
            lambda: f'h({self.args(d, 1, ("by",))})',
            lambda: f'({self.lambda_(d - 1)})({self.args(d - 1, 2, ("b",))})',
            lambda: f'say({self.int(d - 1)})',
            lambda: f'{self.str(d - 1)}.find({self.str(d - 1)})',
            lambda: f'max({self.int(d - 1)}, *{self.list(d - 1)})',
        ])()

    def bool(self, d):
        if d <= 0:
            return self.one('True', 'False', *INTS)
        return self.r.choice([
            lambda: f'{self.int(d - 1)} {self.one("<", "<=", "==", "!=", ">")} {self.int(d - 1)}',
            lambda: f'{self.int(d - 1)} < {self.int(d - 1)} <= {self.int(d - 1)}',
            lambda: f'{self.any(d - 1)} in {self.iterable(d - 1)}',
            lambda: f'{self.any(d - 1)} == {self.any(d - 1)} != {self.any(d - 1)}',
            lambda: f'not ({self.any(d - 1)})',
            lambda: f'({self.any(d - 1)} {self.one("and", "or")} {self.any(d - 1)})',
            lambda: f'isinstance({self.any(d - 1)}, {self.one("int", "str", "(list, tuple)", "dict")})',
            lambda: f'{self.any(d - 1)} is {self.one("None", "not None")}',
            lambda: f'{self.one("any", "all")}({self.generator(d)})',
        ])()

    def str(self, d):
        if d <= 0:
            return self.one(*STRS, "'a'", "'b-c'", "''", "'é'")
        return self.r.choice([
            lambda: self.one(*STRS),
            lambda: f'({self.str(d - 1)} + {self.str(d - 1)})',
            lambda: f"'{self.one('{} {}', '{0}{1}{0}', '{}{q}', '{!r:>5}')}'.format({self.args(d, spread=False)})",
            lambda: f"'{self.one('{}-{}', '{}', '{0!r}')}'.format(*{self.iterable(d - 1)}).{self.one('upper()', 'split', 'title()')}".replace('.split', '.strip()'),
            lambda: self.fstring(d),
            lambda: f'{self.str(d - 1)}[{self.slice(d)}]',
            lambda: f"'{self.one(',', '')}'.join({self.generator(d, 'str')})",
            lambda: f'str({self.any(d - 1)})',
            lambda: f'{self.str(d - 1)} * ({self.int(d - 1)} % 3)',
            lambda: f'{self.str(d - 1)}.replace({self.str(d - 1)}, {self.str(d - 1)}, 2)',
            lambda: f"'%s %r' % ({self.any(d - 1)}, {self.any(d - 1)})",
            lambda: f'{self.one(*FUNCS, "add", "many", "(lambda: 0)")}.__name__',
            lambda: f'say({self.str(d - 1)}, *{self.iterable(d - 1)})',
        ])()

    def fstring(self, d):
        parts = []
        for _ in range(self.r.randrange(1, 4)):
            v = self.any(d - 1)
            if "'" in v or '"' in v or '\\' in v or ':=' in v or 'lambda' in v:
                v = self.one(*INTS, *STRS, *LISTS)
            v = ' ' + v if v[0] == '{' else v
            parts.append(self.one('x', '{{', '') + '{' + v + self.one('', '', '!r', '!s:>8', '=', '!a', '!r:{i % 9}') + (' ' if v[-1] == '}' and False else '') + '}')
        return "f'" + ''.join(parts) + "'"

    def list(self, d):
        if d <= 0:
            return self.one(*LISTS, '[]', '[1]', '[1, 2]', '[3, 1, 2]')
        return self.r.choice([
            lambda: self.one(*LISTS),
            lambda: self.display(d, '[', ']'),
            lambda: self.comprehension(d, '[', ']'),
            lambda: f'{self.list(d - 1)}[{self.slice(d)}]',
            lambda: f'({self.list(d - 1)} + {self.list(d - 1)})',
            lambda: f'sorted({self.list(d - 1)}, key=lambda a: {self.one("-a", "a", "(a % 2, a)", "str(a)")})',
            lambda: f'list({self.call(d)}[0])',
            lambda: f'list(map({self.lambda_(d - 1)}, {self.list(d - 1)}))',
            lambda: f'list(zip({self.iterable(d - 1)}, *[{self.iterable(d - 1)}]))',
            lambda: f'list({self.generator(d)})',
            lambda: f'three({self.args(d, 3, ("b", "c"))})',
            lambda: f'three(*{self.iterable(d - 1)})[{self.slice(d)}]',
            lambda: f'{self.str(d - 1)}.split({self.one("", "*[]")})',
            lambda: f'list(enumerate({self.iterable(d - 1)}, *[{self.int(d - 1)}]))',
            lambda: f'[*gen({self.int(d - 1)} % 4)]',
            lambda: f'say({self.list(d - 1)}, q={self.any(d - 1)})',
        ])()

    def tuple(self, d):
        if d <= 0:
            return self.one(*TUPLES, '()', '(1,)', "(1, 'a')")
        return self.r.choice([
            lambda: self.one(*TUPLES),
            lambda: self.display(d, '(', ',)'),
            lambda: f'{self.call(d)}[0]',
            lambda: f'{self.call(d)}',
            lambda: f'{self.call(d)}[0][{self.slice(d)}]',
            lambda: f'tuple({self.generator(d)})',
            lambda: f'only({self.args(d, 2, ("b", "c"))})',
            lambda: f'P(*{self.list(d - 1)})._replace({self.one("x", "y")}={self.any(d - 1)})',
            lambda: f'({self.tuple(d - 1)} + {self.tuple(d - 1)})',
            lambda: f'say({self.any(d - 1)}, *{self.iterable(d - 1)}) , ',
        ])().replace(' , ', '') if self.chance(0.95) else f'divmod({self.int(d - 1)}, {self.int(d - 1)})'

    def dict(self, d):
        if d <= 0:
            return self.one(*DICTS, '{}', "{'q': 1}", "{'c': 2, 'b': 3}")
        return self.r.choice([
            lambda: self.one(*DICTS),
            lambda: '{' + ', '.join(self.one(f'{self.key(d - 1)}: {self.any(d - 1)}', f'**{self.dict(d - 1)}') for _ in range(self.r.randrange(4))) + '}',
            lambda: '{' + f'{self.item("w", d)}: {self.any(d - 1)} for w in {self.iterable(d - 1)}' + '}',
            lambda: f'{self.call(d)}[1]',
            lambda: f'({self.dict(d - 1)} | {self.dict(d - 1)})',
            lambda: f'dict({self.args(d, 0)})',
            lambda: f'dict(zip({self.str(d - 1)}, {self.list(d - 1)}))',
            lambda: f'dict([*{self.dict(d - 1)}.items()], {self.one("q=i", "z=s", f"**{self.dict(d - 1)}")})',
        ])()

    def key(self, d):
        return self.some(['str', 'str', 'int', 'tuple'], d)

    def item(self, name, d):
        return self.one(name, f'str({name})', f'({name}, {self.int(d - 1)})', f'{name}')

    def display(self, d, left, right):
        parts = [self.one('', '*') and '*' + self.iterable(d - 1) if self.chance(0.3) else self.any(d - 1) for _ in range(self.r.randrange(4))]
        parts = [p for p in parts if p]
        return left + ', '.join(parts) + (right if parts else right[-1])

    def slice(self, d):
        def part(p):
            return self.int(d - 1) if self.chance(p) else ''
        return part(0.5) + ':' + part(0.5) + (':' + self.one('-1', '2', '-2', '', self.int(0)) if self.chance(0.4) else '')

    def comprehension(self, d, left, right):
        target, used = self.one(('a', 'a'), ('(a, *b)', 'b'), ('a, b', '(b, a)'), ('a', 'str(a)'), ('a', 'many(*[a], q=a)'), ('a', 'f"{a!r}{i}"'))
        source = self.iterable(d - 1)
        if target != 'a':
            source = f'{self.one("enumerate", "zip")}({source}' + ')' if self.chance(0.4) else f'zip({source}, {self.iterable(d - 1)})'
        tail = f' if {self.bool(d - 1)}' if self.chance(0.3) else ''
        if self.chance(0.2):
            inner = self.iterable(d - 1)
            tail += f' for c in {inner}'
            used = f'({used}, c)'
        return f'{left}{used} for {target} in {source}{tail}{right}'

    def generator(self, d, kind=None):
        used = {'str': 'str(a)'}.get(kind) or self.one('a', 'a', '(a, i)', 'many(a, *[a])[0]', 'not a')
        return f'({used} for a in {self.iterable(d - 1)}' + (f' if {self.one("a", self.bool(d - 1))}' if self.chance(0.3) else '') + ')'

    def lambda_(self, d):
        self.function += 1
        default = self.int(d - 1)
        body = self.r.choice([lambda: self.int(d - 1), lambda: 'a', lambda: f'a + {self.int(d - 1)}', lambda: f'[a, b, *c]', lambda: f'many(a, *c, b=b)[0]'])()
        self.function -= 1
        return f'lambda a=1, b={default}, *c: {body}'

    # --- statements ---

    def target(self, d):
        return self.r.choice([
            lambda: self.one(*INTS), lambda: self.one(*INTS), lambda: f'{self.one(*LISTS)}[{self.int(d - 1)}]', lambda: f'{self.one(*DICTS)}[{self.key(d - 1)}]',
            lambda: f'{self.one(*LISTS)}[{self.slice(d)}]', lambda: f'{self.one(*FUNCS)}.w',
        ])()

    def statement(self, d):
        self.r.choice([
            lambda: self.put(f'{self.one(*INTS)} = {self.int(d)}'),
            lambda: self.put(f'{self.one(*STRS)} = {self.str(d)}[:40]'),
            lambda: self.put(f'{self.one(*LISTS)} = {self.list(d)}[:9]'),
            lambda: self.put(f'{self.one(*TUPLES)} = {self.tuple(d)}[:9]'),
            lambda: self.put(f'{self.one(*DICTS)} = {self.dict(d)}'),
            lambda: self.put(f'print({self.args(d)})' if self.chance(0.1) else f'print({self.any(d)}, *{self.iterable(d)}, sep={self.str(0)})'),
            lambda: self.put(f'print({self.any(d)})'),
            lambda: self.put(f'{self.target(d)} = {self.any(d)}'),
            lambda: self.put(f'{self.target(d)} = {self.target(d)} = {self.any(d)}'),
            lambda: self.put(f'{self.target(d)} {self.one("+=", "-=", "*=", "|=", "//=")} {self.any(d)}'),
            lambda: self.put(f'{self.one(*INTS)} {self.one("+=", "-=", "*=", "%=")} {self.int(d)}'),
            lambda: self.put(f'{self.one(*LISTS)} += {self.iterable(d)}'),
            lambda: self.put(f'{self.one(*DICTS)} |= {self.dict(d)}'),
            lambda: self.put(f'{self.one(*LISTS)}[{self.int(d)}] += {self.any(d)}'),
            lambda: self.put(f'{self.one(*DICTS)}[{self.key(d)}] = {self.any(d)}'),
            lambda: self.put(f'{self.target(d)}, {self.target(d)} = {self.any(d)}, {self.any(d)}'),
            lambda: self.put(f'{self.target(d)}, *{self.one(*LISTS)} = {self.iterable(d)}'),
            lambda: self.put(f'({self.one(*INTS)}, {self.one(*STRS)}), *{self.one(*LISTS)} = {self.iterable(d)}, *{self.iterable(d)}'),
            lambda: self.put(f'[{self.target(d)}, {self.target(d)}] = {self.iterable(d)}'),
            lambda: self.put(f'{self.one(*LISTS)}.{self.one("append", "extend", "remove", "pop")}({self.any(d)})'),
            lambda: self.put(f'del {self.target(d)}'),
            lambda: self.put(f'f = {self.lambda_(d)}') if not self.chance(0.3) else self.put(f'f = make({self.args(d)})'),
            lambda: self.put(f'h = counter({self.args(d, 1, ("start",))})'),
            lambda: self.put(f'assert {self.bool(d)}, {self.any(d)}'),
            lambda: self.put(f'{self.call(d)}'),
            lambda: self.put(f'print({self.call(d)}[{self.one("0", "1", "-1")}])'),
        ])()

    def block(self, statements):
        self.indent += 1
        for _ in range(statements):
            self.compound() if self.chance(0.25) and self.indent < 6 else self.statement(self.one(1, 1, 2))
        self.indent -= 1

    def leave(self):
        """Perhaps a way out of what is around."""
        if self.loops and self.chance(0.5):
            self.put(f'if {self.bool(1)}: {self.one("break", "continue")}')
        elif self.function and self.chance(0.5):
            self.put(f'if {self.bool(1)}: return {self.any(1)}')
        elif self.chance(0.2):
            self.put(f'if {self.bool(1)}: raise {self.one("ValueError", "KeyError")}({self.args(1, 2, (), False)})')

    def compound(self):
        few = self.r.randrange(1, 3)
        kind = self.one('if', 'for', 'while', 'try', 'try', 'finally', 'finally', 'def', 'def')
        if kind == 'if':
            self.put(f'if {self.bool(2)}:')
            self.block(few)
            if self.chance(0.5):
                self.put('else:')
                self.block(few)
        elif kind == 'for':
            target = self.one('i', 'j', 'i, *l', 'l[0]', '(i, j)', 's')
            source = self.iterable(1) if '(' not in target and ',' not in target else self.one(f'zip({self.iterable(1)}, {self.iterable(1)})', f'enumerate({self.iterable(1)})')
            self.put(f'for {target} in [*{source}][:4]:')
            self.loops += 1
            self.block(few)
            self.indent += 1
            self.leave()
            self.indent -= 1
            self.loops -= 1
            if self.chance(0.3):
                self.put('else:')
                self.block(1)
        elif kind == 'while':
            self.fresh += 1
            name = f'n{self.fresh}'
            self.put(f'{name} = 0')
            self.put(f'while {name} < 3{self.one("", f" and {self.bool(1)}")}:')
            self.loops += 1
            self.indent += 1
            self.put(f'{name} += 1')
            self.indent -= 1
            self.block(few)
            self.indent += 1
            self.leave()
            self.indent -= 1
            self.loops -= 1
        elif kind in ('try', 'finally'):
            self.put('try:')
            self.block(few)
            self.indent += 1
            self.leave()
            self.indent -= 1
            if kind == 'try' or self.chance(0.3):
                self.put(f'except {self.one("Exception", "(TypeError, ValueError)", "TypeError", "LookupError")} as x:')
                self.indent += 1
                self.put('print(type(x).__name__, x)')
                self.indent -= 1
                self.block(1)
                if self.chance(0.2):
                    self.put('else:')
                    self.block(1)
            if kind == 'finally':
                self.put('finally:')
                self.block(1)
                if self.chance(0.15):
                    self.indent += 1
                    self.leave()
                    self.indent -= 1
        else:
            self.define(few)

    def define(self, few):
        name = self.one(*FUNCS)
        outer = self.indent > 1
        parameters = self.one('*a, **k', 'a=1, b=2, *c, **k', f'a, b={self.int(1)}, *c', f'a={self.list(1)}, *, c={self.int(1)}', 'a, /, b=3, **k')
        first = 'c' if parameters.startswith('*a') is False and 'c' in parameters else 'a'
        self.put(f'def {name}({parameters}):')
        loops, self.loops = self.loops, 0
        self.function += 1
        self.indent += 1
        if not self.inside:
            declared = f'global {self.one("i", "l")}'
        else:
            declared = f'nonlocal {self.one("i", "l")}'
        if self.chance(0.4):
            self.put(declared)
        elif self.chance(0.7):
            self.put('i, j, k, s, t, l, m = 1, 2, 3, "x", "yz", [5, 6], [a_ for a_ in "pq"]')
        inside, self.inside = self.inside, True
        self.indent -= 1
        self.block(few)
        self.indent += 1
        self.put(f'return {self.one("a", first)}, {self.any(1)}')
        self.indent -= 1
        self.inside = inside
        self.function -= 1
        self.loops = loops
        if self.chance(0.8):
            self.put(f'print({name}({self.args(1)}))')


def program(seed):
    p = Program(seed)
    p.inside = p.chance(0.5)
    r = p.r
    head = [f"print('#', {seed})"]
    start = ['i, j, k, s, t = 3, -2, 0, "abc", "x y"', 'l, m, u, v = [1, 2, 3], [4, [5]], (1, 2), ("a", [6])', 'd, e = {"q": 1, 2: "two"}, {"b": [7], "c": 8}',
             'f, g, h = many, (lambda *a, **k: (a, k)), counter(5)']
    tail = 'print(i, j, k, repr(s), repr(t), l, m, u, v, d, e)'
    if p.inside:
        head += ['def main():', *('    ' + s for s in start), '    def names(): return i, l', '    try:']
        p.indent = 2
        p.function = 1
    else:
        head += [*start, 'try:']
    for _ in range(r.randrange(2, 7)):
        p.compound() if p.chance(0.35) else p.statement(r.choice([1, 2, 2, 3]))
    end = ['except Exception as x:', '    print(type(x).__name__, x)']
    foot = [*end, 'try:', '    ' + tail, *end]
    if p.inside:
        foot = ['    ' + s for s in foot] + ['main()']
    return '\n'.join(head + p.lines + foot)


def source(numbers):
    """One file of many programs; those that are not Python only say so."""
    texts = [HELPERS]
    for n in numbers:
        text = program(n)
        try:
            compile(text, '', 'exec')
        except SyntaxError:
            text = f"print('#', {n}, 'is not Python')"
        texts.append(text)
    return '\n'.join(texts) + '\n'


DEEPER = ['-W', 'ignore', '-c', 'import sys; sys.setrecursionlimit(1300); sys.argv[:1] = []; exec(compile(open(sys.argv[0]).read(), "", "exec"))']


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def answers(command, path):
    """What each program printed, by its number; the error that ended the run belongs to the last."""
    run = subprocess.run([*command, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=15, preexec_fn=limit_memory)
    said, lines = {}, []
    for line in run.stdout.decode(errors='backslashreplace').split('\n'):
        start = re.match(r'# (\d+)', line)
        if start:
            lines = said.setdefault(int(start[1]), [])
        lines.append(re.sub(r' at 0x[0-9a-f]+', '', line))
    if run.returncode:
        lines.append(run.stderr.decode(errors='backslashreplace').strip().split('\n')[-1])
    return said


def permitted(wanted, got):
    """Differences of the first line that are none of the language's."""
    if "'0', 'x'" in wanted:
        return True  # an address taken apart
    free = re.fullmatch(r"NameError cannot access free variable ('.*') where it is not associated with a value in enclosing scope", wanted)
    if free and got == f'UnboundLocalError cannot access local variable {free[1]} where it is not associated with a value':
        return True  # a comprehension is part of the function around it, as in CPython since 3.12
    # While another exception is handled CPython's message of a keyword given twice is the bare KeyError of the dict beneath.
    key = re.fullmatch(r"KeyError ('.*')", wanted)
    return key is not None and got.endswith(f'got multiple values for keyword argument {key[1]}')


def difference(wanted, got):
    """The first lines that differ, or None."""
    if any('RecursionError' in line or 'MemoryError' in line for line in wanted):
        return None  # CPython also counts the calls of its own functions, and other bytes
    for pair in zip(wanted + ['(end)'], got + ['(end)']):
        if pair[0] != pair[1]:
            return None if permitted(*pair) else pair
    return None


def counts_calls(n, wanted):
    """Whether what CPython prints depends on how deep calls may nest: what counts as a call is its own affair."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'program.py')
        with open(path, 'w') as file:
            file.write(source([n]))
        return answers([sys.executable, *DEEPER], path).get(n) != wanted


def check(tsr, numbers):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'programs.py')
        with open(path, 'w') as file:
            file.write(source(numbers))
        try:
            wanted = answers([sys.executable, '-W', 'ignore'], path)
        except subprocess.TimeoutExpired:  # numbers squared again and again: one by one, that program is left out
            return [line for n in numbers for line in check(tsr, [n])] if len(numbers) > 1 else []
        got = answers([tsr], path)
    pairs = {n: difference(wanted.get(n, ['(not reached)']), got.get(n, ['(not reached)'])) for n in numbers}
    pairs = {n: pair for n, pair in pairs.items() if pair and not counts_calls(n, wanted.get(n))}
    return [f'program {n}: wanted {pair[0]!r:.300}, got {pair[1]!r:.300}' for n, pair in pairs.items() if pair]


def main():
    if sys.argv[1] == 'print':
        print(source([int(sys.argv[2])]), end='')
        return
    first, last = int(sys.argv[3]), int(sys.argv[4])
    differ = []
    for start in range(first, last, 500):
        differ += check(sys.argv[2], range(start, min(start + 500, last)))
    print('\n'.join(differ[:20]) or 'programs agree')
    sys.exit(bool(differ))


main()
