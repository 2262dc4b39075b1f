#!/usr/bin/env python3
"""Write tests/data/pt/*.pt with PyTorch (pip install torch numpy): make_pt.py [FOLDER]. bad_*.pt are made by hand: pickles that torch.save never writes.

tests/cli/pt.sh reads them. make_pt.py --check A B: whether torch.load(weights_only=True) reads the same values from both."""
import collections, io, pathlib, struct, sys, zipfile

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent


def everything():
    base = torch.arange(6.0).view(2, 3)
    loop = [1]
    loop.append(loop)
    tensors = {name: torch.tensor([[0, 1, 2], [3, 4, 5]]).to(torch.float32).to(getattr(torch, name)) for name in
               "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 float8_e4m3fn float8_e5m2".split()}
    return {
        "tensors": tensors, "base": base, "row": base[1], "transposed": base.t(), "again": base, "parameter": torch.nn.Parameter(torch.ones(2)), "conj": torch.tensor([1 + 2j]).conj(),
        "neg": torch.tensor([1 + 2j]).conj().imag, "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "none": None, "true": True, "false": False,
        "ints": [0, 255, 256, 65536, -1, -70000, 2**31, 2**63, -(2**63), 2**64, -(2**100)], "float": 1.5, "complex": 1 + 2j, "text": "héllo 😀\n", "bytes": bytes(range(256)),
        "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "set": {3}, "size": torch.Size([2, 3]), "dtype": torch.bfloat16, "device": torch.device("cpu"),
        "state": collections.OrderedDict(weight=base, bias=torch.ones(3)), "loop": loop, 7: "key", (1, 2): "key",
    }


def archive(pickle, members=(), prefix="archive/"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo(prefix + "data.pkl"), pickle)
        for name, data in members: z.writestr(zipfile.ZipInfo(prefix + name), data)
    return out.getvalue()


def text(s): return b"X" + struct.pack("<I", len(s)) + s.encode()


def tensor(cls="torch\nFloatStorage", key="0", count=6, offset=0, sizes=(2, 3), strides=(3, 1)):
    numbers = lambda ns: b"(" + b"".join(b"J" + struct.pack("<i", n) for n in ns) + b"t"
    return (b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + f"c{cls}\n".encode() + text(key) + text("cpu") + b"J" + struct.pack("<i", count) + b"tQ"
            + b"J" + struct.pack("<i", offset) + numbers(sizes) + numbers(strides) + b"\x89ccollections\nOrderedDict\n)RtR")


data = [("data/0", struct.pack("<6f", *range(6)))]
P = b"\x80\x02"
BAD = {
    "system": archive(P + b"cposix\nsystem\n" + text("echo ran") + b"\x85R."),
    "eval": archive(P + b"c__builtin__\neval\n" + text("1") + b"\x85R."),
    "outside": archive(P + tensor(offset=1) + b".", data),
    "overflow": archive(P + tensor(sizes=(2**31 - 1, 2**31 - 1), strides=(2**31 - 1, 2**31 - 1)) + b".", data),
    "negative": archive(P + tensor(sizes=(-2, 3)) + b".", data),
    "stride": archive(P + tensor(strides=(-3, 1)) + b".", data),
    "missing": archive(P + tensor(key="1") + b".", data),
    "elsewhere": archive(P + tensor(key="../../0") + b".", data),
    "count": archive(P + tensor(count=7) + b".", data),
    "class": archive(P + tensor(cls="torch\nSize") + b".", data),
    "opcode": archive(P + b"I1\n."),
    "protocol": archive(b"\x80\x04N."),
    "no_end": archive(P + b"N"),
    "more": archive(P + b"N.N"),
    "two": archive(P + b"NN."),
    "empty": archive(P + b"."),
    "mark": archive(P + b"t."),
    "across_mark": archive(P + b"](a."),
    "memo": archive(P + b"h\0."),
    "memo_far": archive(P + b"Nr\xff\xff\xff\xff."),
    "append": archive(P + b"}Na."),
    "setitem": archive(P + b"]NNs."),
    "odd": archive(P + b"}(Nu."),
    "key": archive(P + b"}]Ns."),
    "name": archive(P + b"ctorch\nSize\n."),
    "build": archive(P + b"]}b."),
    "utf8": archive(P + b"X\1\0\0\0\xff."),
    "long": archive(P + b"X\xff\xff\xff\xffa."),
    "deep": archive(P + b"]" * 1000 + b"a" * 999 + b"."),
    "itself": archive(P + b"]q\0h\0\x85q\1a."),
    "byteorder": archive(P + b"N.", [("byteorder", b"middle")]),
}


def same(x, y):
    if torch.is_tensor(x): return torch.is_tensor(y) and x.dtype == y.dtype and x.stride() == y.stride() and torch.equal(x.double() if x.is_floating_point() else x, y.double() if y.is_floating_point() else y)
    if isinstance(x, dict): return isinstance(y, dict) and list(x) == list(y) and all(k == "loop" or same(x[k], y[k]) for k in x)
    if isinstance(x, (list, tuple)): return type(x) is type(y) and len(x) == len(y) and all(map(same, x, y))
    return type(x) is type(y) and x == y


if sys.argv[1:2] == ["--check"]:
    a, b = (torch.load(path, weights_only=True) for path in sys.argv[2:4])
    assert same(a, b) and b["loop"][1] is b["loop"] and b["again"] is b["base"]
    assert b["row"].untyped_storage().data_ptr() == b["state"]["weight"].untyped_storage().data_ptr()
    sys.exit()
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "data/pt")
OUT.mkdir(parents=True, exist_ok=True)
torch.save(everything(), OUT / "everything.pt")
torch.save(torch.arange(3), OUT / "tensor.pt")
torch.save({"a": torch.ones(2), "counter": collections.Counter("aab"), "numpy": [np.float64(3)]}, OUT / "opaque.pt")
big = struct.pack(">6f", *range(6))
(OUT / "big_endian.pt").write_bytes(archive(P + tensor() + b".", [("byteorder", b"big"), ("data/0", big)], "big/"))
for name, made in BAD.items(): (OUT / f"bad_{name}.pt").write_bytes(made)
