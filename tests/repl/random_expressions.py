#!/usr/bin/env python3
"""Random expressions over the methods and functions of Python's types, which CPython and tsr answer alike.

    random_expressions.py check TSR FROM TO   the lots FROM to TO - 1, of 1500 expressions each: "expressions agree", or which differ
    random_expressions.py print N             those of lot N, one a line

Each is evaluated in a try: its repr and type are printed, or the exception's type and text. What is called is listed below, with holes:
{s} a string, {i} an index, {n} a number, {l} a list, {d} a dict, {t} a set of numbers, {v} any of them, {c} a slice, {f} a format.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

HOLES = {
    's': r"""'' 'a' 'Abc,DEF' 'ünïß' '\x20pad\x20' 'a,b,,c' 'x\ty\nz\r\n' '12' 'ǆﬁ' '日本語' '😀x' 'aXbXc' 'a\x00b' 'İi' '0x1f' "it's" '\\n' '٣٤' '²'
         'a\u0301' '\x1c\x85' 'αΣΑΣ'""",
    'i': '0 1 -1 2 -2 3 5 -5 10 100',
    'n': """0 1 -1 7 12345 -98765 10**20 255 0.0 -0.0 1.5 -2.75 1e10 1e16 1e-5 123456789.123 1e300 5e-324 float('inf') float('nan') True 0.1 1/3 2.5
         3.5 1e22 1e23 99999.95 0.000123456 1+2j -1.5j""",
    'l': "[] [1,2,3] [3,1,2] ['b','a','C'] [1.5,-2,True] list(range(10)) [[1],[2,3],[]] [(1,'b'),(0,'a')] [None,1] [0,0,1]",
    'd': "{} {'a':1,'b':2} {1:'x',2:'y'} {True:0,1.0:5} {(1,2):[3]} {'b':2,'c':3} dict(a=1,z=2)",
    't': 'set() {1,2,3} {2,3,4} {9} frozenset([7])',
    'o': 'None (1,2) (1,) range(3) b"ab" int ...',
}
STR = """capitalize() casefold() center({i}) center({i},{s}) count({s}) count({s},{i},{i}) encode() encode('latin-1') encode('ascii','replace')
    encode('utf-16') encode('ascii','xmlcharrefreplace') endswith({s}) endswith(({s},{s})) expandtabs({i}) find({s},{i},{i}) index({s}) isalnum()
    isalpha() isdecimal() isdigit() isidentifier() islower() isnumeric() isprintable() isspace() istitle() isupper() join({l}) join({s}) ljust({i},{s})
    lower() lstrip({s}) partition({s}) removeprefix({s}) removesuffix({s}) replace({s},{s}) replace({s},{s},{i}) rfind({s}) rindex({s}) rjust({i},'*')
    rpartition({s}) rsplit({s},{i}) rsplit(None,{i}) rstrip({s}) split() split({s}) split({s},{i}) splitlines() splitlines(True) startswith({s},{i})
    strip({s}) swapcase() title() upper() zfill({i}) translate({d}) translate(str.maketrans('ab','yz','c')) format({v}) format(*{l}) nosuch() join({v})
    find({v}) replace({v},{s}) isalpha({i})""".split()
LIST = """append({v}) extend({v}) insert({i},{v}) remove({v}) pop() pop({v}) index({v}) index({v},{i}) count({v}) sort() sort(reverse=True) sort(key=str)
    sort(key=len) reverse() clear() copy() __setitem__(slice({i},{i}),{l}) nosuch() append() sort(str)""".split()
DICT = """get({v}) get({v},{v}) pop({v}) pop({v},0) popitem() setdefault({v},{v}) update({d}) update(q=1) update([({v},1)]) keys() values() items() copy()
    fromkeys({l},{v}) __contains__({v}) nosuch() __getitem__({v})""".split()
SET = """add({v}) discard({v}) remove({v}) union({l}) intersection({l}) difference({t}) issubset({l}) issuperset({t}) isdisjoint({l}) update({l})
    difference_update({l}) nosuch()""".split()
CALLS = """abs({v}) round({v}) round({v},{i}) divmod({v},{v}) pow({n},{i}) pow({i},{i},{i}) int({v}) int({s},{i}) float({v}) complex({s}) str({v}) bool({v})
    min({l}) max({v},{v}) max({l},key=str) min({l},default={v}) sum({l},{v}) sorted({v}) sorted({l},reverse=True) list({v}) tuple({v}) len({v}) ord({s})
    chr({v}) hex({v}) oct({v}) bin({v}) list(zip({l},{l})) list(zip({l},{l},strict=True)) list(enumerate({l},{i})) list(map(str,{l})) any({v}) all({l})
    list(filter(None,{l})) list(reversed({v})) list(range({i},{i},{i})) range({v}) slice({i},{v}) isinstance({v},{v}) type({v}) dict({v}) ascii({v})
    format({v},'{f}') int({v},{v}) next({v}) getattr({v},'nosuch',1) callable({v}) list(range({i},{i}))[{c}] range({i},{i},3)[{c}] range(10).index({v})
    ({n}).is_integer() ({n}).as_integer_ratio() ({n}).hex() ({n}).conjugate() float.fromhex({s}) ({i}).to_bytes(2,'big') ({v}).real bytes({v}) {s}[{c}]
    {l}[{c}] print({v},sep={v}) bytes.fromhex({s})""".split()
OPERATORS = '+ - / // % & | ^ < <= == != > in and or @ **'.split()


class Lot:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def hole(self, kind):
        if kind == 'v':
            kind = self.r.choice('snnldto')
        if kind == 'c':
            ends = [self.r.choice(['', '', self.hole('i'), 'None', '-100']) for _ in range(self.r.choice([2, 2, 3]))]
            return self.r.choice([':'.join(ends), self.hole('i')])
        if kind == 'f':
            return self.format()
        return self.r.choice(HOLES[kind].split())

    def format(self):
        c = self.r.choice
        align = c(['', c(['', '*', 'é']) + c('<>=^')])
        return (align + c(['', '', '+', '-', ' ']) + c(['', '', '#']) + c(['', '0']) + c(['', '5', '12', '20']) + c(['', '', ',', '_'])
                + c(['', '', '.0', '.1', '.3', '.10']) + c(' d f e g x X o b c s n % E G F r'.split(' ')))

    def fill(self, text):
        return re.sub(r'\{([sinldtovcf])\}', lambda m: self.hole(m[1]), text)

    def expression(self):
        kind = self.r.choice(['str', 'str', 'list', 'dict', 'set', 'call', 'call', 'call', 'operator', 'f', '%'])
        if kind == 'str':
            return self.fill('{s}.' + self.r.choice(STR))
        if kind == 'set':
            both = f'(x.{self.fill(self.r.choice(SET))}, x)'
            return f'(lambda x: [sorted(q, key=repr) if isinstance(q, (set, frozenset)) else q for q in {both}])({self.hole("t")})'
        if kind in ('list', 'dict'):
            methods, hole = {'list': (LIST, 'l'), 'dict': (DICT, 'd')}[kind]
            return f'(lambda x: (x.{self.fill(self.r.choice(methods))}, x))({self.hole(hole)})'
        if kind == 'call':
            return self.fill(self.r.choice(CALLS))
        if kind == 'operator':
            return f'({self.hole("v")}) {self.r.choice(OPERATORS)} ({self.r.choice([self.hole("i"), self.hole("v")])})'
        if kind == 'f':
            number = self.r.choice([n for n in HOLES['n'].split() if "'" not in n])
            return "f'{" + number + self.r.choice(['', '!r', '=', ' = ']) + ':' + self.format() + "}'"
        flags = self.r.choice(['', '', '-', '+', ' ', '0', '#']) + self.r.choice(['', '5', '12']) + self.r.choice(['', '.0', '.2'])
        return f"'%{flags}{self.r.choice('disrafegxXoc%uGEFq')}' % ({self.hole('v')},)"

    def expressions(self, count):
        found = {}
        while len(found) < count:
            text = self.expression()
            if not permitted(text):
                found[text] = True
        return list(found)


def permitted(text):
    """Huge powers, and numbers before a dot, whose SyntaxError tells CPython's file."""
    return re.search(r'\*\*.*\*\*|10\*\*20\) \*\*|e\d+\) \*\*.*\*\*|\*\* \(100', text) or re.search(r'(^|[^\w.])-?\d[\w*]*\.[a-z]', text)


PROGRAM = '''
nan, inf = float('nan'), float('inf')
for k, text in enumerate(open(%r, encoding='utf-8').read().split('\\n')):
    try:
        value = eval(text)
        print(k, ascii(value), type(value).__name__)
    except Exception as error:
        print(k, type(error).__name__, ascii(str(error)))
'''


def answers(command, program):
    got = subprocess.run(command + [program], capture_output=True, timeout=100).stdout.decode('utf-8', 'replace')
    return re.sub(r' at 0x[0-9a-f]+', '', got).split('\n')


def check(tsr, first, end):
    with tempfile.TemporaryDirectory() as folder:
        listed, program = os.path.join(folder, 'expressions'), os.path.join(folder, 'program.py')
        with open(program, 'w') as f:
            f.write(PROGRAM % listed)
        for lot in range(first, end):
            texts = Lot(lot).expressions(1500)
            with open(listed, 'w', encoding='utf-8') as f:
                f.write('\n'.join(texts))
            python, ours = answers([sys.executable, '-W', 'ignore'], program), answers([tsr], program)
            differ = [(p, o) for p, o in zip(python, ours) if p != o]
            for p, o in differ[:5]:
                number = re.match(r'\d+', p)
                print(f'lot {lot}: {texts[int(number[0])] if number else ""}\n  CPython {p}\n  tsr     {o}')
            if differ or len(python) != len(ours):
                return 1
    print('expressions agree')
    return 0


if __name__ == '__main__':
    if sys.argv[1] == 'print':
        print('\n'.join(Lot(int(sys.argv[2])).expressions(1500)))
    else:
        sys.exit(check(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
