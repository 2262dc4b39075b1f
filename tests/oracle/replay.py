"""Asks PyTorch the calls that TSR_TEST_DUMP=FILE wrote (tests/core/op/test_ops_properties.c) and lists where the answers differ.

    TSR_TEST_DUMP=calls.json CK_RUN_SUITE=ops_properties build/release/tests/run
    python3 tests/oracle/replay.py calls.json [--each N] [--op NAME] [--errors] [--strides] [--show N]

Values are compared within a few units in the last place; --strides compares strides too, --errors what is refused and how.
"""
import argparse
import collections
import json
import re
import warnings

import torch

warnings.simplefilter("ignore")
FUNCTION, PROPERTY = 1, 16  # TsrOpForms
ROOM = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 2e-5, torch.complex64: 2e-5, torch.float16: 4e-3, torch.complex32: 4e-3, torch.bfloat16: 2e-2}


def tensor(d):
    dtype = getattr(torch, d["dtype"])
    bytes_ = bytearray.fromhex(d["bytes"])
    flat = torch.frombuffer(bytes_, dtype=dtype) if bytes_ else torch.empty(0, dtype=dtype)
    t = flat.as_strided(d["sizes"], d["strides"], d["offset"])
    if d["conj"]:
        t = t.conj()
    return torch._neg_view(t) if d["neg"] else t


def value(v):
    if isinstance(v, list):
        return [value(x) for x in v]
    if not isinstance(v, dict):
        return v
    if "dtype" in v:
        return tensor(v)
    if "float" in v:
        return float(v["float"])
    if "complex" in v:
        return complex(*v["complex"])
    if "str" in v:
        return v["str"]
    if "torch" in v:
        return getattr(torch, v["torch"])
    return [value(x) for x in v["list"]]


def split_schema(schema):
    """name, positional parameter names, keyword-only ones"""
    name, rest = schema.split("(", 1)
    params = re.sub(r"\[[^\]]*\]|\([^)]*\)|'[^']*'", "", rest[: rest.rindex("->")].rstrip().rstrip(")"))
    positional, keyword, target = [], [], None
    target = positional
    for p in filter(None, (p.strip() for p in params.split(","))):
        if p == "*":
            target = keyword
        else:
            target.append(p.split("=")[0].split()[-1])
    return name, positional, keyword


def resolve(name, forms, first):
    base = name.rsplit(".", 1)[-1]
    if forms & FUNCTION:
        f = torch
        for part in name.split("."):
            f = getattr(f, part, None)
            if f is None:
                break
        if f is not None:
            return f, 0
    f = getattr(first, base, None) if isinstance(first, torch.Tensor) else None
    return f, 1


def ask(call):
    name, positional, keyword = split_schema(call["schema"])
    args = [value(call["args"][p]) for p in positional]
    kwargs = {p: value(call["args"][p]) for p in keyword if call["args"][p] is not None}
    if call["forms"] & PROPERTY and name in ("T", "H", "mT", "mH", "data", "real", "imag"):
        return lambda: getattr(args[0], name)
    f, skip = resolve(name, call["forms"], args[0] if args else None)
    if f is None:
        return None
    while args and args[-1] is None:
        args.pop()
    torch.manual_seed(1)
    return lambda: f(*args[skip:], **kwargs)


def flat(result):
    if isinstance(result, (list, tuple)) and not isinstance(result, torch.Size):
        out = []
        for r in result:
            out += flat(r)
        return out
    return [result]


def differs(got, want, strides):
    if not isinstance(want, torch.Tensor) or not isinstance(got, torch.Tensor):
        return None
    if want.layout != torch.strided:
        return None
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, should be {want.dtype}"
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, should be {list(want.shape)}"
    if strides and got.stride() != want.stride():
        return f"strides {got.stride()}, should be {want.stride()} of {list(got.shape)}"
    room = ROOM.get(want.dtype, 0)
    wide = torch.complex128 if want.dtype.is_complex else torch.float64 if want.dtype.is_floating_point else want.dtype
    a, b = got.resolve_conj().resolve_neg().to(wide), want.resolve_conj().resolve_neg().to(wide)
    if a.numel() == 0:
        return None
    if not room:
        return None if torch.equal(a, b) else f"values {got.tolist()}, should be {want.tolist()}"
    if not torch.allclose(a, b, rtol=room, atol=room, equal_nan=True):
        return f"values {got.tolist()}, should be {want.tolist()}"
    return None


def compare(call, options):
    question = ask(call)
    if question is None:
        return "absent", None
    try:
        answer = question()
    except Exception as e:
        error = e
    else:
        if "error" in call:
            return ("refused", f"{call['error']}: {call['message'][:200]}") if options.errors else (None, None)
        got = flat([value(r) for r in call["results"]])
        want = flat(answer)
        if len(got) != len(want):
            return None, None
        for g, w in zip(got, want):
            text = differs(g, w, options.strides)
            if text:
                return text.split()[0], text
        return None, None
    if "error" not in call:
        return "accepted", f"should be {type(error).__name__}: {str(error)[:200]}"
    if options.errors:
        ours, theirs = call["message"].split("\n")[0], str(error).split("\n")[0]
        if ours != theirs or call["error"] != type(error).__name__:
            return "message", f"{call['error']}: {ours[:200]}\n      should be {type(error).__name__}: {theirs[:200]}"
    return None, None


def short(v):
    if isinstance(v, dict) and "dtype" in v:
        t = tensor(v)
        text = str(t.tolist()) if t.numel() <= 12 else "..."
        return f"{v['dtype']}{v['sizes']}by{v['strides']}{text}"
    if isinstance(v, dict) and "list" in v:
        return "[" + "; ".join(short(x) for x in v["list"]) + "]"
    return str(value(v))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--each", type=int, default=40)
    parser.add_argument("--op")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--strides", action="store_true")
    parser.add_argument("--show", type=int, default=1)
    options = parser.parse_args()
    seen, shown, asked = collections.Counter(), collections.Counter(), 0
    for line in open(options.file):
        call = json.loads(line)
        name = call["schema"].split("(")[0]
        key = (call["schema"], "error" in call)
        if (options.op and options.op != name) or seen[key] >= options.each or ("error" in call and not options.errors):
            continue
        seen[key] += 1
        asked += 1
        kind, text = compare(call, options)
        if kind in (None, "absent"):
            continue
        shown[call["schema"], kind] += 1
        if shown[call["schema"], kind] <= options.show:
            print(f"{call['schema'].split(' ->')[0]}: {text}")
            print("    " + ", ".join(f"{k}={short(v)}" for k, v in call["args"].items()))
    print(f"{asked} calls asked, {sum(shown.values())} differ, in {len(shown)} ways")


if __name__ == "__main__":
    main()
