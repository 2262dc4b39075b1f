"""Compares tsr's parser with CPython's own: trees, and the text of errors.

  make build/release/tests/parse_dump
  check_parser.py build/release/tests/parse_dump [-p] [FILE...]

A FILE holds programs separated by lines of ====; without one, the statements of the transcripts in tests/lang. -p compares positions too.

Needs Python 3.11. The messages of what tsr leaves out (class, async, match) differ on purpose.
"""
import ast, pathlib, subprocess, sys, warnings
warnings.simplefilter('ignore')
BIN = dict(Add=0, Sub=1, Mult=2, MatMult=3, Div=4, FloorDiv=5, Mod=6, Pow=7, LShift=8, RShift=9, BitAnd=10, BitOr=11, BitXor=12)
CMP = dict(Eq=0, NotEq=1, Lt=2, LtE=3, Gt=4, GtE=5, Is=6, IsNot=7, In=8, NotIn=9)
POS = '-p' in sys.argv
if POS: sys.argv.remove('-p')

def name_of(x): return type(x).__name__
def text(b): return "'" + ''.join(chr(c) if 0x20 <= c < 0x7f and c not in (39, 92) else '\\x%02x' % c for c in b) + "'"
def lst(n, xs): return ' %s=[%s]' % (n, ', '.join(map(node, xs)))
def fld(n, x): return '' if x is None else ' %s=%s' % (n, node(x))
def params(a):
    out = []; pos = a.posonlyargs + a.args; d = [None] * (len(pos) - len(a.defaults)) + a.defaults
    for i, x in enumerate(pos): out.append(('pos' if i < len(a.posonlyargs) else 'arg') + ':' + x.arg + fld('annotation', x.annotation) + fld('default', d[i]))
    if a.vararg: out.append('star:' + a.vararg.arg + fld('annotation', a.vararg.annotation))
    for x, dd in zip(a.kwonlyargs, a.kw_defaults): out.append('kwonly:' + x.arg + fld('annotation', x.annotation) + fld('default', dd))
    if a.kwarg: out.append('kwargs:' + a.kwarg.arg + fld('annotation', a.kwarg.annotation))
    return ' params=[' + ', '.join(out) + ']'
def is_gen(f):
    def walk(n):
        for c in ast.iter_child_nodes(n):
            if isinstance(c, (ast.Yield, ast.YieldFrom)): return True
            if isinstance(c, (ast.FunctionDef, ast.Lambda)): continue
            if walk(c): return True
        return False
    return any(isinstance(s, (ast.Yield, ast.YieldFrom)) or (not isinstance(s, ast.FunctionDef) and walk(s)) for s in f.body)
def node(x):
    t = name_of(x); s = '(' + t
    if POS and t not in ('comprehension',): s += '@%d:%d-%d:%d' % (x.lineno, x.col_offset, x.end_lineno, x.end_col_offset)
    ctx = getattr(x, 'ctx', None)
    if ctx is not None and not isinstance(ctx, ast.Load): s += ' Store' if isinstance(ctx, ast.Store) else ' Del'
    return s + fields(x, t) + ')'
def fields(x, t):
    if t == 'Constant':
        v = x.value
        if v is None or v is True or v is False: return ' %s' % v
        if v is Ellipsis: return ' Ellipsis'
        if isinstance(v, int): return ' int:%d' % v
        if isinstance(v, float): return ' float:%.17g' % v
        if isinstance(v, complex): return ' imag:%.17g' % v.imag
        if isinstance(v, str): return ' ' + text(v.encode('utf-8', 'surrogatepass'))
        return ' b' + text(v)
    if t == 'Name': return ' ' + x.id
    if t in ('Tuple', 'List', 'Set'): return lst('elts', x.elts)
    if t == 'JoinedStr': return lst('elts', x.values)
    if t == 'Dict': return ''.join(fld('key', k) + fld('value', v) for k, v in zip(x.keys, x.values))
    if t == 'UnaryOp': return ' ' + name_of(x.op) + fld('operand', x.operand)
    if t == 'BinOp': return fld('left', x.left) + ' op=%d' % BIN[name_of(x.op)] + fld('right', x.right)
    if t == 'BoolOp': return ' ' + name_of(x.op) + lst('values', x.values)
    if t == 'Compare': return fld('left', x.left) + ''.join(' op=%d' % CMP[name_of(o)] for o in x.ops) + lst('comparators', x.comparators)
    if t == 'IfExp': return fld('test', x.test) + fld('body', x.body) + fld('orelse', x.orelse)
    if t == 'Call': return fld('func', x.func) + lst('args', x.args) + ''.join(fld(k.arg or '**', k.value) for k in x.keywords)
    if t == 'Attribute': return fld('value', x.value) + ' attr=' + x.attr
    if t == 'Subscript': return fld('value', x.value) + fld('slice', x.slice)
    if t == 'Slice': return fld('lower', x.lower) + fld('upper', x.upper) + fld('step', x.step)
    if t == 'Lambda': return params(x.args) + fld('body', x.body)
    if t in ('ListComp', 'SetComp', 'GeneratorExp'): return fld('elt', x.elt) + gens(x)
    if t == 'DictComp': return fld('key', x.key) + fld('elt', x.value) + gens(x)
    if t == 'NamedExpr': return fld('target', x.target) + fld('value', x.value)
    if t == 'FormattedValue': return fld('value', x.value) + ('' if x.conversion == -1 else ' !' + chr(x.conversion)) + fld('spec', x.format_spec)
    if t == 'Assign': return lst('targets', x.targets) + fld('value', x.value)
    if t == 'AugAssign': return fld('target', x.target) + ' op=%d' % BIN[name_of(x.op)] + fld('value', x.value)
    if t == 'AnnAssign': return fld('target', x.target) + fld('annotation', x.annotation) + fld('value', x.value) + ' simple=%d' % x.simple
    if t in ('If', 'While'): return fld('test', x.test) + lst('body', x.body) + lst('orelse', x.orelse)
    if t == 'For': return fld('target', x.target) + fld('iter', x.iter) + lst('body', x.body) + lst('orelse', x.orelse)
    if t == 'FunctionDef': return ' name=%s generator=%d' % (x.name, is_gen(x)) + params(x.args) + fld('returns', x.returns) + (lst('decorators', x.decorator_list) if x.decorator_list else '') + lst('body', x.body)
    if t == 'Delete': return lst('targets', x.targets)
    if t in ('Global', 'Nonlocal'): return ''.join(' ' + n for n in x.names)
    if t == 'Assert': return fld('test', x.test) + fld('msg', x.msg)
    if t == 'Raise': return fld('exc', x.exc) + fld('cause', x.cause)
    if t == 'Try': return lst('body', x.body) + lst('handlers', x.handlers) + lst('orelse', x.orelse) + lst('finalbody', x.finalbody)
    if t == 'ExceptHandler': return fld('type', x.type) + (' name=' + x.name if x.name else '') + lst('body', x.body)
    if t == 'With': return ''.join(fld('context', i.context_expr) + fld('as', i.optional_vars) for i in x.items) + lst('body', x.body)
    if t in ('Import', 'ImportFrom'):
        s = ' module=%s level=%d' % (getattr(x, 'module', '') or '', getattr(x, 'level', 0) or 0)
        return s + ''.join(' ' + a.name + (' as ' + a.asname if a.asname else '') for a in x.names)
    if t in ('Pass', 'Break', 'Continue'): return ''
    return fld('value', x.value)
def gens(x): return ''.join(fld('for', g.target) + fld('in', g.iter) + lst('ifs', g.ifs) for g in x.generators)

def expected(src):
    try:
        tree = compile(src, 'x', 'exec', ast.PyCF_ONLY_AST)
        compile(src, 'x', 'exec', dont_inherit=True)
    except SyntaxError as e: return 'error: %s: %s' % (type(e).__name__, e.msg), e.lineno
    except (RecursionError, MemoryError, ValueError) as e: return 'error: %s' % type(e).__name__, 0
    try: return ''.join(node(s) + '\n' for s in tree.body), 0
    except KeyError: return None, 0
    except Exception as e: return 'oracle failed: %r' % e, 0

class Dump:
    def __init__(self, path): self.p = subprocess.Popen([path] + (['-p'] if POS else []), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    def ask(self, src):
        b = src.encode('utf-8', 'surrogatepass')
        self.p.stdin.write(b'%d\n' % len(b) + b); self.p.stdin.flush()
        n = int(self.p.stdout.readline()); return self.p.stdout.read(n).decode('utf-8', 'replace')

def normal(s):
    import re
    def num(m):
        return ' int:%d' % int(m.group(2), int(m.group(1)))
    s = re.sub(r'FormattedValue@[-:0-9]*', 'FormattedValue', s) # tsr's is that of the expression
    return re.sub(r' int(2|8|10|16):([0-9a-fA-F]+)', num, s)

LEFT_OUT = ('not part of tsr', )
def compare(d, programs, show=40):
    bad = skipped = 0
    for src in programs:
        want, line = expected(src)
        if want is None: continue
        want, got = normal(want), normal(d.ask(src))
        gline = 0
        if got.startswith('error'):
            got, _, at = got.rpartition(' @'); gline = int(at.split(':')[0])
        if any(t in got for t in LEFT_OUT) : skipped += 1; continue
        if got != want or (line and gline and line != gline and 'LINES' in globals()):
            bad += 1
            if bad <= show: print('---', repr(src)); print('  want', want[:600]); print('  got ', got[:600])
    print('%d programs, %d differ, %d left out' % (len(programs), bad, skipped))
    return bad

def transcribed():
    """What is typed at >>> in the transcripts, a statement each."""
    programs = []
    for f in sorted((pathlib.Path(__file__).parent.parent / 'lang').glob('*/*.txt')):
        for line in f.read_text(errors='surrogateescape').split('\n'):
            if line.startswith('>>> '): programs.append(line[4:] + '\n')
            elif line.startswith('...') and programs: programs[-1] += line[4:] + '\n'
    return [p for p in programs if not p.startswith('%') and not p.rstrip().endswith('?')]

if __name__ == '__main__':
    programs = transcribed() if len(sys.argv) < 3 else []
    for f in sys.argv[2:]: programs += open(f, errors='surrogateescape').read().split('\n====\n')
    sys.exit(compare(Dump(sys.argv[1]), programs) != 0)
