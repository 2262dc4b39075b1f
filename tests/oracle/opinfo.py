"""PyTorch's own sample inputs of each of its operators, as transcripts of what PyTorch prints, compared with tsr.

    python3 tests/oracle/opinfo.py --tsr build/tsr [--op REGEX] [--dtypes WORDS] [--each N] [--seed N] [--edges]   compares, and lists what differs
    python3 tests/oracle/opinfo.py --tsr build/tsr --record FILE ...                                     writes some on which both agree: tests/data/programs

PyTorch's samples want the packages expecttest and hypothesis.

The samples are those by which PyTorch tests itself (torch.testing._internal, OpInfo): of each operator, for each dtype that it computes on the CPU and
for some that it refuses; its error inputs too. Each is called as a function, and some again as a method, in place, with out=, on transposed tensors and on
tensors with gaps. A sample becomes source (`x = torch.tensor(...)`), PyTorch runs that source, and tsr must print the same bytes.
"""
import argparse
import ast
import contextlib
import io
import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings

LIMIT = 150  # elements of a tensor that is written out
NAMES = "xyzuvwabcdefghijklmnopqst"
# They show what the memory held.
ASIDE = "empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize_ resize_as_ nonzero_static".split()


class Unwritable(Exception):
    pass


# ---- from values to source ----

def number_source(v, kind=None):
    """kind: NumPy's type of the number, whose shortest digits are taken."""
    if isinstance(v, complex):
        real, imag = number_source(v.real, kind), number_source(v.imag, kind)
        return f"complex({real}, {imag})" if "(" in real + imag or imag.startswith("-") or real.startswith("-0.0") else f"{real}+{imag}j"
    if isinstance(v, float):
        return ("float('nan')" if v != v else "float('inf')" if v > 0 else "-float('inf')") if v - v != 0 else str(kind(v)) if kind else repr(v)
    return repr(v)


def nested_source(v, kind):
    if isinstance(v, list):
        return "[" + ", ".join(nested_source(e, kind) for e in v) + "]"
    return number_source(v, kind)


def kind_of(dtype):
    import numpy

    return {"torch.float32": numpy.float32, "torch.complex64": numpy.float32, "torch.float16": numpy.float16}.get(dtype)


class Source:
    """Collects `x = torch.tensor(...)` for each tensor met in the arguments."""

    def __init__(self, way):
        self.steps, self.way, self.known = [], way, []

    def tensor(self, x):
        import torch

        for seen, name in self.known:
            if seen is x:
                return name
        if x.layout != torch.strided or x.numel() > LIMIT or x.is_quantized or x.device.type != "cpu" or x.is_conj() or x.is_neg() or len(self.known) == len(NAMES):
            raise Unwritable
        name = NAMES[len(self.known)]
        self.known.append((x, name))
        dtype = str(x.dtype)
        known = {"torch.float32": float, "torch.int64": int, "torch.bool": bool}
        plain = x.detach()
        end = "" if dtype in known and x.numel() or dtype == "torch.float32" else f", dtype={dtype}"
        if x.numel() and dtype == "torch.complex64":
            end = ""
        n, view = plain, ""
        if self.way == "swapped" and x.dim() > 1:
            order = list(range(x.dim() - 2)) + [x.dim() - 1, x.dim() - 2]
            n, view = plain.permute(order), f".permute({', '.join(map(str, order))})"
        if x.numel() == 0:
            text = f"torch.zeros({tuple(n.shape)}{end})"
        elif self.way == "gaps" and x.dim() > 0:
            flat = torch.zeros(2 * x.numel() - 1, dtype=x.dtype)
            flat[::2] = plain.flatten()
            strides = [2 * s for s in plain.contiguous().stride()]
            text = f"torch.tensor({nested_source(flat.tolist(), kind_of(dtype))}{end}).as_strided({tuple(x.shape)}, {tuple(strides)})"
            view = ""
        else:
            text = f"torch.tensor({nested_source(n.tolist(), kind_of(dtype))}{end})"
        self.steps.append(f"{name} = {text}{view}")
        return name

    def of(self, v):
        import torch

        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if isinstance(v, torch.Size):
            return f"torch.Size({list(v)})"
        if isinstance(v, (list, tuple)) and type(v) in (list, tuple):
            inside = ", ".join(self.of(e) for e in v)
            return f"[{inside}]" if isinstance(v, list) else f"({inside},)" if len(v) == 1 else f"({inside})"
        if isinstance(v, slice):
            return f"slice({self.of(v.start)}, {self.of(v.stop)}, {self.of(v.step)})"
        if v is None or v is Ellipsis or isinstance(v, (bool, int, str)):
            return repr(v) if v is not Ellipsis else "..."
        if isinstance(v, (float, complex)):
            return number_source(v)
        if isinstance(v, (torch.dtype, torch.layout, torch.memory_format)):
            return str(v)
        if isinstance(v, torch.device):
            return repr(str(v))
        raise Unwritable


def path_of(op):
    """How the operator is called: a path under torch, or '.NAME' for a method only."""
    import torch

    name = op.name
    if name.startswith("nn.functional."):
        return "F." + name[len("nn.functional."):]
    at = torch
    for part in name.split("."):
        at = getattr(at, part, None)
    return "torch." + name if at is not None else "." + name


OPERATORS = {"__add__": "+", "__radd__": "+", "__sub__": "-", "__rsub__": "-", "__rmul__": "*", "__rdiv__": "/", "__rpow__": "**", "__rmod__": "%", "__rand__": "&", "__ror__": "|", "__rxor__": "^", "__rmatmul__": "@"}


def call_source(op, sample, way):
    """(the source of the arguments, the call); raises Unwritable."""
    source = Source(way)
    first = source.of(sample.input)
    args = [source.of(v) for v in sample.args]
    keys = {k: v for k, v in sample.kwargs.items() if not (k == "device" and str(v) == "cpu") and not (k == "out")}
    keys = [f"{k}={source.of(v)}" for k, v in keys.items()]
    path = path_of(op)
    if op.name in OPERATORS and len(args) == 1:
        return source, f"{args[0]} {OPERATORS[op.name]} {first}"
    if op.name == "__getitem__":
        return source, f"{first}[{args[0]}]"
    if op.name in ("H", "T", "mH", "mT"):
        return source, f"{first}.{op.name}"
    if way == "inplace":
        return source, f"{first}.{op.inplace_variant.__name__}({', '.join(args + keys)})"
    if path.startswith(".") or way == "method":
        return source, f"{first}.{path.rsplit('.', 1)[-1]}({', '.join(args + keys)})"
    return source, f"{path}({', '.join([first] + args + keys)})"


def shown(source, call, way):
    """The statements of a case."""
    if way == "out":
        source.steps.append(f"o = {source.out}")
        return source.steps + [call[:-1] + ", out=o)", "o", "o.shape, o.stride(), o.dtype"]
    if way == "inplace":
        return source.steps + [call, "x", "x.shape, x.stride(), x.dtype, x._version"]
    return source.steps + ["r = " + call, "r", "(r.shape, r.stride(), r.dtype) if isinstance(r, torch.Tensor) else [(t.shape, t.stride(), t.dtype) for t in r if isinstance(t, torch.Tensor)] if isinstance(r, (list, tuple)) else type(r)"]


def run_steps(steps):
    """[(source, text, error)] as PyTorch has it, up to the first error."""
    import torch

    scope = {"torch": torch, "F": torch.nn.functional, "__name__": "__main__"}
    done = []
    for source in steps:
        out, error = io.StringIO(), None
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(ast.Interactive(ast.parse(source).body), "<stdin>", "single"), scope)
            except Exception as e:
                error = "".join(traceback.format_exception_only(type(e), e)).rstrip("\n")
        done.append((source, out.getvalue(), error))
        if error is not None:
            break
    return done


# ---- the cases of an operator ----

def cases_of(op, dtypes, each, rng):
    """(name, steps) of an operator."""
    import torch

    supported = op.supported_dtypes("cpu")
    for dtype in dtypes:
        if dtype not in supported and rng.random() < 0.5:
            continue
        samples = []
        torch.manual_seed(rng.randrange(1 << 30))
        for make, most in ((op.sample_inputs, 60), (getattr(op, "reference_inputs", None), 30)):
            if make is not None and (dtype in supported or make == op.sample_inputs):
                with contextlib.suppress(Exception):
                    samples += itertools.islice(make("cpu", dtype, requires_grad=False), most)
        rng.shuffle(samples)
        made = 0
        for sample in samples:
            if made >= each * (1 if dtype in supported else 0.4):
                break
            way = rng.choice(["plain", "plain", "plain", "swapped", "gaps", "method", "inplace", "out"])
            if way == "method" and op.method_variant is None or way == "inplace" and op.inplace_variant is None or way == "out" and not op.supports_out:
                way = "plain"
            try:
                source, call = call_source(op, sample, way)
            except (Unwritable, RecursionError):
                continue
            source.out = f"torch.empty(0, dtype={dtype})"
            steps = shown(source, call, way)
            if "(lambda" in call or "<" in call.replace("<<", ""):
                continue
            made += 1
            yield f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}/{str(dtype)[6:]}-{way}-{made}", seeded(op, steps)
    try:
        faults = list(op.error_inputs("cpu")) if op.error_inputs_func else []
    except Exception:
        faults = []
    for i, fault in enumerate(faults):
        try:
            source, call = call_source(op, fault.sample_input, "plain")
            yield f"{op.name}/error-{i}", seeded(op, shown(source, call, "plain"))
        except Unwritable:
            continue


REALS = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e-5, 100.0, -20.25]
WIDE = REALS + [1e30, -1e-30, 1e-40, 2.0**24 + 1, 88.7, -103.5, 0.1, 65504.0, 3e38]
WHOLE = [0, 1, 2, 3, 7, 8, 63, 64, 100, 127, 128, 254, 255, 32767, 65535, 2147483647, 2147483648, 2**63 - 1, -1, -2, -3, -7, -100, -128, -32768, -2147483648, -(2**63)]
PLANE = [0, 1, 1j, -1, complex(-0.0, -1), 0.5 + 0.25j, -2 + 3j, complex(math.inf, 0), complex(0, math.nan), 0.001 + 10j, complex(-0.0, 0.0), complex(-math.inf, math.inf), 1e-30 + 1e30j]
NUMBERS = [2, 2.5, -3, True, 0, -1, 0.5, math.nan, math.inf, 300, 1.5 + 2j]


def edges_of(dtype):
    """Where functions and dtypes have their edges, as a tensor of one dimension."""
    import torch

    if dtype == torch.bool:
        return torch.tensor([False, True])
    if dtype.is_complex:
        return torch.tensor(PLANE, dtype=dtype)
    if dtype.is_floating_point:
        return torch.tensor(WIDE, dtype=torch.float64).to(dtype)
    return torch.tensor([v for v in WHOLE if torch.iinfo(dtype).min <= v <= torch.iinfo(dtype).max], dtype=dtype)


def edge_samples(op, dtype, others):
    """The arguments of one operator of one or two tensors: shapes, layouts, numbers and other dtypes at the edges of dtype."""
    import torch
    from torch.testing._internal.opinfo import core

    x = edges_of(dtype)
    firsts = [x, x[1], x[:0], x[:len(x) // 2 * 2].view(2, -1).t(), x[::3].expand(2, -1)]
    if not isinstance(op, core.BinaryUfuncInfo):
        for first in firsts if isinstance(op, core.UnaryUfuncInfo) else []:
            yield core.SampleInput(first)
        return
    yield core.SampleInput(x, args=(x.flip(0),))
    yield core.SampleInput(x[:4].view(-1, 1), args=(x[-3:],))
    yield core.SampleInput(x, args=(x[len(x) // 2],))
    yield core.SampleInput(x[-1], args=(x[0],))
    yield core.SampleInput(x[:0], args=(x[:1],))
    for number in NUMBERS:
        yield core.SampleInput(x, args=(number,))
    few = x[torch.tensor([1, 0, -1])]
    for other in others:
        for second in (torch.tensor([2, 1, 3]).to(other), torch.tensor(1).to(other), edges_of(other)[-3:].clone()):
            yield core.SampleInput(few, args=(second,))


def edge_cases(op, dtypes):
    """(name, steps) of an operator at the edges of dtypes."""
    for dtype in dtypes:
        for i, sample in enumerate(edge_samples(op, dtype, dtypes)):
            ways = ["plain"] if op.method_variant is None else ["plain", "method"]
            ways += ["inplace"] if op.inplace_variant is not None and i % 3 == 0 else []
            try:
                source, call = call_source(op, sample, ways[i % len(ways)])
            except (Unwritable, RecursionError):
                continue
            yield f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}/{str(dtype)[6:]}-edge-{i}", seeded(op, shown(source, call, ways[i % len(ways)]))


def is_random(op):
    return bool(re.search(r"rand|attention|dropout|bernoulli|multinomial|normal|uniform|exponential|cauchy|geometric|gumbel|rrelu|poisson|init|fractional", op.name))


def seeded(op, steps):
    return ["torch.manual_seed(5)"] + steps if is_random(op) else steps


def transcript(name, done):
    out = [f"Case {name}.", ""]
    for source, text, error in done:
        out.append(">>> " + source)
        if len(text) > 30000:
            return None
        out += [line if line.strip() else "<BLANKLINE>" for line in text.split("\n")[:-1]]
        if error is not None:
            out += ["Traceback (most recent call last):", "    ..."] + [line if line.strip() else "<BLANKLINE>" for line in error.split("\n")]
    return "\n".join(out) + "\n\n"


UNSURE = ["INTERNAL ASSERT", "please report", " at 0x", "0x7f", "object at"]


def make_op(op, dtypes, each, seed, edges):
    """The transcripts of one operator, by a process of its own."""
    import torch

    warnings.simplefilter("ignore")
    traceback.format_stack = lambda *_: []  # most of the time, taken for devices that are not there
    sys.displayhook = lambda value: None if value is None else print(repr(value))
    rng = random.Random(f"{seed} {op.name} {op.variant_test_name}")
    texts = []
    kinds = [getattr(torch, d) for d in dtypes]
    for name, steps in edge_cases(op, kinds) if edges else cases_of(op, kinds, each, rng):
        text = transcript(name, run_steps(steps))
        if text is not None and not any(word in text for word in UNSURE):
            texts.append(text)
    return texts


def differences(tsr, texts, folder):
    """[(transcript, what tsr prints differently)], of transcripts run by one tsr; by one each where something differs."""
    path = os.path.join(folder, "cases.txt")
    with open(path, "w") as f:
        f.writelines(texts)
    try:
        p = subprocess.run([tsr, "--max-memory", "4G", "--doctest", path], capture_output=True, text=True, errors="replace", timeout=300)
        status, found = p.returncode, p.stdout + p.stderr[-300:]
    except subprocess.TimeoutExpired:
        status, found = 1, "hangs"
    if status == 0:
        return []
    return [(texts[0], found)] if len(texts) == 1 else [d for text in texts for d in differences(tsr, [text], folder)]


def texts_of(op, options, folder):
    """The transcripts of an operator, made in a process of its own: what ends PyTorch gives none."""
    path = os.path.join(folder, "made")
    open(path, "w").close()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(100)
            texts = make_op(op, options.dtypes.split(), options.each, options.seed, options.edges)
            with open(path, "w") as f:
                json.dump(texts, f)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1] != 0:
        print(f"# {op.name} {op.variant_test_name} ended", flush=True)
        return []
    with open(path) as f:
        return json.load(f)


def recorded(texts):
    """Those for the tests: one of each operator and dtype, short, of which no rounding and no random number decides a digit."""
    seen = set()
    for text in texts:
        name, _, rest = text.partition("\n")
        kind = name.rsplit("-", 2)[0] if "/error" not in name else name.rsplit("-", 1)[0]
        answer = "\n".join(line for line in rest.split("\n") if not line.startswith(">>>"))
        sure = not re.search(r"\d\.\d*[1-9]|e[-+]\d|Warning|keywords were incorrect|got \(.*=", answer) and "manual_seed" not in text
        if sure and len(text) < 1500 and kind not in seen:
            seen.add(kind)
            yield text


def is_chosen(op, pattern):
    name = op.name
    aside = name in ASIDE or name.split(".")[-1] in ASIDE or name.startswith(("_", "ops.", "torch.ops")) and name not in OPERATORS
    return not aside and re.search(pattern, name) is not None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tsr", default="build/tsr")
    parser.add_argument("--op", default="")
    parser.add_argument("--dtypes", default="float32 float64 int64 complex64 float16 bfloat16 bool uint8 int32 int8 int16 complex128 uint16")
    parser.add_argument("--each", type=int, default=5, help="samples of each operator and dtype")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--edges", action="store_true", help="instead of samples, values at the edges of each dtype, beside numbers and tensors of each other dtype")
    parser.add_argument("--record", help="where some of the transcripts on which both agree are written, for tests/repl/opinfo.sh")
    options = parser.parse_args()
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)
    made, differ, agreed = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for op in op_db:
            texts = texts_of(op, options, folder) if is_chosen(op, options.op) else []
            found = differences(options.tsr, texts, folder)
            made, differ = made + len(texts), differ + len(found)
            for text, what in found:
                name, call = text.split("\n", 1)[0], [line for line in text.split("\n") if line.startswith(">>> ")][-3:][0]
                print("\n".join(line[:200] for line in [name, call] + what.split("\n")), flush=True)
            agreed += [text for text in texts if text not in [t for t, _ in found]]
    if options.record:
        with open(options.record, "w") as f:
            f.writelines(recorded(agreed))
    print(f"{made} cases compared, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
