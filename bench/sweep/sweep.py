#!/usr/bin/env python3
"""sweep.py: times single calls of every operator under tsr and under PyTorch, in pairs, and prints PyTorch's time over
tsr's (above 1: tsr is faster), worst first, with a summary a family.

  bench/sweep/sweep.py --growth [--tsr PATH] [--threads 1|all]
  bench/sweep/sweep.py [--tsr PATH] [--only FAMILY|WORD]... [--sizes 1000000,10000,100] [--rounds 3] [--threads 1|all]
                       [--isa avx2] [--quick] [--list] [--json FILE] [--before FILE]

The lines are those of lines.txt and what is made from the rows of the table (`tsr --print-man ops`): a rule says for the
arguments of a row which tensors they are, so that a new row is timed without a word here; a row that no rule fits is
timed by its example. PEER_PYTHON names a Python that has PyTorch; without it only tsr's times are shown.

With one thread the time is the process's CPU time, which a neighbour on the machine disturbs least; with more it is the
clock's. Each round times the line under both, the order changing from round to round; the ratio is the rounds' median.
"""
import argparse, json, math, os, pathlib, re, signal, statistics, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--tsr", default=str(HERE.parent.parent / "build/tsr")); ap.add_argument("--only", action="append", default=[], help="a family or a part of a line; may be given again")
ap.add_argument("--sizes", default="1000000,10000,100"); ap.add_argument("--rounds", type=int, default=3)
ap.add_argument("--threads", default="1"); ap.add_argument("--isa", default=""); ap.add_argument("--list", action="store_true")
ap.add_argument("--quick", action="store_true", help="one size, float32 and contiguous only, two rounds")
ap.add_argument("--budget", type=float, default=0.006, help="seconds a measurement")
ap.add_argument("--json", default=""); ap.add_argument("--before", default="", help="a run's --json: shows its ratios beside")
ap.add_argument("--growth", action="store_true", help="how tsr's cost grows from 10 to 10**8 elements, as a table")
ap.add_argument("--refused", action="store_true", help="also print the lines that one of the two refuses")

# Which tensors a row's arguments are, where there is a choice of dtype ("float32", ...) and layout.
MAKE = {"float32": "torch.rand(m,{m})", "float64": "torch.rand(m,{m},dtype=torch.float64)", "int64": "torch.randint(1,100,(m,{m}))",
        "bfloat16": "torch.rand(m,{m}).to(torch.bfloat16)"}
SPECIAL = {"acosh": "+1", "arccosh": "+1", "float_power": "", "mvlgamma": "+2"}  # what is added to stay inside the domain
SECTIONS = {"MAKING TENSORS": "create", "RANDOM NUMBERS": "random", "VIEWS": "view", "ASSEMBLING AND REARRANGING": "move", "ELEMENT BY ELEMENT": "pointwise",
            "REDUCTIONS": "reduce", "INDEXING": "index", "SORTING AND SEARCHING": "sort", "PRODUCTS": "matmul", "LINEAR ALGEBRA": "linalg",
            "FOURIER TRANSFORMS": "fft", "SPECIAL FUNCTIONS": "special", "NEURAL NETWORKS": "nn", "OTHERS": "other"}
ONE, TWO = r"(input|self|x)", r"(input|self|x), (other|exponent|y|n)"
ALL_TYPES = ["float32", "float64", "int64", "bfloat16"]
# sections | arguments | dtypes | layouts | what is called with
RULES = [
    ("pointwise special", ONE, ALL_TYPES, "x"), ("pointwise special", TWO, ALL_TYPES, "x,y"), ("pointwise special", TWO, ["float32", "int64"], "x,3"),
    ("pointwise", r"input, min=None, max=None", ["float32"], "x,20,30"),
    ("nn", r"input|input, [a-z_]+=.*", ["float32", "float64"], "x"), ("reduce", ONE, ALL_TYPES, "x"),
    ("reduce sort", r"input, (dim|dim=None|dim=\\-1)(, .*=.*)?|input, dim", ["float32", "float64", "int64"], "x,1"),
    ("reduce sort", r"input, (dim|dim=None|dim=\\-1)(, .*=.*)?|input, dim", ["float32"], "x,0"),
    ("move index view", ONE, ["float32"], "x"), ("index", r"input, diagonal=0", ["float32"], "x"), ("sort", ONE, ["float32"], "x"),
    ("create random", ONE, ["float32"], "x"), ("create random", r"size", ["float32"], "(m,m)"), ("matmul", r"input, (other|mat2)", ["float32", "float64"], "x,y"),
    ("move", r"tensors(, dim=0)?", ["float32"], "[x,x]"),
]
LEFT_OUT = re.compile(r"\b(is_\w+|\w+_|data_ptr|from_file|block_diag|cartesian_prod|combinations|empty\w*|meshgrid|numel|size|can_cast)$")


def rows(tsr):
    """The functions of the table: family, name, positional arguments, example."""
    text = subprocess.run([tsr, "--print-man", "ops"], capture_output=True, text=True).stdout
    for section in re.split(r"^\.SH ", text, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        if title not in SECTIONS: continue
        for entry in re.split(r"\n(?=(?:torch|Tensor)\.)", body):
            head = re.match(r"((?:torch)\.[\w.]+)\((.*?)\)\s*\\->", entry, re.S)
            if not head: continue
            arguments = " ".join(head[2].split()).split(", *")[0]
            example = re.search(r"\n    >>> (.*(?:\n +\.\.\. .*)*)", entry)
            yield SECTIONS[title], head[1], "" if arguments.startswith("*") else arguments, re.sub(r"\n +\.\.\. ", "", example[1]).replace("\\-", "-").replace("\\e", "\\") if example else None


def lines(tsr, sizes, quick):
    """(family, setup, expression, size): what is timed."""
    seen = set()
    for l in (HERE / "lines.txt").read_text().splitlines():
        if l and l[0] != "#":
            family, setup, expr = (p.strip() for p in l.split("|", 2))
            for size in sizes: yield family, setup, expr, size
    for family, name, arguments, example in rows(tsr):
        if LEFT_OUT.search(name): continue
        fitting = [r for r in RULES if family in r[0].split() and re.fullmatch(r[1], arguments)]
        for _, _, dtypes, call in fitting:
            for dtype in dtypes[:1] if quick else dtypes:
                for layout in ["", "strided"] if dtype == "float32" and not quick else [""]:
                    one = MAKE[dtype].format(m="m" if not layout else "2*m") + SPECIAL.get(name.rsplit(".", 1)[1], "")
                    if layout: one = f"({one})[:,::2]"
                    setup = "; ".join(f"{v}={one}" for v in "xy" if re.search(rf"\b{v}\b", call))
                    for size in sizes:
                        if (setup, name, call, size) not in seen:
                            seen.add((setup, name, call, size)); yield family, setup or "x=0", f"{name}({call})", size
        if not fitting and example and "print" not in example and (name, "") not in seen:
            seen.add((name, ""))
            yield family, "from torch import *; from torch import linalg, fft, special; import torch.nn.functional as F", example, 100


SIDES = {100: (10, 4, 1), 10000: (100, 16, 4), 1000000: (1000, 64, 16)}
WARM = .03  # seconds that several threads run first: one that wakes on its fellow's processor waits there for milliseconds
def program(setup, expr, size, clock, budget):
    m, h, c = SIDES.get(size, (int(size ** .5), max(4, int(size ** .35)), 4))
    return f"""import torch, time
range_, min_, max_, int_ = range, min, max, int
torch.manual_seed(1); n={size}; m={m}; h={h}; c={c}
{chr(10).join(s.strip() for s in setup.split(';'))}
def timed(times_):
    t0 = time.{clock}()
    for _ in range_(times_): {expr}
    return time.{clock}() - t0
def measured():
    begun = time.perf_counter()
    timed(1)
    while time.perf_counter() - begun < {WARM if clock == "perf_counter" else 0}: timed(1)
    once = timed(1)
    k = max_(1, min_(2000, int_({budget} / max_(once, 1e-6))))
    if k > 3: k = max_(1, min_(20000, int_({budget} * 4 / max_(timed(4), 1e-6))))
    return min_(timed(k), timed(k)) / k
"""


WORKER = """
import sys, json, os, signal
import torch
if %r != 'all': torch.set_num_threads(int(%r))
answers = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)
print('ready', file=answers, flush=True)
import warnings; warnings.simplefilter('ignore')
def expired(*_): raise TimeoutError
signal.signal(signal.SIGALRM, expired)
def answer(line):
    try:
        signal.alarm(20)
        space = {}
        exec(json.loads(line), space)
        return space['measured']()
    except BaseException as e: return 'refused %%s %%s' %% (type(e).__name__, str(e).split(chr(10))[0][:100])
    finally: signal.alarm(0)
for line in sys.stdin:
    try: said = answer(line)
    except TimeoutError: said = 'refused TimeoutError'
    print(said, file=answers, flush=True)
"""


class Peer:
    """PyTorch, imported once, and again after a line that ended it."""
    def __init__(self, python, threads, environment):
        self.python, self.threads, self.environment = python, threads, environment
        self.start()
        if not self.process: print(f"# {python} has no PyTorch (PEER_PYTHON names another Python): tsr's times only")
    def start(self):
        self.process = None
        try:
            self.process = subprocess.Popen([self.python, "-c", WORKER % (self.threads, self.threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True, env=self.environment)
            if self.process.stdout.readline() != "ready\n": self.process = None
        except OSError: pass
    def time(self, text):
        if not self.process: return None
        try:
            self.process.stdin.write(json.dumps(text) + "\n"); self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError: answer = ""
        if not answer:
            status = self.process.wait()
            self.start()
            return f"refused: PyTorch's process ended with {status}"
        return answer if answer.startswith("refused") else float(answer)


class Tsr:
    def __init__(self, path, threads, environment):
        self.command = [path] + (["--threads", threads] if threads != "all" else [])
        self.environment = environment
        self.file = tempfile.NamedTemporaryFile("w", suffix=".tsr")
    def time(self, text):
        pathlib.Path(self.file.name).write_text(text + "print(measured())\n")
        try: p = subprocess.run(self.command + [self.file.name], capture_output=True, text=True, env=self.environment, timeout=30)
        except subprocess.TimeoutExpired: return "refused: too slow"
        if p.returncode: return "refused " + (p.stderr.strip().splitlines() or ["?"])[-1][:100]
        return float(p.stdout.split()[-1])


STILL = .03  # seconds until threads that one program left waiting for more (OpenMP's spin) no longer take the other's processor


def measure(o, todo, tsr, peer):
    clock, answers = "process_time" if o.threads == "1" else "perf_counter", []
    stopped = []
    for s in (signal.SIGTERM, signal.SIGINT): signal.signal(s, lambda *_: stopped.append(True))
    for family, setup, expr, size in todo:
        if stopped:
            print("# stopped: the rest is left out")
            break
        text, ratios, times = program(setup, expr, size, clock, o.budget), [], {"tsr": [], "torch": []}
        for round in range(o.rounds):
            pair = {}
            for who in ("tsr", "torch") if round % 2 == 0 else ("torch", "tsr"):
                if o.threads != "1": time.sleep(STILL)
                pair[who] = (tsr if who == "tsr" else peer).time(text)
                if isinstance(pair[who], str): break
            if any(isinstance(v, str) for v in pair.values()):
                if o.refused: print("#", family, expr, f"[{setup}]", pair)
                break
            for who, t in pair.items(): times[who].append(t)
            if pair["torch"]: ratios.append(pair["torch"] / max(pair["tsr"], 1e-9))
        else:
            ours, theirs = (statistics.median(v) if v and v[0] is not None else None for v in times.values())
            answers.append(dict(family=family, setup=setup, line=expr, size=size, ratio=statistics.median(ratios) if ratios else None, tsr=ours, torch=theirs))
    return answers


def geometric(values): return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def show(answers, before):
    old = {(a["setup"], a["line"], a["size"]): a["ratio"] for a in before}
    paired = sorted((a for a in answers if a["ratio"]), key=lambda a: a["ratio"])
    for a in paired or answers:
        was = old.get((a["setup"], a["line"], a["size"]))
        ratio = f"{a['ratio']:7.2f}" if a["ratio"] else "      -"
        print(f"{ratio} {f'(was {was:.2f})' if was else ''}  {a['tsr']*1e6:10.2f} us {(a['torch'] or 0)*1e6:10.2f} us  {a['size']:8d} {a['family']:9} {a['line']}   [{a['setup'][:70]}]")
    if not paired: return
    print("\n| family | lines | geometric mean | ahead | below 0.9 | worst |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    def row(name, group):
        q = [a["ratio"] for a in group]
        was = [old[k] for a in group if (k := (a["setup"], a["line"], a["size"])) in old]
        shown = lambda now, then: f"{then} → {now}" if was else now
        print(f"| {name} | {len(q)} | {shown(f'{geometric(q):.2f}', f'{geometric(was):.2f}')} | {sum(v >= 1 for v in q)} | "
              f"{shown(str(sum(v < .9 for v in q)), str(sum(v < .9 for v in was)))} | {min(q):.2f} |")
    for family in sorted({a["family"] for a in paired}): row(family, [a for a in paired if a["family"] == family])
    for size in sorted({a["size"] for a in paired}): row(f"about {size} elements", [a for a in paired if a["size"] == size])
    row("all", paired)


# name | setup | expression | by how much more than n its work grows | the largest power of ten
GROWTH = [("add", "x=torch.rand(n); y=torch.rand(n)", "x+y", 0, 8), ("sum", "x=torch.rand(n)", "x.sum()", 0, 8), ("sort", "x=torch.rand(n)", "x.sort()", 0, 7),
          ("matmul, a multiplication", "m=int(n**.5); x=torch.rand(m,m); y=torch.rand(m,m)", "x@y", .5, 7),
          ("CSV, a number read", "save(torch.rand(n//10,10), '{file}')", "load('{file}')", 0, 7), ("view x[1:], a call", "x=torch.rand(n)", "x[1:]", -1, 8)]


def growth(o, tsr, clock):
    """Nanoseconds an element, by the number of elements."""
    powers = range(1, 9)
    print("| ns an element | " + " | ".join(f"10^{k}" for k in powers) + " |\n| --- |" + " ---: |" * len(powers))
    for name, setup, expr, grows, most in GROWTH:
        cells = []
        for k in powers:
            with tempfile.NamedTemporaryFile(suffix=".csv") as f:
                text = program(setup.replace("{file}", f.name), expr.replace("{file}", f.name), 10 ** k, clock, o.budget)
                t = min((tsr.time(text) for _ in range(o.rounds)), key=lambda v: v if isinstance(v, float) else 1e9) if k <= most else "-"
            cells.append(f"{t * 1e9 / 10 ** k / 10 ** (k * grows):.3g}" if isinstance(t, float) else "-")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    o = ap.parse_args()
    if o.quick: o.rounds = min(o.rounds, 2)
    sizes = [int(s) for s in o.sizes.split(",")][:1 if o.quick else None]
    todo = [l for l in lines(o.tsr, sizes, o.quick) if not o.only or any(w == l[0] or w in l[2] for w in o.only)]
    if o.list: return print(*(f"{f} | {s} | {e} | {n}" for f, s, e, n in todo), sep="\n")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_", "OMP_", "MKL_", "ATEN_CPU"))}
    if o.threads != "all": environment |= {"OMP_NUM_THREADS": o.threads, "OPENBLAS_NUM_THREADS": o.threads}
    if o.isa: environment |= {"TSR_ISA": o.isa}
    if o.isa == "avx2": environment |= {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"}
    if o.growth: return growth(o, Tsr(o.tsr, o.threads, environment), "process_time" if o.threads == "1" else "perf_counter")
    answers = measure(o, todo, Tsr(o.tsr, o.threads, environment), Peer(os.environ.get("PEER_PYTHON", "python3"), o.threads, environment))
    if o.json: json.dump(answers, open(o.json, "w"), indent=0)
    show(answers, json.load(open(o.before)) if o.before else [])


if __name__ == "__main__": main()
