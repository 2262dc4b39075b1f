"""runner.py CALLS SKIP: runs each line of CALLS after the first SKIP and prints its result `r`, one a line; in PyTorch and in tsr (oracle/digits.py,
repl/digits.sh). P has the elements that calls are made of, by dtype and kind: made by operations that are exact, so that no file is needed."""
import math
import sys
import torch
import torch.nn.functional as F
nan = float("nan")
inf = float("inf")
N = 4096
AT = torch.arange(N)
MANTISSA = {"float32": (23, -126, 127), "float64": (52, -1022, 1023), "float16": (10, -14, 15), "bfloat16": (7, -126, 127), "float8_e5m2": (2, -14, 15), "float8_e4m3fn": (3, -6, 8)}

def uniform(k):
    return ((AT + 4096 * k) * 2654435761 % 4294967296).double() / 4294967296

def reals(kind, dtype, k):
    mantissa, least, most = MANTISSA[dtype]
    if kind == "unit":
        return uniform(k) * 2 - 1
    near = (uniform(k) + uniform(k + 1) + uniform(k + 2) + uniform(k + 3) - 2) * 5
    if kind == "normal":
        return near
    if kind == "positive":
        return near * near / 8 + 1 / 64
    if kind == "small":
        return ((uniform(k) * 19).floor() - 9) * torch.tensor([1.0, 0.5, 1.0, 2.0]).double()[(uniform(k + 1) * 4).long()]
    powers = torch.tensor([2.0 ** e for e in range(least, most)], dtype=torch.float64)
    wide = (1 + uniform(k)) * powers[(uniform(k + 1) * (most - least)).long()] * ((uniform(k + 2) * 2).floor() * 2 - 1)
    if kind == "wide":
        return wide
    top = torch.finfo(getattr(torch, dtype)).max
    special = torch.tensor([0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, top, -top, 2.0 ** least, -(2.0 ** least), 2.0 ** (least - mantissa), -(2.0 ** (least - mantissa)), 3.0, -3.0, 1.5, -1.5, 2.5, 1e-3, 100.0, -100.0, 7.0, 20.0, -20.0, 88.7, -103.0, 1 + 2.0 ** -mantissa, 1 - 2.0 ** -mantissa], dtype=torch.float64)
    return torch.where(uniform(k + 3) < 0.6, special[(uniform(k + 4) * len(special)).long()], torch.where(uniform(k + 5) < 0.5, wide, near * 3))

KINDS = ["normal", "unit", "positive", "wide", "edge", "small"]
P = {}
for d, dtype in enumerate(MANTISSA):
    for k, kind in enumerate(KINDS):
        P[dtype + " " + kind] = reals(kind, dtype, 60 * d + 10 * k).to(getattr(torch, dtype))
for dtype, real in (("complex64", "float32"), ("complex128", "float64"), ("complex32", "float16")):
    for k, kind in enumerate(KINDS):
        P[dtype + " " + kind] = torch.complex(reals(kind, real, 400 + 10 * k), reals(kind, real, 500 + 10 * k)).to(getattr(torch, dtype))
for d, dtype in enumerate(["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "bool"]):
    low, high = (0, 1) if dtype == "bool" else (torch.iinfo(getattr(torch, dtype)).min, torch.iinfo(getattr(torch, dtype)).max)
    for k, kind in enumerate(KINDS):
        u = uniform(600 + 20 * d + k)
        if kind in ("wide", "edge"):
            v = [low + int(e * 65536) * ((high - low) // 65535 or 1) for e in u.tolist()]
            v = [[low, high, 0, 1, low + 1, high - 1, min(max(e, low), high), 2][i % 8] if kind == "edge" else min(max(e, low), high) for i, e in enumerate(v)]
        else:
            most = min({"normal": 20, "unit": 1, "positive": 40, "small": 9}[kind], high)
            least = 1 if kind == "positive" and dtype != "bool" else -most if low < 0 else 0
            v = [least + int(e * (most - least + 1)) for e in u.tolist()]
        P[dtype + " " + kind] = torch.tensor(v, dtype=getattr(torch, dtype))


def shown(r):
    if isinstance(r, torch.Tensor):
        if r.layout != torch.strided:
            return shown(r.to_dense())
        x = r.detach()
        if x.is_complex():
            x = torch.view_as_real(x.to(torch.complex128).resolve_conj())
        elif x.is_floating_point():
            x = x.to(torch.float64)
        return [str(r.dtype)[6:], list(r.shape), x.flatten().tolist()]
    if isinstance(r, (list, tuple)):
        return [shown(e) for e in r]
    return repr(r)

at = 0
for line in open(sys.argv[1]):
    at += 1
    if at <= int(sys.argv[2]):
        continue
    try:
        exec(line)
        print(str(shown(r)).replace("\n", "\\n"), flush=True)
    except Exception as error:
        print(["raised", type(error).__name__ + ": " + str(error)], flush=True)
